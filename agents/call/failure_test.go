package call_test

import (
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/call"
)

// failedCall returns a declined call after a change by f.
func failedCall(f func(*call.Call)) call.Call {
	created := time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC)
	c := call.Call{
		ID: "one", From: "+15550000001", To: "+15550000002", Queue: call.QueueCallError, Status: call.StatusFailed,
		CreatedAt: created, EndedAt: new(created.Add(time.Second)), ErrorMessage: "the call was declined",
		Ending: &call.HangupReason{Cause: call.CauseRejected, SIPCode: 603},
	}
	f(&c)
	return c
}

func TestFailureKey(t *testing.T) {
	t.Parallel()
	on := func(id string) func(*call.Call) {
		return func(c *call.Call) { c.Agent.Pathway.ID = id }
	}
	for name, test := range map[string]struct {
		one, other func(*call.Call)
		alike      bool
	}{
		"to other numbers":       {func(*call.Call) {}, func(c *call.Call) { c.To = "+15550000003" }, true},
		"from other numbers":     {func(*call.Call) {}, func(c *call.Call) { c.From = "+15550000003" }, false},
		"incoming from others":   {func(c *call.Call) { c.Inbound = true }, func(c *call.Call) { c.Inbound, c.From = true, "anonymous" }, true},
		"incoming to others":     {func(c *call.Call) { c.Inbound = true }, func(c *call.Call) { c.Inbound, c.To = true, "+15550000003" }, false},
		"one pathway":            {on("p"), func(c *call.Call) { c.Agent.Pathway.ID, c.From = "p", "+15550000003" }, true},
		"two pathways":           {on("p"), on("q"), false},
		"other causes":           {on("p"), func(c *call.Call) { c.Agent.Pathway.ID, c.Ending = "p", &call.HangupReason{Cause: call.CauseNodeLost} }, false},
		"no cause":               {on("p"), func(c *call.Call) { c.Agent.Pathway.ID, c.Ending = "p", nil }, false},
		"other answers":          {on("p"), func(c *call.Call) { c.Agent.Pathway.ID, c.Ending.SIPCode = "p", 404 }, false},
		"pathways with long ids": {on(strings.Repeat("é", 5000)), on(strings.Repeat("é", 5000)), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := failedCall(test.one).Failure().Key, failedCall(test.other).Failure().Key
			if (one == other) != test.alike || len(one) > 200 || len(other) > 200 {
				t.Errorf("keys are %q and %q", one, other)
			}
		})
	}
}

func TestFailureTexts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change         func(*call.Call)
		reason, detail string
	}{
		"a reason": {
			func(c *call.Call) { c.Ending.Reason = strings.Repeat("r", 100_000) },
			"the call was declined (SIP 603)", "Reason: rrr",
		},
		"a version": {
			func(c *call.Call) { c.Agent.Pathway.ID, c.PathwayNumber = "p", new(7) },
			"the call was declined (SIP 603)", "Pathway: p, version 7.",
		},
		"a draft": {
			func(c *call.Call) { c.Agent.Pathway.ID, c.PathwayNumber = "p", new(0) },
			"the call was declined (SIP 603)", "Pathway: p.",
		},
		"a model that is down": {
			func(c *call.Call) {
				c.Ending, c.ErrorMessage = &call.HangupReason{Cause: call.CauseModelFailed, Reason: "the language model did not answer"}, "the language model did not answer"
			},
			"the language model did not answer", "Reason: the language model did not answer",
		},
		"an internal error": {
			func(c *call.Call) {
				c.Ending, c.ErrorMessage = &call.HangupReason{Cause: call.CauseInternal}, "the call failed"
			},
			"an internal error of this server: its log shows the cause with the call's id", "failed on 2 March 2026 09:15 UTC: an internal error",
		},
		"a long name": {
			func(c *call.Call) { c.Inbound, c.From = true, strings.Repeat("x", 100_000) },
			"the call was declined (SIP 603)", "Call from xxx",
		},
		"no name": {
			func(c *call.Call) { c.Inbound, c.From = true, "" },
			"the call was declined (SIP 603)", "Call from an unknown number failed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := failedCall(test.change).Failure()
			if f.Reason != test.reason || !strings.Contains(f.Detail, test.detail) || len(f.Detail) > 2000 {
				t.Errorf("reason %q, detail %q", f.Reason, f.Detail)
			}
		})
	}
}

// TestMinorFailures checks that calls declined with SIP 603 or 607 and calls that a stop of the server ended are minor failures, and that
// other failures are not.
func TestMinorFailures(t *testing.T) {
	t.Parallel()
	for ending, want := range map[call.HangupReason]bool{
		{Cause: call.CauseRejected, SIPCode: 603}: true, {Cause: call.CauseRejected, SIPCode: 607}: true,
		{Cause: call.CauseRejected, SIPCode: 403}: false, {Cause: call.CauseRejected, SIPCode: 404}: false, {Cause: call.CauseRejected, SIPCode: 608}: false,
		{Cause: call.CauseDrained}: true, {Cause: call.CauseNodeLost}: false, {Cause: call.CauseUnreachable}: false, {Cause: call.CauseInternal}: false,
	} {
		if f := failedCall(func(c *call.Call) { c.Ending = &ending }).Failure(); f.Minor != want {
			t.Errorf("%+v is minor: %t", ending, f.Minor)
		}
	}
	vanished := func(received uint64) call.Failure {
		return failedCall(func(c *call.Call) {
			c.Ending, c.Stats.Received = &call.HangupReason{Cause: call.CauseMediaTimeout, Reason: "no media"}, received
		}).Failure()
	}
	if mute, gone := vanished(0), vanished(7); mute.Minor || !gone.Minor || mute.Key == gone.Key || !strings.Contains(gone.Reason, "vanished") {
		t.Errorf("without any audio %+v, in the middle of the call %+v", mute, gone)
	}
	if failedCall(func(c *call.Call) { c.Ending = nil }).Failure().Minor {
		t.Error("a call without an end is minor")
	}
}
