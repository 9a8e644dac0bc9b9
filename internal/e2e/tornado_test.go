package e2e_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/agenttestoas"
	"github.com/callwright/callwright/transport/oas/pathwaysoas"
)

// repairer starts a language model that blames the node "bye" of bookings, and returns the flags for it. fix returns the model's answer
// with a plan.
func repairer(t *testing.T, fix func(r *http.Request) string) (flags []string) {
	t.Helper()
	return analyst(t, func(r *http.Request, rules, _ string) string {
		if strings.Contains(rules, "You propose a change") {
			return fix(r)
		}
		return `{"cause":"It ends without the word.","fault":"agent","node":"bye","suggestions":[]}`
	})
}

// saying returns a plan as JSON that sets the text of the node "bye".
func saying(t *testing.T, text string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"reasoning": "It lacks a word.", "fixes": []any{map[string]any{
		"type": "prompt_change", "target_node": "bye", "description": "Say the word.", "edits": []any{map[string]any{
			"op": "set_text", "field": "text", "text": text, "edge": nil, "to": nil,
		}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// session returns the state of a tornado session.
func session(t *testing.T, s *server.Server, id string) agenttestoas.TornadoSession {
	t.Helper()
	got, err := s.API.GetTornadoStatus(t.Context(), agenttestoas.GetTornadoStatusParams{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return got.Data
}

// mend starts a tornado session for a pathway and returns its id.
func mend(t *testing.T, s *server.Server, pathway string) string {
	t.Helper()
	started, err := s.API.StartTornado(t.Context(), &agenttestoas.TornadoStart{PathwayID: pathway}, agenttestoas.StartTornadoParams{})
	if err != nil {
		t.Fatal(err)
	}
	return started.Data.SessionID
}

// TestTornadoOverTwoNodes has two servers repair a pathway. The first plan breaks a scenario and is rejected, the second is accepted, and
// nothing is published until a person does so. A session must be canceled even over the server that does not hold it.
func TestTornadoOverTwoNodes(t *testing.T) {
	t.Parallel()
	plans := make(chan string, 2)
	plans <- saying(t, "Goodbye and good day.")
	plans <- saying(t, "Goodbye and good night.")
	asked, left := make(chan bool, 10), make(chan bool, 10)
	config := nodes(t, authority(t))
	config.Flags = append(config.Flags, repairer(t, func(r *http.Request) string {
		select {
		case plan := <-plans:
			return plan
		default:
		}
		asked <- true
		<-r.Context().Done()
		left <- true
		return ""
	})...)
	one, two := server.StartTwo(t, config)
	servers := []*server.Server{one, two}
	pathway := one.Publish(t, bookings("Good night."))
	gated(t, one, pathway, "Goodbye")
	gated(t, one, pathway, "good night")

	id := mend(t, one, pathway)
	var got agenttestoas.TornadoSession
	await.That(t, "the session to end", func() bool {
		got = session(t, two, id)
		return got.Status != agenttestoas.TornadoStatusRUNNING
	})
	outcomes := make([]agenttestoas.TornadoIterationOutcome, len(got.Iterations))
	for i, it := range got.Iterations {
		outcomes[i] = it.Outcome.Value
	}
	want := []agenttestoas.TornadoIterationOutcome{
		agenttestoas.TornadoIterationOutcomeBaseline, agenttestoas.TornadoIterationOutcomeRejected, agenttestoas.TornadoIterationOutcomeAccepted,
	}
	if got.Status != agenttestoas.TornadoStatusCOMPLETEDALLPASSED || !slices.Equal(outcomes, want) || got.PassedScenarios != 2 || got.BaseMoved {
		t.Fatalf("the session has ended as %+v", got)
	}
	if n := len(one.Issues(t)); n != 0 {
		t.Errorf("experiments have opened %d issues", n)
	}
	best := got.ForkedVersion.Value
	await.That(t, "the rejected fork to be discarded", func() bool {
		list, err := two.API.ListPathwayVersions(t.Context(), pathwaysoas.ListPathwayVersionsParams{ID: pathway})
		if err != nil {
			t.Fatal(err)
		}
		return len(list) == 2
	})
	if answer, err := promote(t, two, pathway, best, true); err != nil || answer.Published {
		t.Errorf("a version that no person has tested: %+v, %v", answer, err)
	}

	for n, s := range servers { // cancels over each server, so at least once over the other one
		pathway := s.Publish(t, bookings("Good night."))
		gated(t, s, pathway, "Goodbye")
		id := mend(t, servers[1-n], pathway)
		<-asked
		if _, err := s.API.CancelTornado(t.Context(), agenttestoas.CancelTornadoParams{ID: id}); err != nil {
			t.Fatal(err)
		}
		await.That(t, "the question to be given up", func() bool { return len(left) == n+1 })
		await.That(t, "the session to end", func() bool { return session(t, s, id).Status == agenttestoas.TornadoStatusCANCELLED })
	}
}
