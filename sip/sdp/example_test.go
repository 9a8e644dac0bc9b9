package sdp_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"

	"github.com/callwright/callwright/sip/sdp"
)

// Two sides negotiate a call: the caller offers, the callee answers, and the caller accepts the answer.
func Example() {
	caller := sdp.Capabilities{
		Media:  netip.MustParseAddrPort("192.0.2.1:10000"),
		Codecs: []sdp.Codec{sdp.Opus, sdp.PCMU, sdp.PCMA},
		Random: rand.Reader,
	}
	callee := sdp.Capabilities{
		Media:  netip.MustParseAddrPort("198.51.100.7:20000"),
		Codecs: []sdp.Codec{sdp.PCMA, sdp.PCMU},
	}

	offer, err := sdp.Offer(caller)
	if err != nil {
		fmt.Println(err)
		return
	}
	received, err := sdp.Parse(offer.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, theirs, err := sdp.Answer(callee, received)
	if err != nil {
		fmt.Println(err)
		return
	}
	ours, err := sdp.Accept(offer, answer)
	if err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println(ours.Codec, ours.Direction, "to", ours.RemoteRTP, "DTMF as", ours.Events.Send)
	fmt.Println("keys swapped:", ours.RemoteCrypto.Key.Equal(theirs.LocalCrypto.Key))
	// Output:
	// PCMA sendrecv to 198.51.100.7:20000 DTMF as 101
	// keys swapped: true
}

// Answer refuses an offer without SRTP. The error contains the SIP response.
func ExampleAnswer_refused() {
	offer, err := sdp.Parse([]byte("v=0\r\no=- 1 1 IN IP4 192.0.2.9\r\ns=-\r\nc=IN IP4 192.0.2.9\r\nt=0 0\r\n" +
		"m=audio 4000 RTP/AVP 0\r\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _, err = sdp.Answer(sdp.Capabilities{
		Media:  netip.MustParseAddrPort("192.0.2.1:10000"),
		Codecs: []sdp.Codec{sdp.PCMU},
	}, offer)
	if rejection, ok := errors.AsType[*sdp.Rejection](err); ok {
		fmt.Println(rejection.Status, rejection.Warning, rejection.Text)
	}
	// Output: 488 399 SRTP is required: RTP/SAVP with a=crypto AES_CM_128_HMAC_SHA1_80
}

// A hold and a resume are new offers that keep the session, the key and the payload types.
func ExampleOffer_hold() {
	c := sdp.Capabilities{Media: netip.MustParseAddrPort("192.0.2.1:10000"), Codecs: []sdp.Codec{sdp.PCMU}}
	first, err := sdp.Offer(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Previous, c.Hold = first, true
	hold, err := sdp.Offer(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := sdp.Parse([]byte("v=0\r\no=- 7 2 IN IP4 198.51.100.7\r\ns=-\r\nc=IN IP4 198.51.100.7\r\nt=0 0\r\n" +
		"m=audio 20000 RTP/SAVP 0\r\na=recvonly\r\n" +
		"a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNk\r\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	n, err := sdp.Accept(hold, answer)
	fmt.Println(n.Direction, n.LocalHold, n.RemoteHold, err)
	// Output: sendonly true false <nil>
}
