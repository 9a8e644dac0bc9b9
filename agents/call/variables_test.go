package call_test

import (
	"fmt"
	"maps"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
)

// TestCallGivesVariables checks that the line receives the variables of a call's request as texts, except objects. A line uses them for the
// trunk's headers.
func TestCallGivesVariables(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		c, err := h.Create(t.Context(), "a", call.Request{
			From: "+15550000001", To: "+15550000002", Agent: agents.Agent{Task: "Talk."}, RequestData: map[string]any{
				"customer": "42", "amount": 1234567.5, "million": float64(1_000_000), "vip": true, "address": map[string]any{"city": "Bern"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		h.answered().Hangup()
		h.ended(c.ID)
		want := map[string]string{"customer": "42", "amount": "1234567.5", "million": "1000000", "vip": "true"}
		if got := h.line.Dials()[0].Variables; !maps.Equal(got, want) {
			t.Errorf("the line was given %v, want %v", got, want)
		}
	})
}

// TestIncomingCallBringsVariables checks that the call's record contains the SIP headers and the variables of the trunk's rules without
// characters that databases cannot store, and that the record has the line's id.
func TestIncomingCallBringsVariables(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		in := h.line.Call(call.CallerInfo{
			ID: "line-1", Org: "a", From: "+15550000009", To: "+15550000001",
			Headers:   map[string]string{"X-Ticket": "T-\x001\xff"},
			Variables: map[string]string{"ticket": "T-\x001\xff"},
		}, agentstest.PhoneConfig{})
		phone, err := in.Phone(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		phone.Hangup()
		synctest.Wait()
		got, _ := h.ended("line-1")
		if told := fmt.Sprint(got.RequestData); told != "map[sip_headers:map[X-Ticket:T-1] ticket:T-1]" {
			t.Errorf("the record has %q", told)
		}
	})
}
