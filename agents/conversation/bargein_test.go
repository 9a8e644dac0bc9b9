package conversation_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/sounds"
)

const story = "This is a very long sentence that nobody wants to hear to its end."

// chatty returns a brain that tells a long story first, and says goodbye after the caller's next turn.
func chatty() *brain {
	return &brain{answer: func(turn conversation.Turn) []conversation.Step {
		if turn.Kind == conversation.TurnStart {
			return say(story, "And another one.", "And a third.")
		}
		return append(say("All right."), conversation.End{})
	}}
}

// lastSound returns the time of the last sound that the phone heard in the given period, or 0 if it heard none.
func lastSound(p *agentstest.Phone, from, to time.Duration) time.Duration {
	played := p.Played()
	for i := min(len(played), int(to.Milliseconds())*8) - 1; i >= int(from.Milliseconds())*8; i-- {
		if played[i] != 0 {
			return time.Duration(i/8) * time.Millisecond
		}
	}
	return 0
}

func TestBargeIn(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{
		"in the first sentence":  1500 * time.Millisecond,
		"in the second sentence": 4700 * time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := chatty()
			var began time.Duration
			r := run(t, conversation.Config{}, b, func(ctx context.Context, p *agentstest.Phone) {
				must(t, p.WaitElapsed(ctx, after))
				began = p.Elapsed()
				p.Say("stop it please")
			})
			if r.err != nil || r.outcome.By != conversation.ByAgent {
				t.Fatalf("outcome %+v, %v", r.outcome, r.err)
			}
			silent := lastSound(r.phone, 0, began+800*time.Millisecond)
			const insist = 200 * time.Millisecond
			if silent < began+insist-20*time.Millisecond || silent > began+insist+60*time.Millisecond {
				t.Errorf("the caller broke in at %s, and the agent was silent at %s", began, silent)
			}
			turns := b.asked()
			if len(turns) != 2 || !turns[1].Interrupted || turns[1].Text != "stop it please" {
				t.Fatalf("turns %+v", turns)
			}
			whole := story + "And another one.And a third."
			heard := strings.TrimSuffix(r.phone.Heard(), "All right.")
			if !strings.HasPrefix(whole, heard) || heard == whole {
				t.Errorf("the phone heard %q", heard)
			}
			cut := strings.ReplaceAll(turns[1].Heard, ". And", ".And")
			if !strings.HasPrefix(heard, cut) || len(heard)-len(cut) > 9 {
				t.Errorf("the brain is told %q, the phone heard %q", cut, heard)
			}
			expectLines(t, r, "agent: "+turns[1].Heard+" [interrupted]", "caller: stop it please", "agent: All right.")
		})
	}
}

// TestBargeInOnStubbornBrain checks that an interruption silences the agent even if the brain stops late, and that the caller's words
// become the next turn.
func TestBargeInOnStubbornBrain(t *testing.T) {
	t.Parallel()
	b := chatty()
	var began time.Duration
	r := run(t, conversation.Config{}, stubborn{b}, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, 1500*time.Millisecond))
		began = p.Elapsed()
		p.Say("stop it please")
	})
	if silent := lastSound(r.phone, 0, began+2*time.Second); silent > began+260*time.Millisecond {
		t.Errorf("the caller broke in at %s, and the agent was silent at %s", began, silent)
	}
	if turns := b.asked(); len(turns) != 2 || turns[1].Text != "stop it please" || !turns[1].Interrupted {
		t.Errorf("turns %+v", turns)
	}
}

// TestInterruptedOnce checks that only the turn after an interruption reports it.
func TestInterruptedOnce(t *testing.T) {
	t.Parallel()
	b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
		switch turn.Text {
		case "":
			return say(story)
		case "bye":
			return []conversation.Step{conversation.End{}}
		default:
			return say("Yes?")
		}
	}}
	run(t, conversation.Config{}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, 1500*time.Millisecond))
		p.Say("listen")
		must(t, p.WaitHeard(ctx, "Yes?"))
		must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
		p.Say("bye")
	})
	turns := b.asked()
	if len(turns) != 3 || !turns[1].Interrupted || turns[1].Heard == "" || turns[2].Interrupted || turns[2].Heard != "" {
		t.Errorf("turns %+v", turns)
	}
}

// TestInterruptionThreshold checks that speech shorter than Config.Interruption does not interrupt the agent.
func TestInterruptionThreshold(t *testing.T) {
	t.Parallel()
	b := chatty()
	r := run(t, conversation.Config{Interruption: 900 * time.Millisecond, Silence: time.Second}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, time.Second))
		p.Say("all fine yes") // lasts 720 ms
	})
	if turns := b.asked(); len(turns) != 2 || turns[1].Kind != conversation.TurnSilence || turns[1].Interrupted {
		t.Errorf("turns %+v", turns)
	}
	expectLines(t, r, "agent: "+story+" And another one. And a third.", "caller: all fine yes", "agent: All right.")
}

// TestBriefStop checks that a request to stop cuts the answer, although its voice is too short to pause the agent, and that other words so
// short do not.
func TestBriefStop(t *testing.T) {
	t.Parallel()
	for name, engine := range map[string]conversation.Recognizer{
		"batch": &agentstest.Recognizer{}, "partial texts": &agentstest.StreamingRecognizer{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := chatty()
			var began time.Duration
			r := run(t, conversation.Config{Recognizer: engine, Interruption: 900 * time.Millisecond}, b, func(ctx context.Context, p *agentstest.Phone) {
				must(t, p.WaitElapsed(ctx, time.Second))
				p.Say("two")
				must(t, p.WaitElapsed(ctx, 2500*time.Millisecond))
				began = p.Elapsed()
				p.Say("stop")
			})
			if silent := lastSound(r.phone, 0, began+700*time.Millisecond); silent < began || silent > began+650*time.Millisecond {
				t.Errorf("the caller broke in at %s, and the agent was silent at %s", began, silent)
			}
			turns := b.asked()
			if len(turns) != 2 || !turns[1].Interrupted || turns[1].Text != "stop" {
				t.Fatalf("turns %+v", turns)
			}
			expectLines(t, r, "agent: "+turns[1].Heard+" [interrupted]", "caller: two", "caller: stop", "agent: All right.")
		})
	}
}

// TestBackchannel checks that a short sound neither interrupts nor becomes a turn.
func TestBackchannel(t *testing.T) {
	t.Parallel()
	b := chatty()
	r := run(t, conversation.Config{Silence: time.Second}, b, func(ctx context.Context, p *agentstest.Phone) {
		for range 4 {
			must(t, p.WaitElapsed(ctx, p.Elapsed()+time.Second))
			p.Say("mm")
		}
	})
	expectLines(t, r, "agent: "+story+" And another one. And a third.", "caller: mm", "caller: mm", "caller: mm", "caller: mm", "agent: All right.")
}

// TestShortAnswerAtTheEnd checks that a word of the caller that begins before the agent has finished is answered.
func TestShortAnswerAtTheEnd(t *testing.T) {
	t.Parallel()
	b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
		if turn.Kind == conversation.TurnStart {
			return say("Is that right?")
		}
		return append(say("Good."), conversation.End{})
	}}
	r := run(t, conversation.Config{}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitHeard(ctx, "right"))
		p.Say("yes")
	})
	expectLines(t, r, "agent: Is that right?", "caller: yes", "agent: Good.")
}

// echoing is a leg whose phone returns the received audio, softer and delayed.
type echoing struct {
	*agentstest.Leg
	gain  float64
	past  [][]int16
	delay int // in frames
}

func (e *echoing) Read(ctx context.Context) (conversation.Frame, error) {
	f, err := e.Leg.Read(ctx)
	if err != nil {
		return f, err
	}
	e.past = append(e.past, append(make([]int16, 0, len(f.In)), f.Out...))
	if n := len(e.past) - 1 - e.delay; n >= 0 {
		for i, s := range e.past[n] {
			f.In[i] = sounds.Clip(float64(f.In[i]) + e.gain*float64(s))
		}
	}
	return f, nil
}

func TestEcho(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gain  float64
		guard time.Duration
	}{
		"a loud echo while the peer learns": {0.3, 10 * time.Second},
		"what is left of it later":          {0.02, 400 * time.Millisecond},
		"an echo that never goes":           {0.3, 400 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := chatty()
			r := runOn(t, conversation.Config{EchoGuard: c.guard, Silence: time.Second}, b,
				func(context.Context, *agentstest.Phone) {},
				func(l *agentstest.Leg) conversation.Audio { return &echoing{Leg: l, gain: c.gain, delay: 5} })
			if turns := b.asked(); len(turns) < 2 || turns[1].Interrupted {
				t.Errorf("turns %+v, transcript %v", turns, r.lines)
			}
		})
	}
	t.Run("a caller louder than the echo", func(t *testing.T) {
		t.Parallel()
		b := chatty()
		runOn(t, conversation.Config{EchoGuard: 10 * time.Second}, b, func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitElapsed(ctx, 500*time.Millisecond))
			p.Say("stop it please")
		}, func(l *agentstest.Leg) conversation.Audio { return &echoing{Leg: l, gain: 0.3, delay: 5} })
		if turns := b.asked(); len(turns) < 2 || !turns[1].Interrupted {
			t.Errorf("turns %+v", turns)
		}
	})
}

// TestCallerGoesOn checks that a caller who pauses longer than EndOfTurn, and continues before the agent speaks, receives one answer to all
// words.
func TestCallerGoesOn(t *testing.T) {
	t.Parallel()
	answerAll := func(turn conversation.Turn) []conversation.Step {
		if turn.Kind == conversation.TurnStart {
			return nil
		}
		return append(say("Fine."), conversation.End{})
	}
	caller := func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, 500*time.Millisecond))
		p.Say("my number")
		p.Play(make([]int16, 8000*7/10))
		p.Say("is eleven")
	}
	t.Run("while the recognizer works", func(t *testing.T) {
		t.Parallel()
		b := &brain{answer: answerAll}
		r := run(t, conversation.Config{Recognizer: &agentstest.Recognizer{Delay: 1500 * time.Millisecond}}, b, caller)
		if turns := b.asked(); len(turns) != 2 || turns[1].Text != "my number is eleven" || turns[1].Interrupted {
			t.Errorf("turns %+v", turns)
		}
		expectLines(t, r, "caller: my number is eleven", "agent: Fine.")
	})
	t.Run("while the brain thinks", func(t *testing.T) {
		t.Parallel()
		b := &brain{answer: answerAll, delay: time.Second}
		r := run(t, conversation.Config{}, b, caller)
		turns := b.asked()
		if len(turns) != 3 || turns[1].Text != "my number" || turns[2].Text != "is eleven" || !turns[2].Interrupted || turns[2].Heard != "" {
			t.Errorf("turns %+v", turns)
		}
		expectLines(t, r, "caller: my number", "caller: is eleven", "agent: Fine.")
	})
}
