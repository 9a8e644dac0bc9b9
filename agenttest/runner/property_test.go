package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
	"github.com/callwright/callwright/agents/tool"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/runner"
	"github.com/callwright/callwright/agenttest/scenario"
)

// one is a Versions that returns the same graph for every version.
type one struct{ *graph.Graph }

func (o one) LoadPinned(context.Context, callwright.OrgID, string, int) (*graph.Graph, error) {
	return o.Graph, nil
}

// clock is a clock that advances by a second with each reading.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time {
	c.now = c.now.Add(time.Second)
	return c.now
}

// anyGraph draws a graph of one to six nodes, of all types except graph.NodeWait, with random edges.
func anyGraph(t *rapid.T) *graph.Graph {
	flag := func(what string) bool { return rapid.IntRange(0, 3).Draw(t, what) == 0 }
	text := func(what string) *template.Template {
		if s := rapid.SampledFrom([]string{"", "One. {{v}}", "{{v}}", "+15550100", "5#"}).Draw(t, what); s != "" {
			return template.Parse(s)
		}
		return nil
	}
	g := &graph.Graph{Nodes: map[string]*graph.Node{}}
	var all []*graph.Node
	for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		n := &graph.Node{
			ID: fmt.Sprint("n", i), Type: rapid.SampledFrom([]graph.NodeType{
				graph.NodeDefault, graph.NodeDefault, graph.NodeEnd, graph.NodeTransfer, graph.NodeKnowledge, graph.NodeWebhook, graph.NodePress,
			}).Draw(t, "type"),
			Text: text("text"), Prompt: text("prompt"), Global: flag("global"), Label: text("label"), AutoReturn: flag("return"),
			Skip: flag("skip"), TransferTo: text("to"), Digits: text("digits"), Knowledge: "One.",
		}
		if flag("extract") {
			n.Extract = []llm.Field{{Name: "v", Type: llm.FieldString}}
		}
		if n.Type == graph.NodeWebhook {
			n.Request = must(request.Source{
				URL: "https://example.com/{{v}}", Body: "{{v}}", Variables: []request.Mapping{{Name: "v", Path: "$.v"}},
			}.Parse())
		}
		if flag("tools") {
			n.Tools = must(tool.NewSet([]json.RawMessage{[]byte(`{"name": "look", "description": "Looks", "url": "https://example.com/look",
				"query": {"at": "{{input.at}}"}, "input_schema": {"type": "object", "properties": {"at": {}}}}`)}))
		}
		g.Nodes[n.ID], all = n, append(all, n)
		if n.Global {
			g.Globals = append(g.Globals, n)
		}
	}
	g.Start = all[0]
	for i := range rapid.IntRange(0, 10).Draw(t, "edges") {
		from, to := rapid.SampledFrom(all).Draw(t, "from"), rapid.SampledFrom(all).Draw(t, "target")
		from.Edges = append(from.Edges, &graph.Edge{ID: fmt.Sprint("e", i), To: to, Label: text("edge"), Always: flag("always")})
	}
	return g
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// fickle returns a model with random answers and failures, which depend only on the seed. Sometimes it calls the function end, which
// cancels the turn's context.
func fickle(seed uint64, end func()) *agentstest.Model {
	random := rand.New(rand.NewPCG(seed, 0))
	fail := func() error {
		switch random.IntN(25) {
		case 0:
			return &llm.Failure{Class: llm.ClassPermanent, Message: "no"}
		case 1:
			return &llm.Failure{Class: llm.ClassUnsupported, Message: "no"}
		case 2:
			end()
			return &llm.Failure{Class: llm.ClassTransient, Message: "it has ended", Cause: context.Canceled}
		default:
			return nil
		}
	}
	return &agentstest.Model{
		Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
			parts := agentstest.Texts("Well. So.")
			for i := range random.IntN(5) {
				parts = append(parts, llm.ReplyPart{Call: &llm.ToolCall{ID: "1", Name: "look", Arguments: fmt.Appendf(nil, `{"at": %d}`, 9-i)}})
			}
			return parts, fail()
		},
		Answers: func(_ context.Context, q llm.Question) (string, error) {
			if q.Task == llm.TaskExtract {
				return []string{`{"v": "x"}`, `{"v": null}`, `{}`}[random.IntN(3)], fail()
			}
			return `{"reason": "so", "option": "` + q.Options[random.IntN(len(q.Options))].ID + `"}`, fail()
		},
	}
}

// held contains the turns and errors of a conversation.
type held struct {
	Turns  []engine.AgentTurn
	Errors []string
}

// TestAnySession checks that the turns of any conversation name only nodes of the graph, and that a repeated conversation is equal.
func TestAnySession(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g, seed := anyGraph(t), rapid.Uint64().Draw(t, "seed")
		callers := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) engine.CallerTurn {
			return engine.CallerTurn{Text: rapid.SampledFrom([]string{"", "yes", "5", "\xff"}).Draw(t, "said"), Digits: rapid.Bool().Draw(t, "keys")}
		}), 1, 8).Draw(t, "turns")
		mocks := []scenario.WebhookMock{{Node: "n1", Body: json.RawMessage(`{"v": [1]}`)}, {URL: "*=9", Fault: scenario.ConnectionError}}
		first, second := hold(t, g, seed, callers, mocks), hold(t, g, seed, callers, mocks)
		if !reflect.DeepEqual(first, second) {
			t.Errorf("the same conversation went\n%+v\nand\n%+v", first, second)
		}
	})
}

func hold(t *rapid.T, g *graph.Graph, seed uint64, callers []engine.CallerTurn, mocks []scenario.WebhookMock) (out held) {
	r := must(runner.New(runner.Config{Versions: one{g}, Runtime: callwright.Runtime{Clock: &clock{}}}))
	var cancel context.CancelFunc
	model := fickle(seed, func() { cancel() })
	s := must(r.Start(t.Context(), engine.SessionSpec{Org: "a", Pathway: "p", Version: 1, Model: model, Webhooks: mocks}))
	defer func() { _ = s.Close() }()
	over := false
	for _, in := range callers {
		var ctx context.Context
		ctx, cancel = context.WithCancel(t.Context())
		turn, err := s.Reply(ctx, in)
		ended := ctx.Err()
		cancel()
		_, failed := errors.AsType[*llm.Failure](err)
		switch {
		case over && callwright.CodeOf(err) == callwright.CodeInvalidState, err == nil && !over, failed && turn.Ended:
		case ended != nil && errors.Is(err, ended):
		default:
			t.Errorf("%+v gives the error %v, the turn is %+v", in, err, turn)
		}
		over = over || turn.Ended
		holds(t, g, turn)
		out.Turns, out.Errors = append(out.Turns, turn), append(out.Errors, fmt.Sprint(err))
	}
	return out
}

// holds checks that a turn's visits, requests and notes name nodes of the graph, that its requests are ordered, and that its variables can
// be encoded as JSON.
func holds(t *rapid.T, g *graph.Graph, turn engine.AgentTurn) {
	nodes := runner.Graph(g)
	for _, id := range turn.Visits {
		if _, ok := nodes[id]; !ok {
			t.Errorf("it has visited %q", id)
		}
	}
	before := 0
	for _, w := range turn.Webhooks {
		if w.Visit < before || w.Visit > len(turn.Visits) || w.At.IsZero() || nodes[w.Node].Name != "" || g.Nodes[w.Node] == nil {
			t.Errorf("after %d visits it has sent %+v", len(turn.Visits), w)
		}
		before = w.Visit
	}
	for _, n := range turn.Notes {
		if n.Kind == "" || n.Text == "" || n.Node != "" && g.Nodes[n.Node] == nil {
			t.Errorf("a note is %+v", n)
		}
	}
	if _, err := json.Marshal(turn.Variables); err != nil {
		t.Error(err)
	}
}
