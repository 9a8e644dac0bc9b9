package sipua_test

import (
	"net"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
)

// TestCallsLeaveFromTheListeningAddress checks that outbound connections use the listening address, because peers may allow only that
// address.
func TestCallsLeaveFromTheListeningAddress(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(c *sipua.Config) { c.Listen = "127.0.0.2:0" })
	address, accept := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	p := dial(t, a, call.DialRequest{Org: org, From: alice, To: bob})
	p.peer = accept()
	p.invite = p.peer.request("INVITE")
	if from, _, err := net.SplitHostPort(p.peer.conn.RemoteAddr().String()); err != nil || from != "127.0.0.2" {
		t.Errorf("the call came from %s, %v", from, err)
	}
	if via := p.invite.get("Via"); !strings.Contains(via, "127.0.0.2") {
		t.Errorf("its Via is %s", via)
	}
	p.peer.reply(p.invite, 603, "Decline", "")
	p.peer.request("ACK")
	p.fails()
}
