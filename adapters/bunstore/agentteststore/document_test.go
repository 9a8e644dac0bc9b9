package agentteststore

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/callwright/callwright/agenttest/agenttesttest"
)

// TestDocumentsKeepTheirNames: what is stored has the names of fields of domain types. A field that is renamed needs a tag in
// document.go, or a migration cannot read what older releases have stored.
func TestDocumentsKeepTheirNames(t *testing.T) {
	t.Parallel()
	run, batch := agenttesttest.FullRun("r1"), agenttesttest.FullBatch("b1")
	got, err := json.MarshalIndent(map[string]any{
		"scenario": newScenarioJSON(agenttesttest.FullScenario("s1")), "outcome": newOutcomeJSON(*run.Outcome), "result": run.Result,
		"batch": batchJSON{batch.Scenarios, batch.Webhook},
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "documents.json")
	if os.Getenv("CALLWRIGHT_UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile(path, append(got, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != string(got)+"\n" {
		t.Errorf("documents are, %v:\n%s\nthey were stored as:\n%s", err, got, want)
	}
}
