package agentstest

import (
	"testing"

	"github.com/callwright/callwright/agents/call"
)

// legReferred: a failed transfer by the far end leaves a call.Transferable unchanged. A successful one changes only the far end.
func legReferred(t *testing.T, h LegHarness) {
	if h.Refer == nil {
		if leg, far := h.Connect(t); leg != nil {
			defer far.Hangup()
			if _, ok := leg.(call.Transferable); ok {
				t.Error("a call.Transferable needs LegHarness.Refer")
			}
			follow(t, leg)
		}
		return
	}
	const to = "+15550100079"
	leg, refer := h.Refer(t, to)
	n := follow(t, leg)
	rate := leg.Rate()
	for _, ok := range []bool{false, true} {
		refer(ok)
		select {
		case e := <-leg.(call.Transferable).Transfers():
			if e.To != to || (e.Failure == nil) != ok {
				t.Errorf("a transfer that succeeds, %t, is reported as %+v", ok, e)
			}
		case <-patient(t).Done():
			t.Fatal("a transfer is not reported")
		}
		from := see(n, func() int { return len(n.in) })
		eventually(t, "the call goes on after a transfer", func() bool { return see(n, func() int { return len(n.in) }) > from })
		if leg.Rate() != rate || leg.Ending() != (call.HangupReason{}) {
			t.Errorf("after a transfer the rate is %d, the ending %+v", leg.Rate(), leg.Ending())
		}
	}
	if err := leg.Hangup(patient(t)); err != nil {
		t.Fatal(err)
	}
	isOver(t, n, call.CauseLocalHangup, false)
}
