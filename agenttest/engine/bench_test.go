package engine_test

import (
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"testing"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
)

// constant is a model that always returns the same answer and needs almost no CPU time.
type constant struct{}

var sentence = []llm.ReplyPart{{Text: "Which day would suit you?"}, {Usage: &llm.Usage{Input: 100, Output: 10}}}

func (constant) Name() string { return "constant" }

func (constant) Reply(context.Context, llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		for _, p := range sentence {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func (constant) Answer(context.Context, llm.Question) (llm.Answer, error) {
	return llm.Answer{JSON: json.RawMessage(`{"reasoning":"","verdict":"pass"}`), Usage: llm.Usage{Input: 500, Output: 50}}, nil
}

// one is an agent that calls its model once per turn.
type one struct{}

func (one) Start(_ context.Context, s engine.SessionSpec) (engine.Session, error) {
	return &oneTalk{model: s.Model}, nil
}

type oneTalk struct {
	model    llm.Model
	turn     int
	messages []llm.Message
}

var visits = [][]string{{"1"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}, {"7"}, {"8"}, {"9"}, {"9"}, {"9"}}

func (t *oneTalk) Reply(ctx context.Context, said engine.CallerTurn) (engine.AgentTurn, error) {
	t.messages = append(t.messages, llm.Message{Role: llm.RoleCaller, Text: said.Text})
	turn := engine.AgentTurn{Visits: visits[t.turn], Node: visits[t.turn][0]}
	t.turn++
	for p, err := range t.model.Reply(ctx, llm.ReplyRequest{Instructions: "Book a table, and be kind.", Messages: t.messages}) {
		if err != nil {
			return turn, err
		}
		turn.Text += p.Text
	}
	t.messages = append(t.messages, llm.Message{Role: llm.RoleAgent, Text: turn.Text})
	return turn, nil
}

func (*oneTalk) Graph() assert.Graph { return graph }
func (*oneTalk) Close() error        { return nil }

// oneJudge is a judge that calls its model once per criterion.
type oneJudge struct{ model llm.Model }

func (j oneJudge) Judge(ctx context.Context, e *assert.Evidence, c assert.Criterion) (assert.Opinion, error) {
	_, err := j.model.Answer(ctx, llm.Question{Task: llm.TaskJudge, Instructions: c.Prompt, Messages: []llm.Message{{Text: e.Turns[0].Text}}})
	return assert.Opinion{Verdict: assert.JudgePass}, err
}

// tenTurns returns a scenario of ten turns with ten assertions, two of which are judged.
func tenTurns() scenario.Scenario {
	s := scripted()
	s.MaxTurns = 10
	for i := range 10 {
		s.Messages = append(s.Messages, scenario.Message{Role: llm.RoleCaller, Text: "On day " + strconv.Itoa(i) + " of the month, please."})
	}
	s.Assertions = []assert.Assertion{judged("a", "Was it kind?"), judged("b", "Was it short?")}
	for i := range 4 {
		s.Assertions = append(s.Assertions, reached("n"+strconv.Itoa(i), strconv.Itoa(i+1)))
	}
	for i := range 2 {
		s.Assertions = append(s.Assertions,
			assert.Assertion{ID: "s" + strconv.Itoa(i), Type: assert.StringCheck, Required: true, Weight: 1, Config: json.RawMessage(`{"value":"suit you","operator":"contains","target":"transcript"}`)},
			assert.Assertion{ID: "r" + strconv.Itoa(i), Type: assert.RegexMatch, Required: true, Weight: 1, Config: json.RawMessage(`{"pattern":"day \\d+","target":"transcript"}`)},
		)
	}
	return s
}

func BenchmarkRun(b *testing.B) {
	for name, s := range map[string]scenario.Scenario{"assertions=10": tenTurns(), "assertions=0": tenTurns()} {
		if name == "assertions=0" {
			s.Assertions = nil
		}
		for _, kept := range []bool{true, false} {
			b.Run(name+"/journal="+strconv.FormatBool(kept), func(b *testing.B) {
				e := newEngine(b, engine.Config{
					Runner: one{}, Model: engine.NewLimiter(constant{}, engine.LimiterConfig{}),
					Judge: func(m llm.Model) assert.Judge { return oneJudge{m} },
				})
				b.ReportAllocs()
				for b.Loop() {
					c := engine.Case{Run: "r", Scenario: s, Budget: engine.NewBudget(engine.Limit{Tokens: 1 << 30}, nil)}
					if kept {
						c.Journal = &engine.MemoryJournal{}
					}
					o, err := e.Run(b.Context(), c)
					if err != nil || o.Verdict != engine.Passed || len(o.Turns) != 11 {
						b.Fatal(o.Verdict, o.Error, o.Results, err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/11, "µs/turn")
			})
		}
	}
}
