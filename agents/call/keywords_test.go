package call_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// spotter is a recognizer that uses keywords, and notes the keywords of the last utterance.
type spotter struct {
	agentstest.Recognizer
	keywords atomic.Pointer[[]string]
}

func (*spotter) UsesKeywords() bool { return true }

func (s *spotter) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	s.keywords.Store(&h.Keywords)
	return s.Recognizer.Listen(ctx, h)
}

// TestKeywords checks that the recognizer receives the keywords of a call's agent without their weights, and that the record names a
// recognizer that cannot use them.
func TestKeywords(t *testing.T) {
	t.Parallel()
	hears := &spotter{}
	agent := agents.Agent{Task: "Talk.", Keywords: []string{"Callwright:2", " ", "10:30", "Éva:-1.5"}}
	inHouseWith(t, func(t *testing.T, h *house) {
		h.create(agent)
		phone := h.answered()
		h.says(phone, "hello there")
		h.hears(phone, "hello there")
		if got := hears.keywords.Load(); got == nil || !slices.Equal(*got, []string{"Callwright", "10:30", "Éva"}) {
			t.Errorf("keywords %q", got)
		}
		if got := h.Warnings(call.Call{Agent: agent}); len(got) > 0 || !h.UsesKeywords() {
			t.Errorf("warnings %q", got)
		}
	}, func(c *call.Config) { c.Recognizer = hears })
	inHouse(t, func(t *testing.T, h *house) {
		if got := h.Warnings(call.Call{Agent: agent}); len(got) != 1 || h.UsesKeywords() {
			t.Errorf("warnings without keywords: %q", got)
		}
		if got := h.Warnings(call.Call{Agent: agents.Agent{Task: "Talk.", Keywords: []string{""}}}); len(got) > 0 {
			t.Errorf("warnings of a blank keyword: %q", got)
		}
	})
}
