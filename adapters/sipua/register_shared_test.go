package sipua_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright"
	trunk "github.com/callwright/callwright/sip"
)

// TestTwoTrunksAtOneServer checks that trunks with the same server share a connection but no binding, and that a trunk with another server
// uses another connection.
func TestTwoTrunksAtOneServer(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	var seen atomic.Value
	a.routes.judge = func(_ callwright.PhoneNumber, from trunk.Peer) error {
		seen.Store(slices.Sorted(slices.Values(from.Registered)))
		return callwright.ErrForbidden
	}
	address, accept := listenWire(t, "127.0.0.1")
	one := bindingWith(t, address)
	w := bind(t, a, one, accept)
	two := one
	two.TrunkID, two.User = "other", "other"
	bind(t, a, two, func() *wire { return w })
	elsewhere, acceptElsewhere := listenWire(t, "127.0.0.1")
	three := bindingWith(t, elsewhere)
	three.TrunkID = "third"
	for conn, want := range map[*wire]string{w: "[other trunk]", bind(t, a, three, acceptElsewhere): "[third]"} {
		c := callerOver(conn, a)
		c.callID += want
		c.ask("INVITE", offerSDP("RTP/SAVP"))
		c.response(403)
		if got := fmt.Sprint(seen.Load()); got != want {
			t.Errorf("over %s, want %s", got, want)
		}
	}
}
