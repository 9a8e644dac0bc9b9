package sdp_test

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/sdp"
)

func offer(t testing.TB, c sdp.Capabilities) *sdp.Description {
	t.Helper()
	d, err := sdp.Offer(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOfferText(t *testing.T) {
	t.Parallel()
	c := capabilities(sdp.Opus, sdp.G722, sdp.PCMU, sdp.PCMA, sdp.G729)
	c.Random = bytes.NewReader(append([]byte("0123456789abcdef0123456789abcd"), 0, 0, 0, 0, 0, 0, 0, 20))
	want := lines("v=0", "o=- 5 1 IN IP4 192.0.2.1", "s=-", "c=IN IP4 192.0.2.1", "t=0 0",
		"m=audio 10000 RTP/SAVP 96 9 0 8 18 102 101",
		"a=rtpmap:96 opus/48000/2", "a=fmtp:96 useinbandfec=1;stereo=0", "a=rtpmap:9 G722/8000", "a=rtpmap:0 PCMU/8000",
		"a=rtpmap:8 PCMA/8000", "a=rtpmap:18 G729/8000", "a=fmtp:18 annexb=no",
		"a=rtpmap:102 telephone-event/48000", "a=fmtp:102 0-15", "a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-15",
		"a=ptime:20", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"+keyA, "a=sendrecv")
	if got := string(offer(t, c).Bytes()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAccept(t *testing.T) {
	t.Parallel()
	c := capabilities(sdp.Opus, sdp.PCMU, sdp.PCMA)
	ours := offer(t, c)
	const crypto = "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:" + keyA
	answer := func(media string, rest ...string) string {
		return lines(append([]string{"v=0", "o=- 9 9 IN IP4 198.51.100.7", "s=-", "c=IN IP4 198.51.100.7", "t=0 0", media}, rest...)...)
	}
	tests := map[string]struct {
		answer  string
		codec   sdp.Codec
		payload sdp.PayloadTypes
		events  sdp.PayloadTypes
		err     error
	}{
		"the usual": {answer: answer("m=audio 4000 RTP/SAVP 0 101", crypto, "a=rtpmap:0 PCMU/8000", "a=rtpmap:101 telephone-event/8000"),
			codec: sdp.PCMU, events: sdp.PayloadTypes{Send: 101, Receive: 101}},
		"the peer's own numbers": {answer: answer("m=audio 4000 RTP/SAVP 111 112", crypto, "a=rtpmap:111 opus/48000/2",
			"a=rtpmap:112 telephone-event/48000"),
			codec: sdp.Opus, payload: sdp.PayloadTypes{Send: 111, Receive: 96}, events: sdp.PayloadTypes{Send: 112, Receive: 102}},
		"our numbers without their maps": {answer: answer("m=audio 4000 RTP/SAVP 96 102", crypto),
			codec: sdp.Opus, payload: sdp.PayloadTypes{Send: 96, Receive: 96}, events: sdp.PayloadTypes{Send: 102, Receive: 102}},
		"our number with another map": {answer: answer("m=audio 4000 RTP/SAVP 96 8", crypto, "a=rtpmap:96 speex/8000"),
			codec: sdp.PCMA, payload: sdp.PayloadTypes{Send: 8, Receive: 8}},
		"several codecs, the peer's order": {answer: answer("m=audio 4000 RTP/SAVP 9 8 0 101", crypto, "a=rtpmap:101 telephone-event/8000"),
			codec: sdp.PCMA, payload: sdp.PayloadTypes{Send: 8, Receive: 8}, events: sdp.PayloadTypes{Send: 101, Receive: 101}},
		"events at another clock only": {answer: answer("m=audio 4000 RTP/SAVP 0 102", crypto, "a=rtpmap:102 telephone-event/48000"),
			codec: sdp.PCMU},
		"a second crypto line":  {answer: answer("m=audio 4000 RTP/SAVP 0", "a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:"+keyB, crypto), codec: sdp.PCMU},
		"plain RTP":             {answer: answer("m=audio 4000 RTP/AVP 0", crypto), err: sdp.ErrNoSRTP},
		"SAVPF to SAVP":         {answer: answer("m=audio 4000 RTP/SAVPF 0", crypto), err: sdp.ErrNoSRTP},
		"no key":                {answer: answer("m=audio 4000 RTP/SAVP 0"), err: sdp.ErrNoSRTP},
		"a weaker suite":        {answer: answer("m=audio 4000 RTP/SAVP 0", strings.Replace(crypto, "_80", "_32", 1)), err: sdp.ErrNoSRTP},
		"a tag not offered":     {answer: answer("m=audio 4000 RTP/SAVP 0", "a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:"+keyA), err: sdp.ErrNoSRTP},
		"no codec of ours":      {answer: answer("m=audio 4000 RTP/SAVP 9 101", crypto, "a=rtpmap:101 telephone-event/8000"), err: sdp.ErrNoCommonCodec},
		"only events":           {answer: answer("m=audio 4000 RTP/SAVP 101", crypto), err: sdp.ErrNoCommonCodec},
		"refused":               {answer: answer("m=audio 0 RTP/SAVP 0"), err: sdp.ErrNoAudio},
		"another kind":          {answer: answer("m=video 4000 RTP/SAVP 0", crypto), err: sdp.ErrNoAudio},
		"another family":        {answer: answer("m=audio 4000 RTP/SAVP 0", crypto, "c=IN IP6 2001:db8::1"), err: sdp.ErrAddress},
		"a name":                {answer: answer("m=audio 4000 RTP/SAVP 0", crypto, "c=IN IP4 media.example"), err: sdp.ErrAddress},
		"no address whatsoever": {answer: lines("v=0", "m=audio 4000 RTP/SAVP 0", crypto), err: sdp.ErrMalformed},
	}
	for name, tt := range tests {
		n, err := sdp.Accept(ours, parse(t, tt.answer))
		if !errors.Is(err, tt.err) || err == nil != (tt.err == nil) {
			t.Errorf("%s: %v, want %v", name, err, tt.err)
			continue
		}
		if n.Codec != tt.codec || n.Payload != tt.payload || n.Events != tt.events || n.HasEvents() != (tt.events.Send != 0) {
			t.Errorf("%s: %+v", name, n)
		}
		if err == nil && n.RemoteCrypto.Tag != 1 {
			t.Errorf("%s: crypto %+v", name, n.RemoteCrypto)
		}
	}
}

// TestEchoedKeyIsRefused checks that a peer that sends our own key back is refused, because both directions would use the same key stream.
func TestEchoedKeyIsRefused(t *testing.T) {
	t.Parallel()
	ours := offer(t, capabilities(sdp.PCMU))
	if _, err := sdp.Accept(ours, parse(t, string(ours.Bytes()))); !errors.Is(err, sdp.ErrNoSRTP) {
		t.Errorf("Accept: %v", err)
	}
	c := capabilities(sdp.PCMU)
	c.Previous = ours
	if _, _, err := sdp.Answer(c, parse(t, string(ours.Bytes()))); !errors.Is(err, sdp.ErrNoSRTP) {
		t.Errorf("Answer: %v", err)
	}
}

// TestHoldByAddress checks that for a hold by the address 0.0.0.0 (RFC 2543) the negotiated direction does not allow us to send.
func TestHoldByAddress(t *testing.T) {
	t.Parallel()
	tests := map[string]sdp.Direction{"a=sendrecv": sdp.RecvOnly, "a=sendonly": sdp.RecvOnly, "a=recvonly": sdp.Inactive, "a=inactive": sdp.Inactive}
	for line, want := range tests {
		held := parse(t, audio("192.0.2.9\r\nt=", "0.0.0.0\r\nt=")+line+"\r\n")
		answer, n, err := sdp.Answer(capabilities(sdp.PCMU), held)
		if err != nil || n.Direction != want || !n.RemoteHold || n.LocalHold {
			t.Errorf("%s: %+v, %v", line, n, err)
		}
		if !strings.HasSuffix(string(answer.Bytes()), "a="+want.String()+"\r\n") {
			t.Errorf("%s: answered\n%s", line, answer)
		}
	}
	six := capabilities(sdp.PCMU)
	six.Media = netip.MustParseAddrPort("[2001:db8::1]:10000")
	if _, n, err := sdp.Answer(six, parse(t, audio("192.0.2.9\r\nt=", "0.0.0.0\r\nt="))); err != nil || !n.RemoteHold {
		t.Errorf("over IPv6: %+v, %v", n, err)
	}
}

func TestIPv6(t *testing.T) {
	t.Parallel()
	c := capabilities(sdp.PCMU)
	c.Media = netip.MustParseAddrPort("[2001:db8::1]:10000")
	answer, n, err := sdp.Answer(c, parse(t, audio("IN IP4 192.0.2.9\r\nt=", "IN IP6 2001:db8::9\r\nt=")))
	if err != nil {
		t.Fatal(err)
	}
	if n.RemoteRTCP.String() != "[2001:db8::9]:4001" || !strings.Contains(string(answer.Bytes()), "c=IN IP6 2001:db8::1\r\n") {
		t.Errorf("%+v from\n%s", n, answer)
	}
}

// TestControlPort checks that the RTCP port is the port in a=rtcp (RFC 3605), or otherwise the port above the RTP port. There is no RTCP
// port above the last port.
func TestControlPort(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"a=rtcp:4010":                     "192.0.2.9:4010",
		"a=rtcp:4010 IN IP4 192.0.2.10":   "192.0.2.10:4010",
		"a=rtcp:4010 IN IP4 rtcp.example": "192.0.2.9:4010",
		"a=rtcp:0":                        "192.0.2.9:4001",
		"a=x":                             "192.0.2.9:4001",
	}
	for line, want := range tests {
		_, n, err := sdp.Answer(capabilities(sdp.PCMU), parse(t, audio("", line)))
		if err != nil || n.RemoteRTCP.String() != want {
			t.Errorf("%s: %s, %v; want %s", line, n.RemoteRTCP, err, want)
		}
	}
	_, n, err := sdp.Answer(capabilities(sdp.PCMU), parse(t, audio("audio 4000", "audio 65535")))
	if err != nil || n.RemoteRTCP.IsValid() {
		t.Errorf("above the last port: %s, %v", n.RemoteRTCP, err)
	}
}

func TestCapabilitiesAreChecked(t *testing.T) {
	t.Parallel()
	at := func(media string, codecs ...sdp.Codec) sdp.Capabilities {
		return sdp.Capabilities{Media: netip.MustParseAddrPort(media), Codecs: codecs}
	}
	withPtime, withPrevious := capabilities(sdp.PCMU), capabilities(sdp.PCMU)
	withPtime.Ptime = 1500
	withPrevious.Previous = parse(t, audio(""))
	tests := []struct {
		c     sdp.Capabilities
		field string
	}{
		{sdp.Capabilities{Codecs: []sdp.Codec{sdp.PCMU}}, "media"},
		{at("0.0.0.0:10000", sdp.PCMU), "media"},
		{at("224.0.0.1:10000", sdp.PCMU), "media"},
		{at("[fe80::1%lo]:10000", sdp.PCMU), "media"},
		{at("192.0.2.1:10001", sdp.PCMU), "media"},
		{at("192.0.2.1:0", sdp.PCMU), "media"},
		{at("192.0.2.1:10000"), "codecs"},
		{at("192.0.2.1:10000", "GSM"), "codecs"},
		{at("192.0.2.1:10000", sdp.PCMU, sdp.PCMU), "codecs"},
		{withPtime, "ptime"},
		{withPrevious, "previous"},
	}
	for _, tt := range tests {
		_, err := sdp.Offer(tt.c)
		if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Field != tt.field {
			t.Errorf("Offer(%+v): %v, want a complaint about %s", tt.c, err, tt.field)
		}
		if _, _, err = sdp.Answer(tt.c, parse(t, audio(""))); err == nil {
			t.Errorf("Answer(%+v) has no complaint", tt.c)
		}
	}
	if _, err := sdp.Accept(parse(t, audio("")), parse(t, audio(""))); !errors.Is(err, callwright.ErrBadRequest) {
		t.Errorf("Accept of somebody else's offer: %v", err)
	}
}

// TestNoRandomness checks that Offer and Answer fail if the source of randomness fails, instead of using a weak key.
func TestNoRandomness(t *testing.T) {
	t.Parallel()
	for _, have := range []int{0, 29, 37} {
		c := capabilities(sdp.PCMU)
		c.Random = io.LimitReader(strings.NewReader(strings.Repeat("x", 64)), int64(have))
		if d, err := sdp.Offer(c); err == nil || d != nil {
			t.Errorf("%d bytes: an offer", have)
		}
		c.Random = io.LimitReader(strings.NewReader(strings.Repeat("x", 64)), int64(have))
		if d, _, err := sdp.Answer(c, parse(t, audio(""))); err == nil || d != nil {
			t.Errorf("%d bytes: an answer", have)
		}
	}
}
