package sdp_test

import (
	"errors"
	"testing"

	"github.com/callwright/callwright/sip/sdp"
)

// Addresses that a deployment on the Internet must not send media to, in each place where a description has one.
func TestPublicMediaOnly(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		connection, rtcp string
		refused          bool
	}{
		"public":                {"IN IP4 203.0.113.9", "", false},
		"public RTCP elsewhere": {"IN IP4 203.0.113.9", "a=rtcp:4001 IN IP4 203.0.113.10", false},
		"on hold":               {"IN IP4 0.0.0.0", "", false},
		"loopback":              {"IN IP4 127.0.0.1", "", true},
		"RFC 1918":              {"IN IP4 10.0.0.7", "", true},
		"metadata service":      {"IN IP4 169.254.169.254", "", true},
		"private RTCP":          {"IN IP4 203.0.113.9", "a=rtcp:4001 IN IP4 10.0.0.7", true},
		"private RTCP on hold":  {"IN IP4 0.0.0.0", "a=rtcp:4001 IN IP4 10.0.0.7", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := []string{"c=" + tt.connection, "t=0 0"}
			peer := audio("c=IN IP4 192.0.2.9\r\nt=0 0", with...)
			if tt.rtcp != "" {
				peer += tt.rtcp + "\r\n"
			}
			c := capabilities(sdp.PCMU)
			if _, n, err := sdp.Answer(c, parse(t, peer)); err != nil || n.PublicOnly {
				t.Errorf("without the rule: %v", err)
			}
			c.PublicOnly = true
			_, n, err := sdp.Answer(c, parse(t, peer))
			check(t, "offer", n, err, tt.refused)
			offer, err := sdp.Offer(c)
			if err != nil {
				t.Fatal(err)
			}
			n, err = sdp.Accept(offer, parse(t, peer))
			check(t, "answer", n, err, tt.refused)
		})
	}
}

func check(t *testing.T, what string, n sdp.Negotiated, err error, refused bool) {
	t.Helper()
	switch {
	case errors.Is(err, sdp.ErrPrivate) != refused:
		t.Errorf("%s: %v", what, err)
	case !refused && (err != nil || !n.PublicOnly):
		t.Errorf("%s: %+v, %v", what, n, err)
	}
}
