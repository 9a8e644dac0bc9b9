package pathway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/callwright/callwright/agents/template"
)

// anyText returns a random text for a graph, or nil.
func anyText(t *rapid.T, what string) *template.Template {
	texts := []string{"", " ", "One.", "One. Two, {{v}}. Three.", "{{v}}", "{{nobody}}", "{{v.deep}} {{", "+15550100", "5#", "no"}
	if text := rapid.SampledFrom(texts).Draw(t, what); text != "" {
		return template.Parse(text)
	}
	return nil
}

// anyGraph returns a graph of up to seven nodes with random types, settings and edges.
func anyGraph(t *rapid.T) *graph.Graph {
	g := &graph.Graph{Nodes: map[string]*graph.Node{}}
	flag := func(what string) bool { return rapid.IntRange(0, 3).Draw(t, what) == 0 }
	types := []graph.NodeType{
		graph.NodeDefault, graph.NodeDefault, graph.NodeEnd, graph.NodeTransfer, graph.NodeKnowledge, graph.NodeWebhook,
		graph.NodeWait, graph.NodePress,
	}
	var all []*graph.Node
	for i := range rapid.IntRange(1, 7).Draw(t, "nodes") {
		n := &graph.Node{
			ID: fmt.Sprint("n", i), Type: rapid.SampledFrom(types).Draw(t, "type"), Text: anyText(t, "text"), Prompt: anyText(t, "prompt"),
			Condition: anyText(t, "condition"), Global: flag("global"), Label: anyText(t, "label"), AutoReturn: flag("return"),
			Skip: flag("skip"), QuietSilence: flag("quiet"), Refresh: flag("refresh"), TransferTo: anyText(t, "to"), Digits: anyText(t, "digits"),
			Knowledge: "One.\n\nTwo.",
		}
		if flag("extract") {
			n.Extract = []llm.Field{{Name: "v", Type: llm.FieldString}, {Name: "n", Type: llm.FieldInteger}}
		}
		if n.Type == graph.NodeWebhook {
			call, err := request.Source{URL: "https://example.com/", Variables: []request.Mapping{{Name: "v", Path: "$.v"}}}.Parse()
			if err != nil {
				t.Fatal(err)
			}
			n.Request = call
		}
		g.Nodes[n.ID], all = n, append(all, n)
		if n.Global {
			g.Globals = append(g.Globals, n)
		}
	}
	g.Start = all[0]
	for i := range rapid.IntRange(0, 12).Draw(t, "edges") {
		from, to := rapid.SampledFrom(all).Draw(t, "from"), rapid.SampledFrom(all).Draw(t, "target")
		from.Edges = append(from.Edges, &graph.Edge{ID: fmt.Sprint("e", i), To: to, Label: anyText(t, "edge"), Always: flag("always")})
		if from.Type == graph.NodeWebhook && flag("branch") {
			from.Branches = append(from.Branches, graph.Branch{Variable: "v", Operator: graph.OpNotEqual, Value: anyText(t, "value"), To: to})
		}
	}
	return g
}

// fickle simulates a model and other systems whose random answers depend only on the seed. Some of its failures also cancel the turn's
// context.
type fickle struct {
	*rand.Rand
	end context.CancelFunc
}

func (f *fickle) failure() error {
	switch f.IntN(20) {
	case 0:
		return &llm.Failure{Class: llm.ClassPermanent, Message: "no"}
	case 1:
		return &llm.Failure{Class: llm.ClassUnsupported, Message: "no"}
	case 2:
		f.end()
		return context.Canceled
	default:
		return nil
	}
}

func (f *fickle) says(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
	var parts []llm.ReplyPart
	for range f.IntN(4) {
		parts = append(parts, [...]llm.ReplyPart{
			{Text: "Hm. So"}, {Text: " what?\n"}, {Action: llm.ActionEnd}, {Action: llm.ActionTransfer}, {Expect: []string{"x"}},
			{Call: &llm.ToolCall{ID: "1", Name: "none", Arguments: json.RawMessage("}{")}}, {Usage: &llm.Usage{Input: 1, Output: 2}},
		}[f.IntN(7)])
	}
	return parts, f.failure()
}

func (f *fickle) answers(_ context.Context, q llm.Question) (string, error) {
	if err := f.failure(); err != nil {
		return "", err
	}
	if f.IntN(4) == 0 {
		return [...]string{"", "null", "{}", `{"option":"way 1"}`, `[1]`, "way 1", `{"v":5,"n":"x"}`}[f.IntN(7)], nil
	}
	if q.Task == llm.TaskExtract {
		answer := map[string]any{}
		for _, field := range q.Fields {
			answer[field.Name] = map[llm.FieldType]any{llm.FieldString: "{{n}} <b>\u2028", llm.FieldInteger: f.IntN(1 << 60)}[field.Type]
		}
		return string(raw(answer)), nil
	}
	return string(raw(map[string]string{"reason": "so", "option": q.Options[f.IntN(len(q.Options))].ID})), nil
}

func (f *fickle) do(context.Context, request.Request) (request.Response, error) {
	if err := f.failure(); err != nil {
		return request.Response{}, err
	}
	return request.Response{Status: 200 + f.IntN(400), Body: []byte([...]string{"", "}", `{"v":{"deep":[1,2.5,"x"]}}`, `{"v":12345678901234567}`}[f.IntN(4)])}, nil
}

// anyTurn returns a random turn.
func anyTurn(t *rapid.T) conversation.Turn {
	kinds := []conversation.TurnKind{conversation.TurnStart, conversation.TurnSpeech, conversation.TurnSpeech, conversation.TurnSpeech, conversation.TurnDigits, conversation.TurnSilence}
	turn := conversation.Turn{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Interrupted: rapid.Bool().Draw(t, "interrupted")}
	if turn.Kind == conversation.TurnSpeech {
		turn.Text = rapid.SampledFrom([]string{"", "yes", "{{v}}", "\xff\u0000"}).Draw(t, "said")
	}
	if turn.Kind == conversation.TurnDigits {
		turn.Text = "5"
	}
	if turn.Interrupted {
		turn.Heard = rapid.SampledFrom([]string{"", "One.", "something else"}).Draw(t, "heard")
	}
	return turn
}

// taken records one conversation.
type taken struct {
	state pathway.State
	logs  []pathway.Log
	steps []conversation.Step
}

// TestAnyConversation checks the invariants of conversations with random graphs, turns and answers of a model, and that a conversation is
// reproducible.
func TestAnyConversation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		turns := rapid.SliceOfN(rapid.Custom(anyTurn), 1, 8).Draw(t, "turns")
		seed := rapid.Uint64().Draw(t, "seed")
		first, second := converse(t, g, turns, seed), converse(t, g, turns, seed)
		if !reflect.DeepEqual(first, second) {
			t.Errorf("the same conversation went\n%+v\nand\n%+v", first, second)
		}
	})
}

func converse(t *rapid.T, g *graph.Graph, turns []conversation.Turn, seed uint64) taken {
	f := &fickle{Rand: rand.New(rand.NewPCG(seed, 0))}
	r := &pathway.Interpreter{
		Model: &agentstest.Model{Says: f.says, Answers: f.answers}, Requests: &agentstest.Requests{Answer: f.do}, Runtime: callwright.Runtime{Clock: &clock{now: time.Unix(0, 0).UTC()}},
	}
	a := pathway.Agent{FirstSentence: "Hello {{v}}.", TransferTo: []string{"", "+15550111"}[f.IntN(2)]}
	out := taken{state: pathway.Begin(map[string]any{"x": 1}, "")}
	for _, turn := range turns {
		ctx, cancel := context.WithCancel(t.Context())
		f.end = cancel
		before := string(raw(out.state))
		most := f.IntN(12)
		wanted := true
		next, log, err := r.Step(ctx, g, a, out.state, turn, func(s conversation.Step) bool {
			if !wanted {
				t.Error("a step comes after the last that was wanted")
			}
			possible(t, s)
			out.steps = append(out.steps, s)
			most--
			wanted = most != 0
			return wanted
		})
		cancel()
		if after := string(raw(out.state)); after != before {
			t.Errorf("the state that was given\n%s\nbecame\n%s", before, after)
		}
		wasOver := out.state.Over
		out.state = next
		for i := range log.Entries {
			if log.Entries[i].Request != nil {
				log.Entries[i].Request.Duration = 0 // the only value that the fake clock does not determine
			}
		}
		out.logs = append(out.logs, log)
		out.holds(t, g, log, err, wasOver)
	}
	return out
}

// possible checks that a call can perform a step: words are not blank, and digits and transfer targets are valid.
func possible(t *rapid.T, s conversation.Step) {
	switch s := s.(type) {
	case conversation.Say:
		if strings.TrimSpace(s.Text) == "" {
			t.Error("it says nothing")
		}
	case conversation.Press:
		if s.Digits == "" || strings.Trim(s.Digits, "0123456789ABCD*#w") != "" {
			t.Errorf("it presses %q", s.Digits)
		}
	case conversation.Transfer:
		if s.To != "+15550100" && s.To != "+15550111" && s.To != "12345678901234567" {
			t.Errorf("it transfers to %q", s.To)
		}
	}
}

// holds checks the invariants of a conversation after a turn.
func (c taken) holds(t *rapid.T, g *graph.Graph, log pathway.Log, err error, wasOver bool) {
	s := c.state
	for _, id := range append(slices.Clone(s.Visited), s.Node, s.Return) {
		if id != "" && g.Node(id) == nil {
			t.Errorf("there is no node %q", id)
		}
	}
	visits := 0
	for _, e := range log.Entries {
		if e.Kind == pathway.LogVisit {
			visits++
		}
		if e.Kind == pathway.LogDecision && g.Node(e.Chosen) == nil {
			t.Errorf("the log has a decision for %q", e.Chosen)
		}
	}
	if visits > pathway.MaxVisits || log.Node != s.Node && log.Turn > 0 {
		t.Errorf("%d visits, the log is about %q, the state is at %q", visits, log.Node, s.Node)
	}
	if s.Node == "" && len(s.Visited) > 0 {
		t.Error("it is nowhere")
	}
	_, isFailure := errors.AsType[*llm.Failure](err)
	switch code := callwright.CodeOf(err); {
	case err == nil, isFailure && s.Over, code == callwright.CodeUnavailable, code == callwright.CodeInvalidState && wasOver:
	default:
		t.Errorf("the error is %v, the state %+v", err, s)
	}
	keeps(t, s)
}
