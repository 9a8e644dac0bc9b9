package sdp_test

import (
	"testing"

	"github.com/callwright/callwright/sip/sdp"
)

// TestPublicMediaOnly checks that the description of a peer behind NAT, which contains its private address, is accepted, and that
// PublicOnly is passed to the media layer.
func TestPublicMediaOnly(t *testing.T) {
	t.Parallel()
	peer := parse(t, audio("c=IN IP4 192.0.2.9\r\nt=0 0", "c=IN IP4 10.0.0.7", "t=0 0"))
	for _, publicOnly := range []bool{false, true} {
		c := capabilities(sdp.PCMU)
		c.PublicOnly = publicOnly
		_, answered, err := sdp.Answer(c, peer)
		if err != nil {
			t.Fatal(err)
		}
		offer, err := sdp.Offer(c)
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := sdp.Accept(offer, peer)
		if err != nil || answered.PublicOnly != publicOnly || accepted.PublicOnly != publicOnly {
			t.Errorf("the rule is %t: answered %+v, accepted %+v, %v", publicOnly, answered, accepted, err)
		}
	}
}
