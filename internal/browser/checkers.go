package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Violation is an accessibility rule that a page breaks.
type Violation struct {
	Rule   string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Nodes  []string `json:"nodes"` // HTML of each element that breaks the rule
}

// String returns the rule, its impact and help text, and the elements that break it.
func (v Violation) String() string {
	return fmt.Sprintf("%s (%s): %s\n\t%s", v.Rule, v.Impact, v.Help, strings.Join(v.Nodes, "\n\t"))
}

// Axe returns the violations that axe-core finds in the element of a selector, descendants included. It requires a page that was opened
// with scripts.
func (p *Page) Axe(t testing.TB, root string) []Violation {
	t.Helper()
	source, err := os.ReadFile(installed(t, "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	selector, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	type report struct {
		Passes     int         `json:"passes"`
		Violations []Violation `json:"violations"`
	}
	// Preloading would fetch style sheets again, but the content security policy forbids this.
	got := Eval[report](t, p, string(source)+`
		;axe.run(`+string(selector)+`, {preload: false}).then((r) => ({
			passes: r.passes.length,
			violations: r.violations.map(({id, impact, help, nodes}) => ({id, impact, help, nodes: nodes.map((n) => n.html)})),
		}))`)
	if got.Passes == 0 && len(got.Violations) == 0 {
		t.Fatalf("axe-core found nothing to check in %s", root)
	}
	return got.Violations
}

// Fault is an error in the markup of a page.
type Fault struct {
	Page    string `json:"page"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// String returns the page, line and column, the message and the rule.
func (f Fault) String() string {
	return fmt.Sprintf("%s:%d:%d: %s (%s)", f.Page, f.Line, f.Column, f.Message, f.Rule)
}

// Validate returns the faults that html-validate finds in documents. The keys of pages are their names.
func Validate(t testing.TB, pages map[string]string) []Fault {
	t.Helper()
	if len(pages) == 0 {
		t.Fatal("no page to validate")
	}
	installed(t, "html-validate", "package.json")
	documents, err := json.Marshal(pages)
	if err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", filepath.Join(web(t), "validate.mjs"))
	var complaints bytes.Buffer
	node.Stdin, node.Stderr = bytes.NewReader(documents), &complaints
	out, err := node.Output()
	if err != nil {
		t.Fatalf("html-validate: %v\n%s", err, complaints.Bytes())
	}
	var faults []Fault
	if err := json.Unmarshal(out, &faults); err != nil {
		t.Fatalf("html-validate: %v in %s", err, out)
	}
	return faults
}

// web returns the folder of the pinned checkers. It searches for the workspace from the working directory upward.
func web(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.work")); err == nil {
			return filepath.Join(folder, "internal", "tools", "web")
		}
		if filepath.Dir(folder) == folder {
			t.Fatal("the test does not run inside the workspace")
		}
		folder = filepath.Dir(folder)
	}
}

// installed returns the path of a file in an npm package. It fails the test if the package is not installed.
func installed(t testing.TB, pkg, file string) string {
	t.Helper()
	path := filepath.Join(web(t), "node_modules", pkg, file)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is not installed: run scripts/install-deps.sh test", pkg)
	}
	return path
}
