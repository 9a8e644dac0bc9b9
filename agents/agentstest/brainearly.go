package agentstest

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/conversation"
)

// decision describes how and when an early turn is decided.
type decision struct {
	name    string
	certain bool
	at      int // index of the step at which do is called; -1 means before the answer
	do      func(e *conversation.Early, end context.CancelFunc)
	stops   bool // whether the answer is stopped at the step
}

func (d decision) String() string { return fmt.Sprintf("%s, step %d", d.name, d.at) }

func withdraw(e *conversation.Early, _ context.CancelFunc)         { e.Decide(false) }
func withdrawAside(e *conversation.Early, _ context.CancelFunc)    { go e.Decide(false) }
func endContext(_ *conversation.Early, end context.CancelFunc)     { end() }
func makeCertain(e *conversation.Early, _ context.CancelFunc)      { e.Decide(true) }
func decideNothing(_ *conversation.Early, _ context.CancelFunc)    {}
func makeAsideCertain(e *conversation.Early, _ context.CancelFunc) { go e.Decide(true) }

// withdrawals lists the ways to withdraw a turn. "late" withdraws it while Commit waits.
var withdrawals = []decision{
	{name: "withdrawn", at: -1, do: withdraw},
	{name: "withdrawn", at: 0, do: withdraw},
	{name: "withdrawn", at: 1, do: withdraw},
	{name: "withdrawn meanwhile", at: -1, do: withdrawAside},
	{name: "withdrawn meanwhile", at: 0, do: withdrawAside},
	{name: "withdrawn late", at: 0, do: decideNothing},
	{name: "stopped", at: 0, do: decideNothing, stops: true},
	{name: "stopped", at: 1, do: decideNothing, stops: true},
	{name: "context ends", at: -1, do: endContext},
	{name: "context ends", at: 0, do: endContext},
}

// certainties lists the ways to make a turn certain.
var certainties = []decision{
	{name: "certain", certain: true, at: -1, do: makeCertain},
	{name: "certain", certain: true, at: 0, do: makeCertain},
	{name: "certain meanwhile", certain: true, at: 0, do: makeAsideCertain},
	{name: "certain late", certain: true, at: 0, do: decideNothing},
}

// undecided is the time after which an early turn is decided if it is still undecided. The result of a test does not depend on it.
const undecided = 2 * time.Millisecond

// respondEarly runs an early turn and returns the steps of its answer. It checks that no error and no step with an effect comes unless the
// turn becomes certain, and none of them before do is called.
func respondEarly(t testing.TB, b conversation.Brain, turn conversation.Turn, d decision) (steps []string) {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), brainTime)
	defer end()
	e := new(conversation.Early)
	turn.Early = e
	defer time.AfterFunc(undecided, func() { e.Decide(d.certain) }).Stop()
	if d.at < 0 {
		d.do(e, end)
	}
	for step, err := range b.Respond(ctx, turn) {
		if err != nil {
			t.Errorf("%s: %+v is answered with %v", d, turn, err)
			continue
		}
		if !withdrawable(step) && !d.certain {
			t.Errorf("%s: %+v is answered with %#v", d, turn, step)
		}
		steps = append(steps, fmt.Sprintf("%#v", step))
		if len(steps) != d.at+1 {
			continue
		}
		if d.do(e, end); d.stops {
			break
		}
	}
	return steps
}

// withdrawable reports whether a brain may yield a step before the turn is certain.
func withdrawable(s conversation.Step) bool {
	switch s.(type) {
	case conversation.Say, conversation.Expect, conversation.BargeIn, conversation.Wait:
		return true
	default:
		return false
	}
}

// steps returns the steps of an answer to a turn that is not early. Unless most is 0, it stops the answer after that number of steps.
func steps(t testing.TB, b conversation.Brain, turn conversation.Turn, most int) (out []string) {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), brainTime)
	defer end()
	for step, err := range b.Respond(ctx, turn) {
		if err != nil {
			t.Errorf("%+v is answered with %v", turn, err)
			continue
		}
		if out = append(out, fmt.Sprintf("%#v", step)); len(out) == most {
			break
		}
	}
	return out
}

// ends reports whether a result of steps is an End or a Transfer.
func ends(step string) bool {
	return strings.HasPrefix(step, fmt.Sprintf("%T{", conversation.End{})) || strings.HasPrefix(step, fmt.Sprintf("%T{", conversation.Transfer{}))
}

// runEarlyBrain tests the early turns of an EarlyBrain that answers equal turns equally.
func runEarlyBrain(t *testing.T, newBrain func(t *testing.T) conversation.EarlyBrain) {
	t.Helper()
	begun := func(t *testing.T) (b conversation.EarlyBrain, said string) {
		t.Helper()
		b = newBrain(t)
		said = respond(t, b, conversation.Turn{Kind: conversation.TurnStart})
		if !b.AnswersEarly() {
			t.Fatal("after its first words, it does not answer early")
		}
		return b, said
	}
	short := conversation.Turn{Kind: conversation.TurnSpeech, Text: "Hello."}
	long := conversation.Turn{Kind: conversation.TurnSpeech, Text: "Hello. Is that all?"}
	next := conversation.Turn{Kind: conversation.TurnSpeech, Text: "No."}
	interrupt := func(turn conversation.Turn, said string) conversation.Turn {
		turn.Interrupted, turn.Heard = true, strings.Fields(said)[0]
		return turn
	}
	t.Run("Withdrawn", func(t *testing.T) {
		for _, d := range withdrawals {
			for _, interrupted := range []bool{false, true} {
				b, said := begun(t)
				fresh, _ := begun(t)
				short, long := short, long
				if interrupted {
					short, long = interrupt(short, said), interrupt(long, said)
				}
				respondEarly(t, b, short, d)
				for _, turn := range []conversation.Turn{long, next} {
					if got, want := steps(t, b, turn, 0), steps(t, fresh, turn, 0); !slices.Equal(got, want) {
						t.Errorf("%s: then %+v is answered with\n%s, want\n%s", d, turn, got, want)
					}
				}
			}
		}
	})
	t.Run("Certain", func(t *testing.T) {
		for _, d := range certainties {
			b, _ := begun(t)
			fresh, _ := begun(t)
			if got, want := respondEarly(t, b, short, d), steps(t, fresh, short, 0); !slices.Equal(got, want) {
				t.Errorf("%s: the answer is\n%s, want\n%s", d, got, want)
			}
			if got, want := steps(t, b, next, 0), steps(t, fresh, next, 0); !slices.Equal(got, want) {
				t.Errorf("%s: the next answer is\n%s, want\n%s", d, got, want)
			}
		}
	})
	t.Run("StoppedWhenCertain", func(t *testing.T) {
		b, _ := begun(t)
		fresh, _ := begun(t)
		respondEarly(t, b, short, decision{name: "certain", certain: true, do: makeCertain, stops: true})
		steps(t, fresh, short, 1)
		next := next
		next.Interrupted = true
		if got, want := steps(t, b, next, 0), steps(t, fresh, next, 0); !slices.Equal(got, want) {
			t.Errorf("the next answer is\n%s, want\n%s", got, want)
		}
	})
	t.Run("AnyWithdrawals", func(t *testing.T) {
		for seed := range uint64(20) {
			fresh := conversation.Brain(newBrain(t))
			hesitant := Hesitate(t, newBrain(t), seed)
			for _, turn := range anyTurns(seed) {
				got, want := steps(t, hesitant, turn, 0), steps(t, fresh, turn, 0)
				if !slices.Equal(got, want) {
					t.Errorf("seed %d: %+v is answered with\n%s, want\n%s", seed, turn, got, want)
				}
				if slices.ContainsFunc(want, ends) {
					break
				}
			}
		}
	})
}

// anyTurns returns a start and random turns after it.
func anyTurns(seed uint64) []conversation.Turn {
	random := rand.New(rand.NewPCG(seed, 1))
	turns := []conversation.Turn{{Kind: conversation.TurnStart}}
	for range 6 {
		turn := conversation.Turn{Kind: conversation.TurnSpeech, Text: "Well, I mean yes please."}
		switch random.IntN(6) {
		case 0:
			turn = conversation.Turn{Kind: conversation.TurnSilence}
		case 1:
			turn = conversation.Turn{Kind: conversation.TurnDigits, Text: "12"}
		case 2:
			turn.Interrupted = true
		}
		turns = append(turns, turn)
	}
	return turns
}

// hesitant is the brain of Hesitate.
type hesitant struct {
	brain  conversation.EarlyBrain
	t      testing.TB
	random *rand.Rand
}

// Hesitate returns a brain whose caller hesitates: before it answers a turn of speech like b, it begins early answers to the first words of
// the turn, and withdraws them. The seed determines how many, and how they are withdrawn. Some of its answers are early turns that become
// certain. An answer of b with an effect before a turn is certain fails the test. The calls and the state of b after each turn must equal
// those of the same brain without Hesitate.
func Hesitate(t testing.TB, b conversation.EarlyBrain, seed uint64) conversation.Brain {
	return &hesitant{b, t, rand.New(rand.NewPCG(seed, 2))}
}

// Respond implements conversation.Brain.
func (h *hesitant) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	words := strings.Fields(t.Text)
	if t.Kind != conversation.TurnSpeech || len(words) == 0 {
		return h.brain.Respond(ctx, t)
	}
	for range h.random.IntN(4) {
		if !h.brain.AnswersEarly() {
			break
		}
		begun := t
		begun.Text = strings.Join(words[:1+h.random.IntN(len(words))], " ")
		respondEarly(h.t, h.brain, begun, withdrawals[h.random.IntN(len(withdrawals))])
	}
	if h.brain.AnswersEarly() && h.random.IntN(2) == 0 {
		t.Early = new(conversation.Early)
		go t.Early.Decide(true)
	}
	return h.brain.Respond(ctx, t)
}
