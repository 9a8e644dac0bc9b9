package e2e_test

import (
	"net/netip"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/kamailio"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// TestDispatcherSeesTheDrain stops one of two servers behind a proxy's dispatcher during a call. The dispatcher must detect this by OPTIONS
// and send the next call to the other server. The first call must continue until its caller hangs up.
func TestDispatcherSeesTheDrain(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	config := nodes(t, ca)
	config.Flags = append(config.Flags, "--drain-timeout", "10m")
	one, two := server.StartTwo(t, config)
	two.AttachInbound(t, ours.String())
	proxy := kamailio.Start(t, kamailio.Config{CA: ca, Password: "nobody registers", Nodes: []netip.AddrPort{one.SIP, two.SIP}})
	call := func() (phone *baresip.Phone, id string) {
		phone = baresip.Start(t, baresip.Config{CA: ca})
		phone.Dial(t, proxy.Number(ours.String()))
		phone.Await(t, "CALL_ESTABLISHED", 1)
		id = two.Calls(t)[0].CallID
		says(t, two, id, "What would you like me to note?")
		return phone, id
	}

	first, drained := call()
	one.Terminate(t)
	await.That(t, "the dispatcher to find the server down", func() bool { return proxy.Count("DOWN sip:"+one.SIP.String()) > 0 })
	_, next := call()
	if next == drained {
		t.Fatal("the second call has no record of its own")
	}
	if !two.Record(t, drained).EndAt.Null {
		t.Error("the call on the server that drains has ended")
	}
	first.Hangup(t)
	if r := two.Ended(t, drained); r.Status != callsoas.CallStatusCompleted || r.CallEndedBy.Value != callsoas.CallRecordCallEndedByUSER {
		t.Errorf("the call on the server that drains ended as %s by %s, %q", r.Status, r.CallEndedBy.Value, r.ErrorMessage.Value)
	}
	if code := one.ExitCode(t); code != 0 {
		t.Errorf("the server that drained stopped with exit code %d", code)
	}
	if !two.Record(t, next).EndAt.Null {
		t.Error("the next call has ended with the server that drained")
	}
	if proxy.Count("DOWN sip:"+two.SIP.String()) > 0 {
		t.Error("the dispatcher finds the other server down, too")
	}
	two.StopCall(t, next)
	if r := two.Ended(t, next); r.Status != callsoas.CallStatusCompleted {
		t.Errorf("the next call ended as %s, %q", r.Status, r.ErrorMessage.Value)
	}
}
