package message_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/sip/ladder"
)

// event returns the ladder entry of a message. It returns false if data is not a SIP message.
func event(data []byte) (ladder.Event, bool) {
	msg, err := message.Parse(data)
	if err != nil {
		return ladder.Event{}, false
	}
	var r ladder.Recorder
	r.Add(message.Event(msg))
	return r.Events()[0], true
}

// TestEventsShowNoSecret checks that no ladder entry contains a message's keys, credentials or custom headers.
func TestEventsShowNoSecret(t *testing.T) {
	t.Parallel()
	name := rapid.SampledFrom([]string{
		"Authorization", "Proxy-Authorization", "WWW-Authenticate", "Authentication-Info", "X-Token", "User-to-User", "Subject",
	})
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Za-z0-9]{20,40}`).Draw(t, "secret")
		body := strings.Join([]string{
			"v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0", "m=audio 40000 RTP/SAVP 0 8", "a=sendrecv",
			"a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:" + secret, "k=base64:" + secret, "a=ice-pwd:" + secret, "a=" + secret, "",
		}, "\r\n")
		start := rapid.SampledFrom([]string{
			"INVITE sip:" + secret + "@127.0.0.1 SIP/2.0", "SIP/2.0 488 bad a=crypto:1 X inline:" + secret, "SIP/2.0 200 OK",
		}).Draw(t, "start")
		lines := []string{
			start, "Via: SIP/2.0/TLS 127.0.0.1;branch=z9hG4bK1", "From: <sip:a@b>;tag=" + secret, "To: <sip:c@d>;tag=" + secret,
			"Call-ID: " + secret, "CSeq: 1 INVITE", name.Draw(t, "name") + `: Digest username="u", response="` + secret + `"`,
			"Content-Type: " + rapid.SampledFrom([]string{"application/sdp", "text/plain;x=" + secret}).Draw(t, "type"),
			fmt.Sprintf("Content-Length: %d", len(body)), "", body,
		}
		step, ok := event([]byte(strings.Join(lines, "\r\n")))
		if !ok {
			t.Fatalf("not a message:\n%s", strings.Join(lines, "\n"))
		}
		if text := fmt.Sprintf("%+v", step); strings.Contains(text, secret) {
			t.Fatalf("%s shows %s", text, secret)
		}
	})
}
