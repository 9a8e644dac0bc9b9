package guide_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/guide"
)

const root = "../.."

// TestMarks checks that every block that the test of the pages does not run states a reason or another test.
func TestMarks(t *testing.T) {
	t.Parallel()
	ci, err := guide.Read(root, ".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := guide.Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, page := range pages {
		text, err := guide.Read(root, page)
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := guide.Blocks(text)
		if err != nil {
			t.Errorf("%s: %v", page, err)
		}
		for _, b := range blocks {
			switch {
			case b.RunBy == ".ci/run":
				for command := range strings.Lines(b.Code) {
					command, _, _ = strings.Cut(command, "#")
					if target := strings.TrimPrefix(strings.TrimSpace(command), "make "); !strings.Contains(ci, " "+target+"\n") {
						t.Errorf("%s:%d: .ci/run does not run %s", page, b.Line, command)
					}
				}
			case b.RunBy != "" && !isTest(t, b.RunBy):
				t.Errorf("%s:%d: there is no test %s", page, b.Line, b.RunBy)
			case b.Why != "" && len(strings.Fields(b.Why)) < 3:
				t.Errorf("%s:%d: %q says too little of why it is not run", page, b.Line, b.Why)
			case b.Why == "" && b.RunBy == "":
				run++
			}
		}
	}
	if run < 20 {
		t.Errorf("only %d blocks of the pages are run", run)
	}
}

// isTest reports whether the source tree contains a test with this name.
func isTest(t *testing.T, name string) bool {
	t.Helper()
	found := false
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || found || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		found = strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	page := "# Page\n\n```sh\na\nb\n```\n<!-- not run: it costs money -->\n```sh\nc\n```\n\n<!-- run by: TestIt -->\n```sh\nd\n```\n```go\ne\n```\n"
	want := []guide.Block{{Line: 4, Code: "a\nb"}, {Line: 9, Code: "c", Why: "it costs money"}, {Line: 14, Code: "d", RunBy: "TestIt"}}
	if got, err := guide.Blocks(page); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, wrong := range []string{"```bash\na\n```", "<!-- not run: it costs money -->\n\n```sh\na\n```", "<!-- run by: TestIt -->"} {
		if got, err := guide.Blocks(wrong); err == nil {
			t.Errorf("%q gives %+v", wrong, got)
		}
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	page := "### Walk\n\n**Not** a step.\n\n1. Paste the key into **API key**, then **Sign\n   in**.\n2. Type `a b` into **Field**, choose `Yes` in\n   **List**: *It is done.*\n\n### Next\n\n1. **No**\n"
	page = strings.Replace(page, "**Sign\n   in**", "\n   **Sign in**", 1)
	want := []guide.Step{
		{Line: 6, Value: guide.Key, Label: "API key"}, {Line: 6, Label: "Sign in"},
		{Line: 8, Value: "a b", Label: "Field"}, {Line: 8, Value: "Yes", Label: "List"}, {Line: 8, Appear: "It is done."},
	}
	if got := guide.Steps(page, "### Walk"); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := guide.Steps(page, "### None"); got != nil {
		t.Errorf("%+v", got)
	}
}
