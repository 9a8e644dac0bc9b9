package prompted_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/prompted"
)

// TestKnowledgeBases checks that the model receives the best passages of all knowledge bases for the caller's last words.
func TestKnowledgeBases(t *testing.T) {
	t.Parallel()
	var bases agentstest.Knowledge
	bases.Add("a", "hours", "The hours are nine to five.", "The hours of Monday are short.", "Parking costs nothing.", "Other hours exist.")
	bases.Add("a", "place", "Opening hours are at the harbour.", "The hours are nine to five.")
	m := &model{replies: [][]any{{"Hello."}, {"Nine."}, {"Yes."}}}
	b := newBrain(t, prompted.Config{Model: m, Org: "a", Bases: []string{"hours", "gone", "place"}, Knowledge: &bases})
	for i, test := range []struct {
		heard string
		want  []string
	}{
		{"", nil},
		{"your hours", []string{
			"The hours are nine to five.", "Opening hours are at the harbour.", "The hours of Monday are short.", "Other hours exist.",
		}},
		{"is there parking", []string{"Parking costs nothing."}},
	} {
		turn := conversation.TextTurn(test.heard)
		if test.heard == "" {
			turn = conversation.Turn{Kind: conversation.TurnStart}
		}
		for _, err := range b.Respond(t.Context(), turn) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := m.requests[i].Knowledge; !slices.Equal(got, test.want) {
			t.Errorf("%q: the model got %q, want %q", test.heard, got, test.want)
		}
	}
}

// TestKnowledgeThatIsAway checks that the model answers without passages if the knowledge bases fail or are not connected.
func TestKnowledgeThatIsAway(t *testing.T) {
	t.Parallel()
	for name, knowledge := range map[string]prompted.Knowledge{"broken": broken{}, "not connected": nil} {
		m := &model{replies: [][]any{{"Yes."}}}
		b := newBrain(t, prompted.Config{Model: m, Bases: []string{"hours"}, Knowledge: knowledge})
		for _, err := range b.Respond(t.Context(), conversation.TextTurn("your hours")) {
			if err != nil {
				t.Error(err)
			}
		}
		if len(m.requests) != 1 || m.requests[0].Knowledge != nil {
			t.Errorf("%s: the model was asked %+v", name, m.requests)
		}
	}
}

func TestNewBoundsKnowledgeBases(t *testing.T) {
	t.Parallel()
	if _, err := prompted.New(prompted.Config{Model: &model{}, Task: "Talk.", Bases: make([]string, prompted.MaxBases+1)}); err == nil {
		t.Error("there is a brain")
	}
}

type broken struct{}

func (broken) Find(context.Context, callwright.OrgID, string, string, int) ([]string, error) {
	return nil, errors.New("down")
}
