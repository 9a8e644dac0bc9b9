package agentteststore_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/agenttest/agenttesttest"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// TestDocumentsKeepTheirNames: what is stored has the names of fields of domain types. A field that is renamed, or gets another
// type, needs a type of its own in document.go: no release could read what those before it have stored. A new field is no
// trouble: write the file anew with -update.
func TestDocumentsKeepTheirNames(t *testing.T) {
	t.Parallel()
	got, err := agentteststore.Documents(
		agenttesttest.FullScenario("s1"), agenttesttest.FullRun("r1"), agenttesttest.FullBatch("b1"), agenttesttest.FullSession("t1"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "documents.json")
	if *update {
		if err := os.WriteFile(path, append(got, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != string(got)+"\n" {
		t.Errorf("documents are not as in %s (%v):\n%s", path, err, got)
	}
}
