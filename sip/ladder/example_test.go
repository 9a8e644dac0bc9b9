package ladder_test

import (
	"fmt"

	"github.com/callwright/callwright/sip/ladder"
)

// A call's steps are recorded as they happen, without secrets.
func Example() {
	var r ladder.Recorder
	r.Add(ladder.Event{Note: ladder.NoteConnected, Detail: "TLS 1.3"})
	offer := "v=0\r\nc=IN IP4 192.0.2.1\r\nm=audio 4000 RTP/SAVP 0\r\n" +
		"a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj\r\n"
	r.Add(ladder.Event{Sent: true, Method: "INVITE", CSeq: 1, Body: ladder.Describe("application/sdp", []byte(offer))})
	for _, e := range r.Events() {
		fmt.Println(e.Note+e.Method, e.Detail+e.Body)
	}
	// Output:
	// connected TLS 1.3
	// INVITE PCMU; sendrecv; AES_CM_128_HMAC_SHA1_80
}
