package pathway_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
)

// earlyShop returns a conversation along a node that waits, a webhook with a text, a key, and a node with a tool.
func earlyShop(t *testing.T) *talk {
	t.Helper()
	hook := data{"text": "One moment.", "url": "https://example.com/hook", "responseData": []data{{"name": "ok", "data": "$.ok"}}}
	return newTalk(t, compile(t, nodes(
		say("ask", start), node("hook", graph.NodeWebhook, hook), node("keys", graph.NodePress, data{"digits": "1"}), say("done", nil),
	), ways("ask hook", "hook keys", "keys done")))
}

// TestEarlyWaitsBeforeEffects checks that a turn that is not certain says the words before a webhook, and sends the request and presses the
// digits only after Commit.
func TestEarlyWaitsBeforeEffects(t *testing.T) {
	t.Parallel()
	for _, certain := range []bool{false, true} {
		c := earlyShop(t)
		c.begins("ask.")
		requests := c.interpreter.Requests.(*agentstest.Requests)
		turn := speech("go on")
		turn.Early = new(conversation.Early)
		before := c.state
		var said []string
		state, log, err := c.interpreter.Step(t.Context(), c.graph, c.agent, c.state, turn, func(s conversation.Step) bool {
			if said = append(said, fmt.Sprint(s)); len(said) == 1 {
				if n := len(requests.Made()); n > 0 {
					t.Errorf("%d requests were sent before the turn is certain", n)
				}
				turn.Early.Decide(certain)
			}
			return true
		})
		got := strings.Join(said, " ")
		switch {
		case certain && (err != nil || got != "{One moment.} {1 false} {done.}" || len(requests.Made()) != 1 || state.Node != "done" || log.Turn != 2):
			t.Errorf("the answer is %s, %v; %d requests; %+v", got, err, len(requests.Made()), state)
		case !certain && (!errors.Is(err, conversation.ErrWithdrawn) || got != "{One moment.}" || len(requests.Made()) != 0 || !reflect.DeepEqual(state, before) || log.Turn != 0):
			t.Errorf("withdrawn, the answer is %s, %v; %d requests; %+v", got, err, len(requests.Made()), state)
		}
	}
}

// TestEarlyToolsWait checks that the tools of a node are called only when the turn is certain.
func TestEarlyToolsWait(t *testing.T) {
	t.Parallel()
	requests := &agentstest.Requests{Answer: agentstest.JSON(`{"id": 7}`)}
	m := &agentstest.Model{Usage: llm.Usage{Input: 3, Output: 2}, Says: func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		if last := r.Messages[len(r.Messages)-1]; last.Role == llm.RoleCaller && last.Text == "find me" {
			return []llm.ReplyPart{{Call: &llm.ToolCall{ID: "1", Name: "find"}}}, nil
		}
		return agentstest.Texts("So."), nil
	}}
	g := compile(t, nodes(node("a", graph.NodeDefault, data{"isStart": true, "prompt": "Talk.", "tools": []data{
		{"name": "find", "description": "finds", "url": "https://example.com/find", "response": data{"id": "$.id"}, "speech": "I am looking."},
	}})), nil)
	var logs []pathway.Log
	b := must(pathway.NewBrain(pathway.BrainConfig{
		Interpreter: &pathway.Interpreter{Model: m, Requests: requests}, Graph: g, Observer: func(l pathway.Log) { logs = append(logs, l) },
		State: pathway.State{Node: "a", Visited: []string{"a"}, Turn: 1},
	}))
	before := b.State()
	turn := speech("find me")
	for range 2 {
		turn.Early = new(conversation.Early)
		for s, err := range b.Respond(t.Context(), turn) {
			if err != nil || s != (conversation.Say{Text: "I am looking."}) {
				t.Errorf("the early answer has %v, %v", s, err)
			}
			turn.Early.Decide(false)
		}
	}
	if n := len(requests.Made()); n > 0 || !reflect.DeepEqual(b.State(), before) {
		t.Errorf("%d requests were sent; the state is %+v", n, b.State())
	}
	turn.Early = new(conversation.Early)
	turn.Early.Decide(true)
	if got, err := answers(t.Context(), b, turn, 99); err != nil || got != "{I am looking.} {So.}" {
		t.Errorf("the answer is %s, %v", got, err)
	}
	if n := len(requests.Made()); n != 1 || b.State().Variables["id"] != int64(7) || b.State().Turn != 2 {
		t.Errorf("%d requests were sent; the state is %+v", n, b.State())
	}
	withdrawn := pathway.Log{Withdrawn: pathway.Withdrawn{Answers: 1, Usage: m.Usage, ModelCalls: 1, Models: []llm.Use{{Model: m.Name(), Requests: 1, Usage: m.Usage}}}}
	if len(logs) != 3 || !reflect.DeepEqual(logs[:2], []pathway.Log{withdrawn, withdrawn}) || logs[2].Usage != (llm.Usage{Input: 6, Output: 4}) || logs[2].ModelCalls != 2 {
		t.Errorf("the logs are %+v", logs)
	}
}

// sameAgain simulates a model and another system whose answers depend only on the requests.
type sameAgain struct{}

func (sameAgain) random(request any) *rand.Rand {
	h := fnv.New64()
	fmt.Fprintf(h, "%+v", request)
	return rand.New(rand.NewPCG(h.Sum64(), 0))
}

func (s sameAgain) says(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
	f := fickle{Rand: s.random([]any{r.Instructions, r.Messages, r.Unheard, r.Arriving})}
	var parts []llm.ReplyPart
	for range 1 + f.IntN(4) {
		parts = append(parts, [...]llm.ReplyPart{
			{Text: "Hm. So"}, {Text: " what?\n"}, {Expect: []string{"x"}}, {Call: &llm.ToolCall{ID: "1", Name: "none"}},
		}[f.IntN(4)])
	}
	return parts, nil
}

func (s sameAgain) answers(_ context.Context, q llm.Question) (string, error) {
	f := fickle{Rand: s.random([]any{q.Task, q.Instructions, q.Messages, q.Options})}
	if q.Task == llm.TaskExtract {
		answer := map[string]any{}
		for _, field := range q.Fields {
			answer[field.Name] = map[llm.FieldType]any{llm.FieldString: "+15550100", llm.FieldInteger: f.IntN(1 << 60)}[field.Type]
		}
		return string(raw(answer)), nil
	}
	return string(raw(map[string]string{"reason": "so", "option": q.Options[f.IntN(len(q.Options))].ID})), nil
}

// TestAnyWithdrawals checks that conversations along random graphs have the same words, states, requests and logs with early answers that
// are withdrawn as without.
func TestAnyWithdrawals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		g := anyGraph(r)
		turns := rapid.SliceOfN(rapid.Custom(anyTurn), 1, 8).Draw(r, "turns")
		seed := rapid.Uint64().Draw(r, "seed")
		type side struct {
			brain    *pathway.Brain
			speaks   conversation.Brain
			requests agentstest.Requests
			logs     []pathway.Log
		}
		sides := [2]*side{{}, {}}
		for _, s := range sides {
			s.requests.Answer = agentstest.JSON(`{"v": "x"}`)
			s.brain = must(pathway.NewBrain(pathway.BrainConfig{
				Interpreter: &pathway.Interpreter{
					Model: &agentstest.Model{Says: sameAgain{}.says, Answers: sameAgain{}.answers}, Requests: &s.requests,
					Runtime: callwright.Runtime{Clock: &clock{now: time.Unix(0, 0).UTC()}},
				},
				Graph: g, State: pathway.Begin(map[string]any{"x": 1}, ""), Observer: func(l pathway.Log) {
					if l.Turn > 0 {
						s.logs = append(s.logs, stripped(l))
					}
				},
			}))
			s.speaks = s.brain
		}
		sides[1].speaks = agentstest.Hesitate(t, sides[1].brain, seed)
		for _, turn := range turns {
			if turn.Kind == conversation.TurnSpeech && turn.Text != "" {
				turn.Text += " and so on"
			}
			var said [2]string
			for i, s := range sides {
				for step, err := range s.speaks.Respond(t.Context(), turn) {
					said[i] += fmt.Sprintf("%v %v\n", step, err)
				}
			}
			if said[0] != said[1] || !reflect.DeepEqual(sides[0].brain.State(), sides[1].brain.State()) {
				r.Fatalf("%+v is answered with\n%s%+v\nand with withdrawals\n%s%+v", turn, said[0], sides[0].brain.State(), said[1], sides[1].brain.State())
			}
		}
		if !reflect.DeepEqual(sides[0].logs, sides[1].logs) {
			r.Errorf("the logs are\n%+v\nand with withdrawals\n%+v", sides[0].logs, sides[1].logs)
		}
		url := func(q request.Request) string { return q.URL }
		if a, b := sides[0].requests.Made(), sides[1].requests.Made(); !slices.EqualFunc(a, b, func(p, q request.Request) bool { return url(p) == url(q) }) {
			r.Errorf("the requests are\n%+v\nand with withdrawals\n%+v", a, b)
		}
	})
}

// stripped returns a log without the values that depend on time.
func stripped(l pathway.Log) pathway.Log {
	l.Duration = 0
	for i := range l.Entries {
		l.Entries[i].At = time.Time{}
		if r := l.Entries[i].Request; r != nil {
			r.Duration = 0
		}
	}
	return l
}
