package engine_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// agent is a PathwayRunner whose agent says the words of its model. In its n-th turn the agent visits node n. It ends the conversation with
// the words "Goodbye."
type agent struct {
	start func(engine.SessionSpec) error
	reply func(ctx context.Context, turn int, t engine.CallerTurn) (engine.AgentTurn, error) // nil means the model's words
}

func (a agent) Start(_ context.Context, spec engine.SessionSpec) (engine.Session, error) {
	if a.start != nil {
		if err := a.start(spec); err != nil {
			return nil, err
		}
	}
	return &talk{agent: a, spec: spec}, nil
}

type talk struct {
	agent

	spec     engine.SessionSpec
	turn     int
	messages []llm.Message
}

func (t *talk) Reply(ctx context.Context, said engine.CallerTurn) (engine.AgentTurn, error) {
	t.turn++
	if t.reply != nil {
		return t.reply(ctx, t.turn, said)
	}
	if t.turn > 1 {
		t.messages = append(t.messages, llm.Message{Role: llm.RoleCaller, Text: said.Text})
	}
	node := strconv.Itoa(t.turn)
	turn := engine.AgentTurn{Node: node, Visits: []string{node}, Variables: map[string]any{"turns": int64(t.turn)}}
	got, err := agentstest.Collect(ctx, t.spec.Model, llm.ReplyRequest{Org: t.spec.Org, Messages: t.messages})
	if err != nil {
		return turn, err
	}
	t.messages = append(t.messages, llm.Message{Role: llm.RoleAgent, Text: got.Text})
	turn.Text, turn.Ended = got.Text, got.Text == "Goodbye."
	return turn, nil
}

func (t *talk) Graph() assert.Graph { return graph }

// graph contains nine nodes, each of which leads to the next.
var graph = func() assert.Graph {
	g := assert.Graph{}
	for n := range 9 {
		g[strconv.Itoa(n+1)] = assert.Node{Name: "node", Next: []string{strconv.Itoa(n + 2)}}
	}
	return g
}()

func (t *talk) Close() error { return nil }

// model returns a model that plays the agent and the caller, and judges. The words of its lines contain the number of messages. In the turn
// with the number in the argument last, the agent says goodbye. The judge fails criteria that contain "fail".
func model(last int) *agentstest.Model {
	return &agentstest.Model{
		Usage: llm.Usage{Input: 10, Output: 1},
		Says: func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
			n := len(r.Messages)
			switch {
			case r.Task == llm.TaskCaller:
				return agentstest.Texts("Caller line", " "+strconv.Itoa(n)), nil
			case n/2+1 == last:
				return agentstest.Texts("Goodbye."), nil
			default:
				return agentstest.Texts("Agent line ", strconv.Itoa(n)), nil
			}
		},
		Answers: func(_ context.Context, q llm.Question) (string, error) {
			return `{"pass":` + strconv.FormatBool(!strings.Contains(q.Instructions, "fail")) + `}`, nil
		},
	}
}

// judge is a judge that calls its model twice for each criterion.
type judge struct{ model llm.Model }

func newJudge(m llm.Model) assert.Judge { return judge{m} }

func (j judge) Judge(ctx context.Context, e *assert.Evidence, c assert.Criterion) (assert.Opinion, error) {
	o := assert.Opinion{Verdict: assert.JudgePass}
	for attempt := range 2 {
		a, err := j.model.Answer(ctx, llm.Question{
			Task: llm.TaskJudge, Instructions: c.Prompt, Messages: []llm.Message{{Text: e.Turns[0].Text}}, Attempt: attempt,
		})
		if err != nil {
			return o, err
		}
		var pass struct {
			Pass bool `json:"pass"`
		}
		if err := json.Unmarshal(a.JSON, &pass); err != nil {
			return o, err
		}
		if !pass.Pass {
			o.Verdict, o.Code, o.Reasoning = assert.JudgeFail, assert.CodeOther, "it did not"
		}
	}
	if c.Output == assert.OutputTone {
		o.Tone = &assert.Tone{Overall: 0.5}
	}
	return o, nil
}

// played returns a scenario whose caller a model plays.
func played(assertions ...assert.Assertion) scenario.Scenario {
	return scenario.Scenario{
		ID: "s", Org: "org", Pathway: "p", Kind: scenario.Agent, CallerPrompt: "You are Jo.", MaxTurns: 5, Assertions: assertions,
	}
}

// scripted returns a scenario whose caller says these lines.
func scripted(lines ...string) scenario.Scenario {
	s := scenario.Scenario{ID: "s", Org: "org", Pathway: "p", Kind: scenario.Replay, MaxTurns: 5}
	for _, l := range lines {
		s.Messages = append(s.Messages, scenario.Message{Role: llm.RoleCaller, Text: l})
	}
	return s
}

func judged(id, prompt string) assert.Assertion {
	config, err := json.Marshal(map[string]string{"prompt": prompt})
	if err != nil {
		panic(err)
	}
	return assert.Assertion{ID: id, Type: assert.LLMJudge, Config: config, Required: true, Weight: 1}
}

func reached(id, node string) assert.Assertion {
	return assert.Assertion{
		ID: id, Type: assert.NodeReached, Config: json.RawMessage(`{"node_id":"` + node + `"}`), Required: true, Weight: 1,
	}
}

func newEngine(t testing.TB, c engine.Config) *engine.Engine {
	t.Helper()
	e, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// asking is a judge whose opinions depend only on the criterion.
type asking func(assert.Criterion) assert.Opinion

func (j asking) Judge(_ context.Context, _ *assert.Evidence, c assert.Criterion) (assert.Opinion, error) {
	return j(c), nil
}
