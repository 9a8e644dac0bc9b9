package call_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
)

// TestAllThatWentWrong checks that error_message names all errors: the failure of the model, the unconfirmed end, and the other side's
// audio that could not be decoded.
func TestAllThatWentWrong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0, agentstest.PhoneConfig{Deaf: true, Fault: "undecodable_audio: payload type 18"})
		defer h.stop()
		c := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		h.hears(phone, "hello")
		h.says(phone, "fail")
		got, _ := h.ended(c.ID)
		const want = "the language model refuses the key or the request; the other side was not reached at the end, and may still be in the call; " +
			"undecodable_audio: payload type 18"
		if got.Status != call.StatusFailed || got.ErrorMessage != want || !got.Ending.Unconfirmed {
			t.Errorf("%s %q %+v", got.Status, got.ErrorMessage, got.Ending)
		}
	})
}

// TestPeerThatNeverSends checks a call whose peer never sends a packet, so that the server cannot send it audio. The call must fail with
// "no media", and the log must contain no error of this server.
func TestPeerThatNeverSends(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		h := newHouse(t, 0, agentstest.PhoneConfig{Unproven: true}, func(c *call.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		c := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		if err := phone.WaitElapsed(t.Context(), 30*time.Second); err != nil {
			t.Fatal(err)
		}
		phone.Vanish()
		got, _ := h.ended(c.ID)
		h.stop()
		if got.Status != call.StatusFailed || got.Ending.Cause != call.CauseMediaTimeout || got.ErrorMessage != "no media" ||
			strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("%s %q %+v\n%s", got.Status, got.ErrorMessage, got.Ending, log.String())
		}
	})
}

// TestEndOfAnAnsweredCall checks that an answered call stores its SIP code whichever side ends it, and that an unconfirmed end is reported.
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
