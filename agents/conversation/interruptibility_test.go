package conversation_test

import (
	"context"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
)

// TestNeverInterrupted checks that, at the level NeverInterrupted, no words interrupt the agent, but a digit does.
func TestNeverInterrupted(t *testing.T) {
	t.Parallel()
	b := chatty()
	r := run(t, conversation.Config{Interruptibility: conversation.NeverInterrupted, Silence: time.Second}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, time.Second))
		p.Say("wait stop please I have a question for you")
	})
	if turns := b.asked(); len(turns) != 2 || turns[1].Kind != conversation.TurnSilence || turns[1].Interrupted {
		t.Errorf("turns %+v", turns)
	}
	expectLines(t, r, "agent: "+story+" And another one. And a third.", "agent: All right.")

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
		p.Say("stop it please")
		must(t, p.WaitHeard(ctx, "And this"))
		p.Say("why is that so")
	})
	turns := b.asked()
	if len(turns) != 2 || !turns[1].Interrupted || turns[1].Text != "why is that so" {
		t.Fatalf("turns %+v, transcript %+v", turns, r)
	}
}
