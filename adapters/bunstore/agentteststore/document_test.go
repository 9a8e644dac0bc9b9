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

// TestDocumentsKeepTheirNames: stored documents have the field names of domain types. A renamed field, or a field with a new type,
// needs a type in document.go: otherwise no release could read documents of earlier ones. For a new field, write the file again
// with -update.
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
