package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/agenttestoas"
	"github.com/callwright/callwright/transport/oas/pathwaysoas"
	"github.com/callwright/callwright/transport/oas/triageoas"
)

// bookings returns a pathway that asks for a day and then says the given goodbye.
func bookings(goodbye string) graph.Document {
	return graph.Document{
		Nodes: []json.RawMessage{
			json.RawMessage(`{"id":"ask","type":"Default","data":{"name":"Ask","isStart":true,"text":"Which day?"}}`),
			json.RawMessage(`{"id":"bye","type":"End Call","data":{"name":"Bye","text":"` + goodbye + `"}}`),
		},
		Edges: []json.RawMessage{json.RawMessage(`{"id":"1","source":"ask","target":"bye","data":{"alwaysPick":true}}`)},
	}
}

// gated creates a scenario that promotions of a pathway require, and returns the scenario's id. A run passes if the agent says the given
// word.
func gated(t *testing.T, s *server.Server, pathway, word string) string {
	t.Helper()
	var scenario agenttestoas.TestScenarioCreate
	err := scenario.UnmarshalJSON([]byte(`{"pathway_id":"` + pathway + `","name":"Says ` + word + `","scenario_type":"REPLAY","is_required_for_promotion":true,
		"input_messages":[{"role":"user","content":"Tuesday."}],"assertions":[{"type":"STRING_CHECK","config":{"value":"` + word + `","operator":"contains"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.API.CreateTestScenario(t.Context(), &scenario)
	if err != nil {
		t.Fatal(err)
	}
	return made.Data.ID
}

// promote asks the server to publish a version, and returns its answer. onPass requests the publication after the tests have passed.
func promote(t *testing.T, s *server.Server, pathway string, version int, onPass bool) (*pathwaysoas.PathwayPublished, error) {
	t.Helper()
	return s.API.PublishPathway(t.Context(), &pathwaysoas.PathwayPublish{VersionID: version, PublishOnPass: pathwaysoas.NewOptBool(onPass)},
		pathwaysoas.PublishPathwayParams{ID: pathway})
}

// storeVersion stores a document as the next version of a pathway, and returns the version number.
func storeVersion(t *testing.T, s *server.Server, pathway string, d graph.Document) int {
	t.Helper()
	version := &pathwaysoas.PathwayVersionCreate{Name: "next"}
	for _, n := range d.Nodes {
		version.Nodes = append(version.Nodes, pathwaysoas.PathwayNode(n))
	}
	for _, e := range d.Edges {
		version.Edges = append(version.Edges, pathwaysoas.PathwayEdge(e))
	}
	saved, err := s.API.CreatePathwayVersion(t.Context(), version, pathwaysoas.CreatePathwayVersionParams{ID: pathway})
	if err != nil {
		t.Fatal(err)
	}
	return saved.Data.VersionNumber
}

// runsOf waits until a pathway has exactly count runs and all of them have ended, and returns them.
func runsOf(t *testing.T, s *server.Server, pathway string, count int) (runs []agenttestoas.TestRunSummary) {
	t.Helper()
	await.That(t, "the runs of tests to end", func() bool {
		list, err := s.API.ListTestRuns(t.Context(), agenttestoas.ListTestRunsParams{PathwayID: agenttestoas.NewOptString(pathway)})
		if err != nil {
			t.Fatal(err)
		}
		runs = list.Data.Runs
		for _, r := range runs {
			if r.Status == agenttestoas.TestRunStatusPENDING || r.Status == agenttestoas.TestRunStatusRUNNING {
				return false
			}
		}
		return len(runs) == count
	})
	return runs
}

// TestGateOfPromotions publishes a version that fails its tests, and a version that passes. It checks that equal failures share one issue
// that lists their runs, even after a restart of the server.
func TestGateOfPromotions(t *testing.T) {
	t.Parallel()
	config := server.Config{Data: t.TempDir()}
	s := server.Start(t, config)
	pathway := s.Publish(t, bookings("Good night."))
	scenario := gated(t, s, pathway, "goodbye")
	bad := storeVersion(t, s, pathway, bookings("Good evening."))
	_, err := promote(t, s, pathway, bad, false)
	if err == nil || !strings.Contains(err.Error(), "409") {
		t.Fatalf("a version without tests is published: %v", err)
	}
	first := runsOf(t, s, pathway, 1)[0]
	if _, err := promote(t, s, pathway, bad, true); err == nil || first.Status != agenttestoas.TestRunStatusFAILED || first.BatchID.Null {
		t.Errorf("its run has ended with %+v; then publishing says %v", first, err)
	}
	s.Stop(t)
	s = server.Start(t, config)
	again, err := s.API.StartTestRun(t.Context(), agenttestoas.NewOptTestRunStart(agenttestoas.TestRunStart{VersionNumber: agenttestoas.NewOptInt(bad)}),
		agenttestoas.StartTestRunParams{ID: scenario})
	if err != nil {
		t.Fatal(err)
	}
	runsOf(t, s, pathway, 2)
	attached := func() (ids []string) {
		issues := s.Issues(t)
		if len(issues) != 1 {
			return nil
		}
		list, err := s.API.ListIssueResources(t.Context(), triageoas.ListIssueResourcesParams{ID: issues[0].ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.Data {
			ids = append(ids, r.ResourceID)
		}
		return ids
	}
	await.That(t, "one issue with both runs", func() bool {
		ids := strings.Join(attached(), " ")
		return strings.Contains(ids, first.ID) && strings.Contains(ids, again.Data.RunID)
	})
	good := storeVersion(t, s, pathway, bookings("Goodbye."))
	if answer, err := promote(t, s, pathway, good, true); err != nil || answer.Published {
		t.Fatalf("a version that is to be tested: %+v, %v", answer, err)
	}
	await.That(t, "the version to be published", func() bool {
		p, err := s.API.GetPathway(t.Context(), pathwaysoas.GetPathwayParams{ID: pathway})
		if err != nil {
			t.Fatal(err)
		}
		return p.ProductionVersionNumber.Value == good
	})
}
