package sipua_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/call"
)

// TestCallKeepsLittleOfItsInvite checks that a call does not keep a large header or body of its INVITE in memory.
func TestCallKeepsLittleOfItsInvite(t *testing.T) { //nolint:paralleltest // it measures the heap of the process
	const calls, most = 12, 16 << 10 // maximum growth per call in bytes, for an INVITE of 60 KB
	a := newAgent(t, nil)
	w := dialWire(t, a)
	var kept []call.Leg
	start := func(name, header, attribute string) (heap int64) {
		for i := range calls {
			c := callerOver(w, a)
			c.callID = fmt.Sprintf("%s-%d", name, i)
			legs := answer(t, a)
			c.ask("INVITE", offerSDP("RTP/SAVP", attribute), header)
			c.response(180)
			c.taken()
			c.ask("ACK", "")
			kept = append(kept, legOf(t, legs))
		}
		for range 3 {
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	long := strings.Repeat("a", 60<<10)
	first := start("first", "Subject: small", "a=small")
	small := start("small", "Subject: small", "a=small")
	header := start("header", "Subject: "+long, "a=small")
	body := start("body", "Subject: small", "a="+long)
	for name, grown := range map[string]int64{"header": header - small, "body": body - header} {
		if more := grown - (small - first); more > calls*most {
			t.Errorf("each call keeps %d bytes more for a large %s", more/calls, name)
		}
	}
	runtime.KeepAlive(kept)
}
