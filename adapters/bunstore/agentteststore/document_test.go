package agentteststore_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/scenario"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// TestDocumentsWithGoNames checks that scenarios can be read that earlier releases stored with the names of Go fields.
func TestDocumentsWithGoNames(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile(filepath.Join("testdata", "scenario-with-go-names.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got scenario.Scenario
	if err := json.Unmarshal(agentteststore.Upgraded(old), &got); err != nil {
		t.Fatal(err)
	}
	want := agenttesttest.FullScenario("s1")
	for _, raw := range []*json.RawMessage{&got.Metadata, &got.Webhooks[0].Body, &want.Metadata, &want.Webhooks[0].Body} {
		var value any
		if err := json.Unmarshal(*raw, &value); err != nil {
			t.Fatal(err)
		}
		if *raw, err = json.Marshal(value); err != nil {
			t.Fatal(err)
		}
	}
	before, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	after, err := json.Marshal(got)
	if err != nil || string(after) != string(before) {
		t.Errorf("%v; got\n%s\nwant\n%s", err, after, before)
	}
}

// TestDocumentsKeepTheirNames fails if a member of a stored document is renamed or changes its type, because rows of earlier releases could
// then not be read. Such a change requires a line in upgrade.go or a type in document.go. After adding a member, run the test with -update
// to update testdata/documents.json.
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
