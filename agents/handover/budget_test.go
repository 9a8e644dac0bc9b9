package handover_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/handover"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agents/prompted"
)

// talker returns a model that always says the same, and always chooses the last option.
func talker() *agentstest.Model {
	return &agentstest.Model{
		Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
			return agentstest.Texts("So. And?"), nil
		},
		Answers: func(_ context.Context, q llm.Question) (string, error) {
			return fmt.Sprintf(`{"reason":"so","option":%q}`, q.Options[len(q.Options)-1].ID), nil
		},
	}
}

// TestBudgetOfEarlyAnswers checks that the answers withdrawn by a caller who always continues cost at most half a model call per turn on
// average, and that the logs count every request to the model.
func TestBudgetOfEarlyAnswers(t *testing.T) {
	t.Parallel()
	task := prompted.Config{Task: "Talk.", FirstSentence: "Hello."}
	conditions := []persona.Condition{{When: "the caller wants a day", Pathway: "booking"}}
	for name, c := range map[string]struct {
		calls    int // model calls of one answer
		newBrain func(m llm.Model, observe func(pathway.Log)) (conversation.EarlyBrain, error)
	}{
		"task": {1, func(m llm.Model, observe func(pathway.Log)) (conversation.EarlyBrain, error) {
			task := task
			task.Model = m
			b, err := prompted.New(task)
			return logged{b, observe}, err
		}},
		"task with conditions": {2, func(m llm.Model, observe func(pathway.Log)) (conversation.EarlyBrain, error) {
			task := task
			task.Model = m
			return handover.New(handover.Config{
				Task: task, Conditions: conditions, Load: func(context.Context, string) (*graph.Graph, error) { return booking(t), nil },
				Observer: func(l pathway.Log, _ *graph.Graph) { observe(l) },
			})
		}},
		"pathway": {1, func(m llm.Model, observe func(pathway.Log)) (conversation.EarlyBrain, error) {
			return pathway.NewBrain(pathway.BrainConfig{Interpreter: &pathway.Interpreter{Model: m}, Graph: booking(t), Observer: observe})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := talker()
			var sum pathway.Log
			b, err := c.newBrain(m, func(l pathway.Log) {
				sum.ModelCalls += l.ModelCalls
				sum.Withdrawn = sum.Withdrawn.Add(l.Withdrawn)
			})
			if err != nil {
				t.Fatal(err)
			}
			answer(t, b, conversation.Turn{Kind: conversation.TurnStart})
			const turns = 60
			for n := range turns {
				turn := conversation.Turn{Kind: conversation.TurnSpeech, Text: "well"}
				for range 3 {
					if turn.Text += " and so on"; b.AnswersEarly() {
						turn.Early = new(conversation.Early)
						answer(t, b, turn, func() { turn.Early.Decide(false) })
					}
				}
				turn.Early = nil
				answer(t, b, turn)
				if extra := sum.Withdrawn.ModelCalls; 2*extra > n+2+2*c.calls {
					t.Fatalf("after %d turns, the withdrawn answers have cost %d model calls", n+1, extra)
				}
			}
			made := len(m.Requests()) + len(m.Questions())
			if made != sum.ModelCalls+sum.Withdrawn.ModelCalls || sum.ModelCalls != c.calls*turns || sum.Withdrawn.ModelCalls < turns/2-2*c.calls {
				t.Errorf("the model has received %d requests; %d were logged, and %+v", made, sum.ModelCalls, sum.Withdrawn)
			}
		})
	}
}

// logged is a prompted.Brain whose turns are logged like those of the other brains.
type logged struct {
	*prompted.Brain
	observe func(pathway.Log)
}

func (l logged) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		l.Brain.Respond(ctx, t)(yield)
		if t.Withdraw() {
			l.observe(pathway.Log{Withdrawn: pathway.Withdrawn{Answers: 1, ModelCalls: l.ModelCalls()}})
		} else {
			l.observe(pathway.Log{Turn: 1, ModelCalls: l.ModelCalls()})
		}
	}
}

// answer lets a brain answer a turn. The functions are called after the first step.
func answer(t *testing.T, b conversation.Brain, turn conversation.Turn, then ...func()) {
	t.Helper()
	steps := 0
	for _, err := range b.Respond(t.Context(), turn) {
		if err != nil {
			t.Error(err)
		}
		if steps++; steps == 1 {
			for _, f := range then {
				f()
			}
		}
	}
}
