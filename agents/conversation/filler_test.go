package conversation_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
)

// quick returns a brain that greets, answers speech and then ends the conversation.
func quick() *brain {
	return &brain{answer: func(turn conversation.Turn) []conversation.Step {
		if turn.Kind == conversation.TurnStart {
			return say("Hello.")
		}
		return append(say("Five."), conversation.End{})
	}}
}

// TestFillerDuringRecognition checks that the filler comes in time while the recognizer still works, and is no answer to the turn.
func TestFillerDuringRecognition(t *testing.T) {
	t.Parallel()
	b := quick()
	r := run(t, conversation.Config{Filler: oneMoment, Recognizer: &agentstest.Recognizer{Delay: 10 * time.Second}}, b, asks(t))
	expectLines(t, r, "agent: Hello.", "caller: how much is it", "agent: One moment. Five.")
	if at := r.entries[2].Start - r.entries[1].End; at < 4*time.Second || at > 4200*time.Millisecond {
		t.Errorf("the filler came after %s", at)
	}
	if turns := b.asked(); len(turns) != 2 || turns[1].Interrupted || turns[1].Heard != "" {
		t.Errorf("the turns are %+v", turns)
	}
}

// TestWordsDuringFiller checks that the answer follows a filler in which the recognizer has returned the words.
func TestWordsDuringFiller(t *testing.T) {
	t.Parallel()
	filler := conversation.Filler{After: 4 * time.Second, Text: "One moment please, I am still listening to you."}
	r := run(t, conversation.Config{Filler: filler, Recognizer: &agentstest.Recognizer{Delay: 4500 * time.Millisecond}}, quick(), asks(t))
	expectLines(t, r, "agent: Hello.", "caller: how much is it", "agent: "+filler.Text+" Five.")
	if heard := r.phone.Heard(); heard != "Hello."+filler.Text+"Five." {
		t.Errorf("the phone heard %q", heard)
	}
}

// TestFillerInterrupted checks that a caller who continues during the filler, whose first words are not recognized yet, is asked once with
// all words, and that the transcript contains the heard part of the filler.
func TestFillerInterrupted(t *testing.T) {
	t.Parallel()
	b := quick()
	r := run(t, conversation.Config{Filler: oneMoment, Recognizer: &agentstest.Recognizer{Delay: 8 * time.Second}}, b, func(ctx context.Context, p *agentstest.Phone) {
		asks(t)(ctx, p)
		must(t, p.WaitHeard(ctx, "One"))
		p.Say("and how long does it take in the whole please")
	})
	turns := b.asked()
	if want := "how much is it and how long does it take in the whole please"; len(turns) != 2 || turns[1].Text != want || turns[1].Interrupted {
		t.Errorf("the turns are %+v", turns)
	}
	expectLines(t, r, "agent: Hello.", "agent: One [interrupted]", "caller: how much is it and how long does it take in the whole please", "agent: One moment. Five.")
}

// TestHangingBrainInterruptsNothing checks that words of the agent do not count as interrupted if the brain hangs afterwards.
func TestHangingBrainInterruptsNothing(t *testing.T) {
	t.Parallel()
	for name, said := range map[string][]conversation.Step{"filler": nil, "words": say("Let me see.")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
				if turn.Kind == conversation.TurnStart {
					return say("Hello.")
				}
				return said
			}}
			r := run(t, conversation.Config{Filler: oneMoment, Apology: "Sorry."}, hangsAfter{b}, asks(t))
			for _, e := range r.entries {
				if e.Interrupted {
					t.Errorf("%q counts as interrupted", e.Text)
				}
			}
			if last := r.lines[len(r.lines)-1]; r.outcome.By != conversation.ByFailure || last != "agent: Sorry." {
				t.Errorf("the outcome is %+v, %q", r.outcome, r.lines)
			}
		})
	}
	t.Run("another question after the filler", func(t *testing.T) {
		t.Parallel()
		r := run(t, conversation.Config{Filler: oneMoment}, slow(), func(ctx context.Context, p *agentstest.Phone) {
			asks(t)(ctx, p)
			must(t, p.WaitHeard(ctx, "moment."))
			must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
			p.Say("are you there please tell me")
		})
		expectLines(t, r, "agent: Hello.", "caller: how much is it", "agent: One moment.", "caller: are you there please tell me", "agent: One moment.")
	})
}

// TestSpokenWordsAreReported checks that an observer learns an answer's words soon after they were heard, but not more often than every 2 s.
func TestSpokenWordsAreReported(t *testing.T) {
	t.Parallel()
	b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
		if turn.Kind == conversation.TurnStart {
			return say(story, story, story)
		}
		return []conversation.Step{conversation.End{}}
	}}
	r := run(t, conversation.Config{Synthesizer: &agentstest.Synthesizer{Mark: agentstest.VoiceMarks}, Silence: 2 * time.Second}, b, func(context.Context, *agentstest.Phone) {})
	whole := strings.Join([]string{story, story, story}, " ")
	expectLines(t, r, "agent: "+whole)
	if least := int(r.entries[0].End / (2500 * time.Millisecond)); len(r.reports) < least {
		t.Fatalf("%d reports of %s", len(r.reports), r.entries[0].End)
	}
	for i, e := range r.reports {
		if !strings.HasPrefix(whole, e.Text) || e.Start != r.entries[0].Start || e.End > r.entries[0].End || i == 0 && strings.Contains(e.Text, " ") {
			t.Errorf("report %d is %+v", i, e)
		}
		if i > 0 && (e.End-r.reports[i-1].End < 1900*time.Millisecond || len(e.Text) <= len(r.reports[i-1].Text)) {
			t.Errorf("%+v follows %+v", e, r.reports[i-1])
		}
	}
}

// hangsAfter is a brain whose answers to speech never end.
type hangsAfter struct {
	*brain
}

func (b hangsAfter) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		for step, err := range b.brain.Respond(ctx, t) {
			if !yield(step, err) {
				return
			}
		}
		if t.Kind == conversation.TurnSpeech {
			<-ctx.Done()
		}
	}
}
