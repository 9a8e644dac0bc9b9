package conversation_test

import (
	"context"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
)

// TestNeverInterrupted checks that, at the level NeverInterrupted, no words interrupt the agent, but a digit does. Words that are no
// acknowledgement are a turn as soon as the agent has finished.
func TestNeverInterrupted(t *testing.T) {
	t.Parallel()
	b := chatty()
	r := run(t, conversation.Config{Interruptibility: conversation.NeverInterrupted, Silence: time.Second}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, time.Second))
		p.Say("wait stop please I have a question for you")
	})
	const question = "wait stop please I have a question for you"
	if turns := b.asked(); len(turns) != 2 || turns[1].Text != question || turns[1].Interrupted {
		t.Errorf("turns %+v", turns)
	}
	expectLines(t, r, "agent: "+story+" And another one. And a third.", "caller: "+question, "agent: All right.")
	text, line, answer := r.entries[0], r.entries[1], r.entries[2]
	if line.Turn != 1 || line.Start < 900*time.Millisecond || line.Start > 1200*time.Millisecond || line.End > text.End || line.Waited != 0 ||
		len(text.Holds) != 0 || answer.Turn != 1 || answer.Latency.EndOfTurn != 500*time.Millisecond {
		t.Errorf("entries %+v", r.entries)
	}

	b = chatty()
	r = run(t, conversation.Config{Interruptibility: conversation.NeverInterrupted, Silence: time.Second}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, time.Second))
		p.Say("uh huh")
	})
	if turns := b.asked(); len(turns) != 2 || turns[1].Kind != conversation.TurnSilence {
		t.Errorf("turns after an acknowledgement %+v", turns)
	}
	expectLines(t, r, "agent: "+story+" And another one. And a third.", "caller: uh huh", "agent: All right.")
	if e := r.entries[1]; e.Turn != 0 {
		t.Errorf("the acknowledgement is %+v", e)
	}

	b = chatty()
	run(t, conversation.Config{Interruptibility: conversation.NeverInterrupted}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, time.Second))
		p.Press("5#")
	})
	if turns := b.asked(); len(turns) != 2 || turns[1].Kind != conversation.TurnDigits || !turns[1].Interrupted {
		t.Errorf("turns after a digit %+v", turns)
	}
}

// TestSpeechBeyondUninterruptibleWords checks that the caller's speech over the end of uninterruptible words is a turn, from its first word.
func TestSpeechBeyondUninterruptibleWords(t *testing.T) {
	t.Parallel()
	b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
		if turn.Kind == conversation.TurnStart {
			return say("Please hear this out.")
		}
		return append(say("Good."), conversation.End{})
	}}
	run(t, conversation.Config{Interruptibility: conversation.NeverInterrupted}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitHeard(ctx, "hear"))
		p.Say("I would like to know when you open on a sunday")
	})
	turns := b.asked()
	if len(turns) != 2 || turns[1].Interrupted || turns[1].Text != "I would like to know when you open on a sunday" {
		t.Errorf("turns %+v", turns)
	}
}

// TestImmediatelyInterrupted checks that, at the level ImmediatelyInterrupted, a back-channel interrupts the agent.
func TestImmediatelyInterrupted(t *testing.T) {
	t.Parallel()
	b := chatty()
	run(t, conversation.Config{Interruptibility: conversation.ImmediatelyInterrupted}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, time.Second))
		p.Say("yeah")
	})
	if turns := b.asked(); len(turns) != 2 || turns[1].Text != "yeah" || !turns[1].Interrupted {
		t.Errorf("turns %+v", turns)
	}
}

// TestBargeInStep checks that a BargeIn applies while the words that follow it are played, and only then.
func TestBargeInStep(t *testing.T) {
	t.Parallel()
	b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
		if turn.Kind == conversation.TurnStart {
			return []conversation.Step{
				conversation.BargeIn{Level: conversation.NeverInterrupted}, conversation.Say{Text: story},
				conversation.BargeIn{}, conversation.Say{Text: "And this one is as long as the other one was."},
			}
		}
		return append(say("All right."), conversation.End{})
	}}
	r := run(t, conversation.Config{}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, time.Second))
		p.Say("uh huh")
		must(t, p.WaitHeard(ctx, "And this"))
		p.Say("but why is that so")
	})
	turns := b.asked()
	if len(turns) != 2 || !turns[1].Interrupted || turns[1].Text != "but why is that so" {
		t.Fatalf("turns %+v, transcript %+v", turns, r)
	}
}

// TestOverheard checks that words over uninterruptible words interrupt the following words, join the caller's next turn however late they are
// recognized, and are in the transcript of a call that the agent ends.
func TestOverheard(t *testing.T) {
	t.Parallel()
	const notice, question = "This call is recorded for training and for quality.", "but can I speak to a person"
	answers := func(last ...conversation.Step) *brain {
		return &brain{answer: func(turn conversation.Turn) []conversation.Step {
			if turn.Kind != conversation.TurnStart {
				return append(say("Good."), conversation.End{})
			}
			return append([]conversation.Step{conversation.BargeIn{Level: conversation.NeverInterrupted}, conversation.Say{Text: notice}}, last...)
		}}
	}
	t.Run("interrupts the following words", func(t *testing.T) {
		t.Parallel()
		b := answers(conversation.BargeIn{}, conversation.Say{Text: "You can tell me everything about your order now."})
		r := run(t, conversation.Config{}, b, func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitHeard(ctx, "This"))
			p.Say(question)
		})
		expectLines(t, r, "agent: "+notice+" [interrupted]", "caller: "+question, "agent: Good.")
		if turns := b.asked(); len(turns) != 2 || !turns[1].Interrupted || turns[1].Heard != notice || turns[1].Text != question {
			t.Errorf("turns %+v", turns)
		}
	})
	t.Run("recognized late", func(t *testing.T) {
		t.Parallel()
		b := answers()
		r := run(t, conversation.Config{Recognizer: &agentstest.Recognizer{Delay: 5 * time.Second}}, b, func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitHeard(ctx, "This"))
			p.Say(question)
			must(t, p.WaitHeard(ctx, "quality."))
			must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
			p.Say("please")
		})
		expectLines(t, r, "agent: "+notice, "caller: "+question, "caller: please", "agent: Good.")
		if turns := b.asked(); len(turns) != 2 || turns[1].Text != question+" please" || r.entries[1].Turn != 1 || r.entries[2].Turn != 1 ||
			r.entries[1].End > r.entries[0].End {
			t.Errorf("turns %+v, entries %+v", turns, r.entries)
		}
	})
	t.Run("of a call that the agent ends", func(t *testing.T) {
		t.Parallel()
		r := run(t, conversation.Config{}, answers(conversation.End{}), func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitHeard(ctx, "This"))
			p.Say(question)
		})
		expectLines(t, r, "agent: "+notice, "caller: "+question)
		if e := r.entries[1]; e.Turn != 0 || e.End > r.entries[0].End {
			t.Errorf("entries %+v", r.entries)
		}
	})
	t.Run("an answer to a question", func(t *testing.T) {
		t.Parallel()
		b := answers(conversation.Say{Text: "Do you agree to that?"})
		run(t, conversation.Config{}, b, func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitHeard(ctx, "agree"))
			p.Say("yeah")
		})
		if turns := b.asked(); len(turns) != 2 || turns[1].Text != "yeah" {
			t.Errorf("turns %+v", turns)
		}
	})
}
