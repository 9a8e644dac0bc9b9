package sdp_test

import (
	"testing"

	"github.com/callwright/callwright/sip/sdp"
)

// BenchmarkAnswer measures the answer to a peer's offer: the negotiation alone, and with parsing and writing, as in a call.
func BenchmarkAnswer(b *testing.B) {
	text := []byte(peerOffers["asterisk"].offer)
	c := capabilities(sdp.PCMU, sdp.PCMA)
	b.Run("negotiate", func(b *testing.B) {
		offer := parse(b, string(text))
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := sdp.Answer(c, offer); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse, negotiate, render", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			offer, err := sdp.Parse(text)
			if err != nil {
				b.Fatal(err)
			}
			answer, _, err := sdp.Answer(c, offer)
			if err != nil {
				b.Fatal(err)
			}
			_ = answer.Bytes()
		}
	})
}
