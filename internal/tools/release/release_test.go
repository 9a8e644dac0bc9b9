package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const tree = "../../.."

// printed matches the command in the manual that writes a module proxy.
var printed = regexp.MustCompile(`(?m)^(GOWORK=off go -C internal/tools run \./release .* )(\S+) (v\S+)$`)

// released writes a module proxy of this tree with the manual's command, and checks that the manual shows the settings for the proxy. It
// returns the version, and an environment in which the go command uses this proxy first.
func released(t *testing.T) (version string, environ []string) {
	t.Helper()
	manual, err := os.ReadFile(tree + "/docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	command := printed.FindStringSubmatch(string(manual))
	if command == nil {
		t.Fatal("docs/architecture.md shows no command that writes a proxy")
	}
	target := t.TempDir()
	write := exec.CommandContext(t.Context(), "sh", "-c", command[1]+`"$0" `+command[3], target)
	write.Dir = tree
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command[0], err, out)
	}
	for _, want := range []string{"GOPROXY=file://" + command[2] + ",", "GONOSUMDB='github.com/callwright/*'", "GOFLAGS=-mod=mod", "@" + command[3]} {
		if !strings.Contains(string(manual), want) {
			t.Errorf("docs/architecture.md does not show %s", want)
		}
	}
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	known, others, _ := strings.Cut(strings.TrimSpace(string(cache)), "\n")
	// The module cache is new, because the go command does not request cached versions again.
	return command[3], append(os.Environ(), "GOWORK=off", "GOMODCACHE="+t.TempDir(), "GONOSUMDB=github.com/callwright/*", "GOFLAGS=-mod=mod -modcacherw",
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

// TestRelease uses a release of this tree like other programs. A program must be able to import a domain and keep the versions of its own
// dependencies. It must be possible to install the programs of the release, and each must use the released module.
func TestRelease(t *testing.T) {
	t.Parallel()
	version, environ := released(t)
	folder := t.TempDir()
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

// TestSetRefuses checks that a version must have the form of a release tag, such as v0.12.0.
func TestSetRefuses(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"", "1.2.3", "v1", "v1.2", "latest"} {
		if err := set(t.TempDir(), nil, wrong); err == nil || !strings.Contains(err.Error(), "is no version") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
