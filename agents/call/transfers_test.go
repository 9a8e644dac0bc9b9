package call_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// transferring is a brain that transfers the call in every turn, also after failed transfers.
type transferring struct{}

func (transferring) Respond(context.Context, conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		_ = yield(conversation.Say{Text: "one moment"}, nil) && yield(conversation.Transfer{To: "+15550000007"}, nil)
	}
}

// TestFailedTransfers checks that a brain cannot transfer a call without end: a call ends when its agent requests a transfer after three
// failed ones.
func TestFailedTransfers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fails, transfers int
		want             call.HangupReason
	}{
		"two fail": {2, 3, call.HangupReason{Cause: call.CauseTransferred, Reason: "+15550000007"}},
		"all fail": {1000, 3, call.HangupReason{
			Cause: call.CauseServiceFailed, Reason: "3 transfers of the call have failed, and the agent has requested another one",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				transfers := 0
				h := newHouse(t, 0, agentstest.PhoneConfig{Transfer: func(string) error {
					if transfers++; transfers <= test.fails {
						return errors.New("603")
					}
					return nil
				}}, func(c *call.Config) {
					c.NewBrain = func(context.Context, call.Call) (conversation.Brain, error) { return transferring{}, nil }
				})
				defer h.stop()
				c := h.create(agents.Agent{})
				h.answered()
				got, _ := h.ended(c.ID)
				if transfers != test.transfers || got.Ending.Cause != test.want.Cause || got.Ending.Reason != test.want.Reason {
					t.Errorf("after %d transfers: %+v", transfers, got.Ending)
				}
			})
		})
	}
}
