package agentstest

import (
	"testing"

	"github.com/callwright/callwright/agents/call"
)

// legReferred checks transfers by the far end of a call.Transferable: a failed transfer changes nothing, and a successful transfer changes
// only the far end.
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
		from := observe(n, func() int { return len(n.in) })
		eventually(t, "the call goes on after a transfer", func() bool { return observe(n, func() int { return len(n.in) }) > from })
		if leg.Rate() != rate || leg.Ending() != (call.HangupReason{}) {
			t.Errorf("after a transfer the rate is %d, the ending %+v", leg.Rate(), leg.Ending())
		}
	}
	if err := leg.Hangup(patient(t)); err != nil {
		t.Fatal(err)
	}
	isOver(t, n, call.CauseLocalHangup, false)
}

// legHangupFor checks that Ending of a call.Explained returns the reason of the first HangupFor, not of a later HangupFor.
func legHangupFor(t *testing.T, h LegHarness) {
	leg, far := h.Connect(t)
	explained, ok := leg.(call.Explained)
	if !ok {
		return
	}
	why := call.HangupReason{Cause: call.CauseDrained, Reason: "the node stops"}
	if err := explained.HangupFor(patient(t), why); err != nil {
		t.Fatal(err)
	}
	closes(t, "the leg ends", leg.Done())
	closes(t, "the far end ends", far.Done())
	late := call.HangupReason{Cause: call.CauseDrained, Reason: "too late"}
	if err := explained.HangupFor(patient(t), late); err != nil {
		t.Errorf("hanging up again gave %v", err)
	}
	if e := leg.Ending(); e.Cause != why.Cause || e.Reason != why.Reason || e.ByPeer {
		t.Errorf("the ending is %+v, want %+v", e, why)
	}
}
