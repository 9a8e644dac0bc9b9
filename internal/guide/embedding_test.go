package guide_test

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/guide"
)

// suite matches the exported function of a conformance suite in Go code.
var suite = regexp.MustCompile(`(?m)^func (Run[A-Z]\w*)[\[(]`)

// named matches a suite in a table. A suite without a package is in the package of the suite before it.
var named = regexp.MustCompile("`(?:([a-z]+test)\\.)?(Run[A-Z]\\w*)`")

// TestSuiteTable checks that the table in docs/embedding.md lists exactly the existing suites.
func TestSuiteTable(t *testing.T) {
	t.Parallel()
	page, err := guide.Read(root, "docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(page, "## Writing an adapter\n")
	if !found {
		t.Fatal("the page has no section about adapters")
	}
	listed := map[string]bool{}
	for row := range strings.Lines(table) {
		room := ""
		for _, m := range named.FindAllStringSubmatch(row, -1) {
			if m[1] != "" {
				room = m[1]
			}
			listed[room+"."+m[2]] = strings.HasPrefix(row, "|")
		}
	}
	maps.DeleteFunc(listed, func(_ string, inTable bool) bool { return !inTable })
	want := suites(t)
	if len(want) < 80 {
		t.Errorf("only %d suites are found", len(want))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !listed[name] {
			t.Errorf("the table lacks %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if !want[name] {
			t.Errorf("there is no suite %s", name)
		}
	}
}

// suites returns the names of the exported functions Run* in packages named *test, such as siptest.RunStore.
func suites(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		room := filepath.Base(filepath.Dir(path))
		switch {
		case err == nil && d.IsDir() && (d.Name() == "internal" || d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case err != nil || !strings.HasSuffix(room, "test") || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range suite.FindAllStringSubmatch(string(text), -1) {
			all[room+"."+m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// program returns a folder with a program that imports a package of this module. In the folder it runs the block of docs/embedding.md that
// the test runBy must run.
func program(t *testing.T, runBy, imported, use string) string {
	t.Helper()
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	page, err := guide.Read(root, "docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := guide.Blocks(page)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(blocks, func(b guide.Block) bool { return b.RunBy == runBy })
	if at < 0 {
		t.Fatalf("the page has no block that %s runs", runBy)
	}
	folder := t.TempDir()
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	text := "package main\n\nimport \"github.com/callwright/callwright/" + imported + "\"\n\nfunc main() { println(" + use + ") }\n"
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "go.sum"), sums, 0o600); err != nil { // go mod tidy need not download checksums
		t.Fatal(err)
	}
	shell(t, folder, strings.ReplaceAll(blocks[at].Code, "/CHECKOUT", checkout))
	return folder
}

// shell runs commands in a folder, and fails the test if one of them fails.
func shell(t *testing.T, folder, commands string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", commands)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "GOWORK=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, out)
	}
}

// TestReplacedRoot checks that a program that imports one domain compiles with this tree.
func TestReplacedRoot(t *testing.T) {
	t.Parallel()
	shell(t, program(t, "TestReplacedRoot", "triage", "triage.SeverityHigh"), "go vet .")
}

// TestWorkspace checks that a program that imports the whole platform compiles with this tree, even after the script ran twice. The script
// must fail if there is a go.work of another origin, or no go.mod.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	folder := program(t, "TestWorkspace", "platform", "platform.Defaults().Addr")
	script, err := filepath.Abs(filepath.Join(root, "scripts", "workspace.sh"))
	if err != nil {
		t.Fatal(err)
	}
	shell(t, folder, script+" . && go vet .")
	for _, refused := range []string{"printf 'go 1.26.8\n' >go.work", "rm go.mod go.work"} {
		shell(t, folder, refused+"; ! "+script+" .")
	}
}
