package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
)

// deaf is a brain that says "start", and then ignores the end of its contexts: its answers come after an hour.
type deaf struct{ early bool }

func (d deaf) AnswersEarly() bool { return d.early }

func (d deaf) Respond(_ context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		if t.Kind == conversation.TurnStart {
			yield(conversation.Say{Text: "start"}, nil)
			return
		}
		<-time.After(time.Hour)
		yield(conversation.Say{Text: "late"}, nil)
	}
}

// TestDeafBrain checks that a brain which ignores the end of its context, even that of a withdrawn turn, ends the conversation with the
// apology in time, and that its late words are not heard.
func TestDeafBrain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		speech []int16
		hangup time.Duration // time of the call at which the caller hangs up; 0 means never
		heard  string
		by     conversation.EndedBy
	}{
		"a caller who waits":     {spoken(0, "hello there"), 0, "start" + sorry, conversation.ByFailure},
		"a caller who continues": {spoken(560*time.Millisecond, "book a table", "two people"), 0, "start" + sorry, conversation.ByFailure},
		"a caller who hangs up":  {spoken(0, "hello there"), 8 * time.Second, "start", conversation.ByPeer},
	} {
		for _, early := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, early %t", name, early), func(t *testing.T) {
				t.Parallel()
				config := conversation.Config{Recognizer: streams(), Turns: endpoint.Rules{}}
				r := run(t, config, deaf{early}, func(ctx context.Context, p *agentstest.Phone) {
					must(t, p.WaitHeard(ctx, "start"))
					must(t, p.WaitQuiet(ctx, 500*time.Millisecond))
					p.Play(c.speech)
					if c.hangup > 0 {
						must(t, p.WaitElapsed(ctx, c.hangup))
						p.Hangup()
					}
					<-time.After(3 * time.Hour) // the brain must stop before the end of the test
				})
				failed := c.by == conversation.ByFailure
				if errors.Is(r.err, callwright.ErrUnavailable) != failed || r.outcome.By != c.by || r.phone.Heard() != c.heard || r.took > 45*time.Second {
					t.Errorf("outcome %+v, %v, heard %q after %s", r.outcome, r.err, r.phone.Heard(), r.took)
				}
			})
		}
	}
}
