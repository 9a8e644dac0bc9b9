package call_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
)

// A call that was answered has its SIP code, whichever side ends it, and says when the other side could not be told.
func TestEndOfAnAnsweredCall(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config  agentstest.PhoneConfig
		end     func(h *house, phone *agentstest.Phone)
		message string
	}{
		"by the agent":          {agentstest.PhoneConfig{}, func(h *house, p *agentstest.Phone) { h.says(p, "bye") }, ""},
		"by the other side":     {agentstest.PhoneConfig{}, func(_ *house, p *agentstest.Phone) { p.Hangup() }, ""},
		"to a deaf other side":  {agentstest.PhoneConfig{Deaf: true}, func(h *house, p *agentstest.Phone) { h.says(p, "bye") }, "may still be in the call"},
		"by a deaf other side":  {agentstest.PhoneConfig{Deaf: true}, func(_ *house, p *agentstest.Phone) { p.Hangup() }, ""},
		"by a transfer":         {agentstest.PhoneConfig{}, func(h *house, p *agentstest.Phone) { h.says(p, "operator") }, ""},
		"by its longest length": {agentstest.PhoneConfig{Deaf: true}, func(*house, *agentstest.Phone) {}, "may still be in the call"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, 0, tt.config)
				defer h.stop()
				c := h.create(agents.Agent{FirstSentence: "hello", TransferTo: "+15550000007"})
				phone := h.answered()
				h.hears(phone, "hello")
				tt.end(h, phone)
				got, _ := h.ended(c.ID)
				if got.Status != call.StatusCompleted || got.Ending.SIPCode != 200 || !strings.Contains(got.ErrorMessage, tt.message) ||
					tt.message == "" && got.ErrorMessage != "" {
					t.Errorf("%s %q %+v", got.Status, got.ErrorMessage, got.Ending)
				}
			})
		})
	}
}
