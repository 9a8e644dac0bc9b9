package agenttesttest

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
)

// doesTheSame checks that sessions with the same callers' turns and model answers are equal, except for the times of their requests.
func doesTheSame(t *testing.T, r engine.PathwayRunner) {
	turns := []engine.CallerTurn{
		{}, {Text: "day=Tuesday"}, {Text: "cost"}, {Text: "7", Digits: true}, {Text: ""}, {Text: "tones"},
		{Text: "look:z+y+x"}, {Text: "look:a"}, {Text: "cost"},
	}
	hold := func() (all []engine.AgentTurn, requests []llm.ReplyRequest, questions []llm.Question) {
		s, model := spec(), Literal()
		s.Model, s.Webhooks = model, []scenario.WebhookMock{{URL: "*/look/x", Body: encode(fields{"seen": "x"})}}
		c := begin(t, r, s)
		for _, in := range turns {
			turn := c.reply(in)
			for i := range turn.Webhooks {
				turn.Webhooks[i].At = time.Time{}
			}
			all = append(all, turn)
		}
		return all, model.Requests(), model.Questions()
	}
	turns1, requests1, questions1 := hold()
	for range 5 {
		turns2, requests2, questions2 := hold()
		if !reflect.DeepEqual(turns1, turns2) {
			t.Fatalf("the same conversation went\n%+v\nand\n%+v", turns1, turns2)
		}
		if !reflect.DeepEqual(requests1, requests2) || !reflect.DeepEqual(questions1, questions2) {
			t.Fatal("the same conversation asked the model for something else")
		}
	}
}

// holdsMany checks that concurrent sessions share no state.
func holdsMany(t *testing.T, r engine.PathwayRunner) {
	first, second := begin(t, r, spec()), begin(t, r, spec())
	first.open()
	second.open()
	first.say("day=Tuesday")
	if got := second.say("slots"); got.Variables["day"] != nil || len(got.Webhooks) != 1 {
		t.Errorf("the second session is at %+v", got)
	}
	if got := first.say("talk"); len(got.Webhooks) != 0 || got.Variables["day"] != "Tuesday" {
		t.Errorf("the first session is at %+v", got)
	}
}

func tellsGraph(t *testing.T, r engine.PathwayRunner) {
	g := begin(t, r, spec()).Graph()
	want := map[string]struct{ next, fills []string }{
		"welcome": {[]string{"bye", "cost", "person", "round", "slots", "talk", "tones"}, []string{"bicycles", "day"}},
		"slots":   {[]string{"cost", "full", "offer"}, []string{"free"}},
		"talk":    {[]string{"cost"}, []string{"seen"}},
		"cost":    {nil, nil},
	}
	for id, w := range want {
		n, ok := g[id]
		if next, fills := slices.Sorted(slices.Values(n.Next)), slices.Sorted(slices.Values(n.Fills)); !ok || n.Name != "The "+id ||
			!slices.Equal(next, w.next) || !slices.Equal(fills, w.fills) {
			t.Errorf("the node %s is %+v, want %+v", id, n, w)
		}
	}
	if len(g) != len(Shop().Nodes) {
		t.Errorf("the nodes are %v", slices.Sorted(maps.Keys(g)))
	}
}
