package join_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/join"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest/scenario"
)

// TestTranscripts checks that the transcript of an ended call contains its lines, nodes and names of variables, and not the values of
// variables. It lacks words over the agent's that were no turn. The transcript of a running call must be refused, and another organization must find none.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ended := began.Add(time.Minute)
	h.seed(call.Call{ID: "c", EndedAt: &ended, Agent: agents.Agent{Pathway: agents.PathwayRef{ID: "p1"}}, RequestData: map[string]any{"clinic": "North"}},
		call.Entry{Seq: 1, Speaker: call.SpeakerAssistant, Text: "Hello."}, call.Entry{Seq: 2, Speaker: call.SpeakerUser, Text: "Nine."},
		call.Entry{Seq: 3, Speaker: call.SpeakerAction, Text: "Pressed 1."})
	h.seed(call.Call{ID: "numbered", EndedAt: &ended}, call.Entry{Seq: 1, Speaker: call.SpeakerAssistant, Text: "Hello."},
		call.Entry{Seq: 2, Speaker: call.SpeakerUser, Text: "Okay."}, call.Entry{Seq: 3, Speaker: call.SpeakerUser, Text: "Nine.", Turn: 1})
	h.seed(call.Call{ID: "running"})
	store := agentstore.Calls{Store: h.store}
	err := store.AppendLog(t.Context(), org, "c", pathway.Log{Turn: 1, Entries: []pathway.LogEntry{
		{Kind: pathway.LogVisit, Node: "begin"}, {Kind: pathway.LogVariables, Variables: map[string]any{"slot": "hidden", "day": "hidden"}},
		{Kind: pathway.LogDecision, Node: "begin", Chosen: "end"}, {Kind: pathway.LogVisit, Node: "end"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	transcripts := join.Transcripts{Store: store}
	got, err := transcripts.Transcript(t.Context(), org, "c")
	want := []scenario.Message{{Role: llm.RoleAgent, Text: "Hello."}, {Role: llm.RoleCaller, Text: "Nine."}}
	if err != nil || !slices.Equal(got.Lines, want) || got.Pathway != "p1" || !slices.Equal(got.Visits, []string{"begin", "end"}) ||
		!slices.Equal(got.Variables, []string{"day", "slot"}) || got.RequestData["clinic"] != "North" {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := transcripts.Transcript(t.Context(), org, "numbered"); err != nil || !slices.Equal(got.Lines, want) {
		t.Errorf("of a call with an acknowledgement: got %+v, %v", got.Lines, err)
	}
	if _, err := transcripts.Transcript(t.Context(), org, "running"); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("of a call that goes on: %v", err)
	}
	if _, err := transcripts.Transcript(t.Context(), "other", "c"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("for another organization: %v", err)
	}
}
