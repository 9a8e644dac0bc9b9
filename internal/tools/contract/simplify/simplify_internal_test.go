package simplify

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestRules applies the rules to ogen's functions in testdata, and compares the results with the expected file. It checks that every rule
// is applied. UPDATE=1 writes the file again.
func TestRules(t *testing.T) {
	t.Parallel()
	before, err := os.ReadFile(filepath.Join("testdata", "before.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	idle := map[string]bool{}
	for _, r := range rules {
		idle[r.name] = true
	}
	got, err := simplify("before.go", before, func(rule string) { delete(idle, rule) })
	if err != nil {
		t.Fatal(err)
	}
	for name := range idle {
		t.Errorf("the rule %q has nothing to do in testdata", name)
	}
	file := filepath.Join("testdata", "after.go.txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the rules make something else than %s; run the test with UPDATE=1 and look at the difference", file)
	}
	again, err := File("after.go", got)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, got) {
		t.Errorf("simplified once more, the code changes:\n%s", again)
	}
}

// TestRuleWithoutAMatch checks that the rules do not change code that only resembles a left side.
func TestRuleWithoutAMatch(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"another error is returned": "if err := one(); err != nil {\n\t\treturn other\n\t}\n\treturn nil",
		"something follows":         "if err := one(); err != nil {\n\t\treturn err\n\t}\n\ttwo()\n\treturn nil",
		"two names, two texts":      "v, err := d.Str()\n\tif err != nil {\n\t\treturn err\n\t}\n\ts.A = string(w)\n\treturn nil",
		"another text":              "if err := one.Validate(string(v)); err != nil {\n\t\treturn errors.Wrap(err, \"number\")\n\t}\n\tthree()",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := "package p\n\nfunc f() error {\n\t" + body + "\n}\n"
			got, err := File("p.go", []byte(source))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != source {
				t.Errorf("got\n%s", got)
			}
		})
	}
}
