package sipua_test

import (
	"context"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/call"
)

// TestDrainedCallsSaySo checks that calls that a stopping server ends have another Reason header and another call record than an ordinary
// hang-up.
func TestDrainedCallsSaySo(t *testing.T) {
	t.Parallel()
	why := call.HangupReason{Cause: call.CauseDrained, Reason: "the server is stopping"}
	for name, end := range map[string]func(a *agent, l call.Leg){
		"by its owner": func(_ *agent, l call.Leg) { _ = l.(call.Explained).HangupFor(context.Background(), why) },
		"by the line":  func(a *agent, _ call.Leg) { _ = a.Close(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, records := watched(t, nil)
			legs := answer(t, a)
			c := newCaller(t, a)
			c.connected()
			l := legOf(t, legs)
			done := make(chan struct{})
			go func() { defer close(done); end(a, l) }()
			bye := c.request("BYE")
			if got := bye.get("Reason"); !strings.HasPrefix(got, "Q.850;cause=41;") {
				t.Errorf("Reason: %s", got)
			}
			c.reply(bye, 200, "", "")
			if e := ends(t, l); e.Cause != call.CauseDrained || e.Reason != why.Reason || e.SIPCode != 200 || e.ByPeer {
				t.Errorf("%+v", e)
			}
			if r := records.all(t, 1)[0].ended; r.Cause != "drained" || r.Reason != why.Reason {
				t.Errorf("%+v", r)
			}
			<-done
		})
	}
	t.Run("before the answer", func(t *testing.T) {
		t.Parallel()
		a, records := watched(t, nil)
		address, accept := listenWire(t, "127.0.0.1")
		a.callsTo(t, address)
		ctx, stop := context.WithCancelCause(within(t))
		failed := make(chan error, 1)
		go func() {
			_, err := a.Dial(ctx, toBob, nil)
			failed <- err
		}()
		w := accept()
		invite := w.request("INVITE")
		w.reply(invite, 180, "x", "")
		stop(&why)
		w.reply(w.request("CANCEL"), 200, "x", "")
		w.reply(invite, 487, "x", "")
		w.request("ACK")
		if e := endingOf(t, <-failed); e.Cause != call.CauseDrained || e.SIPCode != 487 {
			t.Errorf("%+v", e)
		}
		if r := records.all(t, 1)[0].ended; r.Cause != "drained" || r.SIPCode != 487 {
			t.Errorf("%+v", r)
		}
	})
}
