package sipua_test

import (
	"fmt"
	"testing"

	"github.com/callwright/callwright/sip/sdp"
)

// TestRoutesCodecs checks that a call offers and accepts its route's codecs in the route's order. The peer may send either law of G.711,
// whichever it receives, and with Transcode also the other codecs.
func TestRoutesCodecs(t *testing.T) {
	t.Parallel()
	for _, transcode := range []bool{false, true} {
		caller, callee := pair(t)
		for _, a := range []*agent{caller, callee} {
			a.routes.mu.Lock()
			a.routes.route.Codecs, a.routes.route.Transcode = []string{"G729", "PCMA", "PCMU"}, transcode
			a.routes.mu.Unlock()
		}
		callee.routes.mu.Lock()
		callee.routes.route.Codecs = []string{"PCMU", "PCMA", "G729"}
		callee.routes.mu.Unlock()
		out, in := connect(t, caller, callee)
		want := map[string]string{"caller": "PCMU [PCMA]", "callee": "PCMU [PCMA]"}
		if transcode {
			want = map[string]string{"caller": "PCMU [G729 PCMA]", "callee": "PCMU [PCMA G729]"}
		}
		for name, m := range map[string]*media{"caller": caller.media, "callee": callee.media} {
			agreed := m.last(t).negotiated()
			if got := described(agreed[len(agreed)-1]); got != want[name] {
				t.Errorf("transcode %t: the %s has %s, want %s", transcode, name, got, want[name])
			}
		}
		if err := out.Hangup(within(t)); err != nil {
			t.Error(err)
		}
		ends(t, in)
	}
}

func described(n sdp.Negotiated) string {
	others := []sdp.Codec{}
	for _, other := range n.Others {
		others = append(others, other.Codec)
	}
	return fmt.Sprint(n.Codec, " ", others)
}
