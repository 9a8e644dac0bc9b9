package ladder_test

import (
	"testing"

	"github.com/callwright/callwright/sip/ladder"
)

// BenchmarkAdd measures the recording of one message.
func BenchmarkAdd(b *testing.B) {
	e := ladder.Event{
		Method: "INVITE", Status: 200, Reason: "OK", Transport: "TLS 1.3", Peer: "192.0.2.1:5061",
		Branch: "z9hG4bK0123456789abcdefghijklmn", Body: "PCMU, PCMA; sendrecv; AES_CM_128_HMAC_SHA1_80",
	}
	b.ReportAllocs()
	r := new(ladder.Recorder)
	for i := 0; b.Loop(); i++ {
		if i%12 == 0 {
			r = new(ladder.Recorder)
		}
		r.Add(e)
	}
}
