package conversation_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
)

var oneMoment = conversation.Filler{After: 4 * time.Second, Text: "One moment."}

// slow returns a brain that greets, and answers each turn of speech with the steps, each after 6 s.
func slow(steps ...conversation.Step) *brain {
	return &brain{answer: func(turn conversation.Turn) []conversation.Step {
		switch {
		case turn.Kind == conversation.TurnStart:
			return say("Hello.")
		case turn.Text == "bye", turn.Kind == conversation.TurnSilence:
			return []conversation.Step{conversation.End{}}
		default:
			return append(slices.Clone(steps), conversation.End{})
		}
	}, delay: 6 * time.Second}
}

// asks is a caller who says something when the agent has greeted.
func asks(t *testing.T) callerFunc {
	return func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitHeard(ctx, "Hello"))
		must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
		p.Say("how much is it")
	}
}

// TestFiller checks that the agent says the filler once if the brain owes the next words for the configured time, and not before its first
// sentence.
func TestFiller(t *testing.T) {
	t.Parallel()
	r := run(t, conversation.Config{Filler: oneMoment}, slow(say("Let me see.", "Five.", "Six.")...), asks(t))
	expectLines(t, r, "agent: Hello.", "caller: how much is it", "agent: One moment. Let me see. Five. Six.")
	if at := r.entries[2].Start - r.entries[1].End; at < 4*time.Second || at > 6*time.Second {
		t.Errorf("the filler came after %s", at)
	}
	between := &brain{answer: func(turn conversation.Turn) []conversation.Step {
		if turn.Kind == conversation.TurnStart {
			return say("Hello.")
		}
		return []conversation.Step{conversation.Say{Text: "Let me see."}, conversation.Say{Text: "Five."}, conversation.End{}}
	}, delay: 3400 * time.Millisecond}
	r = run(t, conversation.Config{Filler: oneMoment}, between, asks(t))
	expectLines(t, r, "agent: Hello.", "caller: how much is it", "agent: Let me see. Five.")
	r = run(t, conversation.Config{Filler: conversation.Filler{Text: "One moment."}}, slow(say("Five.")...), asks(t))
	expectLines(t, r, "agent: Hello.", "caller: how much is it", "agent: Five.")
}

// TestFillerAfterWords checks that the filler also bridges the time of a tool, after words that announce it.
func TestFillerAfterWords(t *testing.T) {
	t.Parallel()
	b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
		if turn.Kind == conversation.TurnStart {
			return say("Hello.")
		}
		hint := conversation.Expect{}
		return []conversation.Step{conversation.Say{Text: "I am looking."}, hint, hint, hint, conversation.Say{Text: "Five."}, conversation.End{}}
	}, delay: 1900 * time.Millisecond}
	filler := oneMoment
	filler.After = 3500 * time.Millisecond
	r := run(t, conversation.Config{Filler: filler}, b, asks(t))
	expectLines(t, r, "agent: Hello.", "caller: how much is it", "agent: I am looking. One moment. Five.")
}

// TestFillerIsNotHeardByTheBrain checks that an interrupted answer is told without the filler, which the brain does not know.
func TestFillerIsNotHeardByTheBrain(t *testing.T) {
	t.Parallel()
	for until, want := range map[string]string{"One": "", "long story": "This is"} {
		b := slow(say("This is a long story that goes on and on and on until you stop me.")...)
		r := run(t, conversation.Config{Filler: oneMoment}, b, func(ctx context.Context, p *agentstest.Phone) {
			asks(t)(ctx, p)
			must(t, p.WaitHeard(ctx, until))
			p.Say("stop it right now please")
		})
		turns := b.asked()
		if len(turns) < 3 || !turns[2].Interrupted || strings.Contains(turns[2].Heard, "moment") || !strings.HasPrefix(turns[2].Heard, want) || (want == "") != (turns[2].Heard == "") {
			t.Errorf("%q: the turns are %+v; %q", until, turns, r.lines)
		}
	}
}

// TestFailureAfterFiller checks that the agent apologizes for the failure of a brain that has said nothing but the filler.
func TestFailureAfterFiller(t *testing.T) {
	t.Parallel()
	b := &brain{delay: 6 * time.Second, answer: func(turn conversation.Turn) []conversation.Step {
		if turn.Kind == conversation.TurnStart {
			return say("Hello.")
		}
		return []conversation.Step{conversation.Expect{}}
	}}
	r := run(t, conversation.Config{Filler: oneMoment, Apology: "Sorry."}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitHeard(ctx, "Hello"))
		b.mu.Lock()
		b.err = errors.New("broken")
		b.mu.Unlock()
		asks(t)(ctx, p)
	})
	if r.outcome.By != conversation.ByFailure {
		t.Errorf("the outcome is %+v", r.outcome)
	}
	expectLines(t, r, "agent: Hello.", "caller: how much is it", "agent: One moment.", "agent: Sorry.")
}

// TestWait checks that the brain's Wait postpones the next TurnSilence, and only that one.
func TestWait(t *testing.T) {
	t.Parallel()
	b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
		switch {
		case turn.Kind == conversation.TurnStart:
			return say("Hello.")
		case turn.Kind == conversation.TurnSpeech:
			return append(say("Take your time."), conversation.Wait{For: time.Minute})
		default:
			return say("Still there?")
		}
	}}
	r := runFor(t, conversation.Config{}, b, 90*time.Second, asks(t))
	if len(r.entries) < 5 {
		t.Fatalf("the transcript is %q", r.lines)
	}
	for i, want := range []time.Duration{3: time.Minute, 4: 10 * time.Second} {
		if gap := r.entries[max(i, 1)].Start - r.entries[max(i, 1)-1].End; want > 0 && (gap < want || gap > want+200*time.Millisecond) {
			t.Errorf("%q comes after %s, want %s", r.lines[i], gap, want)
		}
	}
}
