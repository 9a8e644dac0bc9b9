package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const version = "v0.99.0"

// released makes a proxy of this tree at a version, and returns the environment in which the go command asks it first.
func released(t *testing.T) []string {
	t.Helper()
	const tree = "../../.."
	copied, target := t.TempDir(), t.TempDir()
	pack := exec.CommandContext(t.Context(), "sh", "-c",
		`git -C "$1" ls-files -z --cached --others --exclude-standard | tar -C "$1" --null --ignore-failed-read -cf - -T - | tar -C "$2" -xf - && git -C "$2" init -q`,
		"sh", tree, copied)
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("copy: %v\n%s", err, out)
	}
	folders, err := modules(copied)
	if err != nil {
		t.Fatal(err)
	}
	if err := set(copied, folders, version); err != nil {
		t.Fatal(err)
	}
	if err := proxy(t.Context(), copied, folders, target); err != nil {
		t.Fatal(err)
	}
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	known, others, _ := strings.Cut(strings.TrimSpace(string(cache)), "\n")
	// A separate cache, because cached versions are never requested again.
	return append(os.Environ(), "GOWORK=off", "GOMODCACHE="+t.TempDir(), "GONOSUMDB="+root+","+root+"/*", "GOFLAGS=-mod=mod -modcacherw",
		"GOPROXY=file://"+target+",file://"+filepath.Join(known, "cache", "download")+","+others)
}

func do(t *testing.T, environ []string, folder string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env, cmd.Dir = environ, folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestRelease uses a release of this tree as others do: a program with dependencies of its own imports a domain, and keeps them; the
// programs have all that they import.
func TestRelease(t *testing.T) {
	t.Parallel()
	environ, folder := released(t), t.TempDir()
	text := `package main

import (
	"fmt"

	_ "github.com/jackc/pgx/v5"
	_ "github.com/prometheus/client_golang/prometheus"
	_ "github.com/spf13/cobra"

	"` + root + `/triage"
)

func main() { fmt.Println(triage.SeverityHigh) }
`
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	own := []string{"github.com/jackc/pgx/v5@v5.7.0", "github.com/spf13/cobra@v1.8.0", "github.com/prometheus/client_golang@v1.20.0"}
	do(t, environ, folder, "mod", "init", "example.com/program")
	do(t, environ, folder, append([]string{"get"}, own...)...)
	do(t, environ, folder, "get", root+"@"+version)
	do(t, environ, folder, "mod", "tidy")
	mod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range append(own, root+"@"+version) {
		if !strings.Contains(string(mod), strings.Replace(want, "@", " ", 1)+"\n") {
			t.Errorf("go.mod lacks %s:\n%s", want, mod)
		}
	}
	if got := strings.TrimSpace(do(t, environ, folder, "run", ".")); got != "high" {
		t.Errorf("it prints %q", got)
	}
	for _, program := range []string{"cmd/callwright", "examples/server", "examples/softphone"} {
		module, _, _ := strings.Cut(program, "/")
		empty := t.TempDir()
		do(t, environ, empty, "mod", "init", "example.com/tools")
		do(t, environ, empty, "get", "-tool", root+"/"+program+"@"+version)
		list := do(t, environ, empty, "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}", root+"/"+program)
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(root+"/"+module) + ` ` + version + `$`).MatchString(list) {
			t.Errorf("%s is made of\n%s", program, list)
		}
	}
}

// TestSetRefuses checks that a version must have the format of tags.
func TestSetRefuses(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"", "1.2.3", "v1", "v1.2", "latest"} {
		if err := set(t.TempDir(), nil, wrong); err == nil || !strings.Contains(err.Error(), "is no version") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
