package sdp_test

import (
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/sdp"
)

// Two keys of peers in base64: the 30 bytes "0123456789abcdef0123456789abcd", and the same in upper case.
const (
	keyA = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNk"
	keyB = "MDEyMzQ1Njc4OUFCQ0RFRjAxMjM0NTY3ODlBQkNE"
)

var ourMedia = netip.MustParseAddrPort("192.0.2.1:10000")

func capabilities(codecs ...sdp.Codec) sdp.Capabilities {
	return sdp.Capabilities{Media: ourMedia, Codecs: codecs}
}

func parse(t testing.TB, text string) *sdp.Description {
	t.Helper()
	d, err := sdp.Parse([]byte(text))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return d
}

// lines joins the lines of a description with CRLF.
func lines(lines ...string) string { return strings.Join(lines, "\r\n") + "\r\n" }

// peerOffers contains offers in the form that real peers send, each with the expected result.
var peerOffers = map[string]struct {
	offer  string
	codecs []sdp.Codec
	want   sdp.Negotiated // without keys
	tag    int
	mki    string
	answer []string // lines that the answer must contain, in this order
}{
	"asterisk": {
		offer: lines("v=0", "o=- 1734520871 1734520871 IN IP4 198.51.100.20", "s=Asterisk", "c=IN IP4 198.51.100.20", "t=0 0",
			"m=audio 14532 RTP/SAVP 0 8 9 101",
			"a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"+keyA,
			"a=crypto:2 AES_CM_128_HMAC_SHA1_32 inline:"+keyB,
			"a=rtpmap:0 PCMU/8000", "a=rtpmap:8 PCMA/8000", "a=rtpmap:9 G722/8000",
			"a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-16", "a=ptime:20", "a=maxptime:140", "a=sendrecv"),
		codecs: []sdp.Codec{sdp.G722, sdp.PCMA},
		want: sdp.Negotiated{
			RemoteRTP: netip.MustParseAddrPort("198.51.100.20:14532"), RemoteRTCP: netip.MustParseAddrPort("198.51.100.20:14533"),
			Codec: sdp.G722, Payload: sdp.PayloadTypes{Send: 9, Receive: 9}, Events: sdp.PayloadTypes{Send: 101, Receive: 101}, EventClock: 8000,
			Ptime: 20 * time.Millisecond,
		},
		tag: 1,
		answer: []string{"m=audio 10000 RTP/SAVP 9 101", "a=rtpmap:9 G722/8000", "a=rtpmap:101 telephone-event/8000",
			"a=fmtp:101 0-15", "a=sendrecv"},
	},
	"freeswitch, 32-bit tag first, session-level c=, video refused": {
		offer: lines("v=0", "o=FreeSWITCH 1700000000 1700000001 IN IP4 203.0.113.5", "s=FreeSWITCH", "c=IN IP4 203.0.113.5", "t=0 0",
			"m=audio 31998 RTP/SAVP 102 0 8 103 101",
			"a=rtpmap:102 opus/48000/2", "a=fmtp:102 useinbandfec=1; maxaveragebitrate=30000",
			"a=rtpmap:0 PCMU/8000", "a=rtpmap:8 PCMA/8000",
			"a=rtpmap:103 telephone-event/48000", "a=fmtp:103 0-15", "a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-15",
			"a=crypto:1 AEAD_AES_256_GCM_8 inline:"+keyB+keyB,
			"a=crypto:4 AES_CM_128_HMAC_SHA1_80 inline:"+keyA+"|2^31|1:1",
			"a=rtcp:32000 IN IP4 203.0.113.6", "a=ptime:40",
			"m=video 22000 RTP/SAVP 96", "a=rtpmap:96 VP8/90000", "a=sendonly"),
		codecs: []sdp.Codec{sdp.Opus, sdp.PCMU},
		want: sdp.Negotiated{
			RemoteRTP: netip.MustParseAddrPort("203.0.113.5:31998"), RemoteRTCP: netip.MustParseAddrPort("203.0.113.6:32000"),
			Codec: sdp.Opus, Payload: sdp.PayloadTypes{Send: 102, Receive: 102}, Events: sdp.PayloadTypes{Send: 103, Receive: 103}, EventClock: 48000,
			Ptime: 40 * time.Millisecond,
		},
		tag: 4, mki: "\x01",
		answer: []string{"m=audio 10000 RTP/SAVP 102 103", "a=rtpmap:102 opus/48000/2", "a=crypto:4 ", "m=video 0 RTP/SAVP 96"},
	},
	"baresip": {
		offer: lines("v=0", "o=- 2226523560 363986820 IN IP4 127.0.0.9", "s=-", "c=IN IP4 127.0.0.9", "t=0 0", "a=tool:baresip 1.0.0",
			"m=audio 12420 RTP/SAVP 0 8 101", "a=rtpmap:0 PCMU/8000", "a=rtpmap:8 PCMA/8000", "a=rtpmap:101 telephone-event/8000",
			"a=fmtp:101 0-15", "a=sendrecv", "a=label:1", "a=rtcp-rsize", "a=ssrc:2262549695 cname:sip:bare@127.0.0.9:5061",
			"a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"+keyA, "a=minptime:20", "a=ptime:20"),
		codecs: []sdp.Codec{sdp.Opus, sdp.PCMA, sdp.PCMU},
		want: sdp.Negotiated{
			RemoteRTP: netip.MustParseAddrPort("127.0.0.9:12420"), RemoteRTCP: netip.MustParseAddrPort("127.0.0.9:12421"),
			Codec: sdp.PCMA, Payload: sdp.PayloadTypes{Send: 8, Receive: 8}, Events: sdp.PayloadTypes{Send: 101, Receive: 101}, EventClock: 8000,
			Others: []sdp.Other{{Codec: sdp.PCMU, Receive: 0}}, Ptime: 20 * time.Millisecond,
		},
		tag:    1,
		answer: []string{"m=audio 10000 RTP/SAVP 8 0 101", "a=crypto:1 "},
	},
	"SAVPF, bare LF, no static maps needed": {
		offer: strings.ReplaceAll(lines("v=0", "o=- 2890844526 1 IN IP4 127.0.0.2", "s=-", "c=IN IP4 127.0.0.2", "t=0 0",
			"a=tool:baresip 1.0.0", "m=audio 12034 RTP/SAVPF 8 0 101", "a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-15",
			"a=rtcp:12035", "a=rtcp-mux", "a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:"+keyA+"==", "a=label:1", "a=sendrecv",
			"a=ssrc:1234 cname:sip:bare@127.0.0.2", "a=minptime:20"), "\r\n", "\n"),
		codecs: []sdp.Codec{sdp.PCMU, sdp.PCMA},
		want: sdp.Negotiated{
			RemoteRTP: netip.MustParseAddrPort("127.0.0.2:12034"), RemoteRTCP: netip.MustParseAddrPort("127.0.0.2:12035"),
			Codec: sdp.PCMU, Payload: sdp.PayloadTypes{Send: 0, Receive: 0}, Events: sdp.PayloadTypes{Send: 101, Receive: 101}, EventClock: 8000,
			Others: []sdp.Other{{Codec: sdp.PCMA, Receive: 8}}, Ptime: 20 * time.Millisecond,
		},
		tag:    2,
		answer: []string{"m=audio 10000 RTP/SAVPF 0 8 101", "a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:"},
	},
	"carrier that offers plain RTP beside SRTP, and fax": {
		offer: lines("v=0", "o=Sonus 1 1 IN IP4 192.0.2.50", "s=SIP Media Capabilities", "t=0 0",
			"m=image 4004 udptl t38", "c=IN IP4 192.0.2.50",
			"m=audio 4000 RTP/AVP 0 8", "c=IN IP4 192.0.2.50",
			"m=audio 4002 RTP/SAVP 8 18 96", "c=IN IP4 192.0.2.51", "a=rtpmap:96 telephone-event/8000",
			"a=crypto:7 AES_CM_128_HMAC_SHA1_80 inline:"+keyA+"|1048576 WSH=64 FEC_ORDER=FEC_SRTP", "a=maxptime:10"),
		codecs: []sdp.Codec{sdp.PCMA},
		want: sdp.Negotiated{
			RemoteRTP: netip.MustParseAddrPort("192.0.2.51:4002"), RemoteRTCP: netip.MustParseAddrPort("192.0.2.51:4003"),
			Codec: sdp.PCMA, Payload: sdp.PayloadTypes{Send: 8, Receive: 8}, Events: sdp.PayloadTypes{Send: 96, Receive: 96}, EventClock: 8000,
			Ptime: 10 * time.Millisecond,
		},
		tag:    7,
		answer: []string{"m=image 0 udptl t38", "m=audio 0 RTP/AVP 0 8", "m=audio 10000 RTP/SAVP 8 96"},
	},
	"no telephone-event at the codec's clock; G.729 without its annex B": {
		offer: lines("v=0", "o=- 1 1 IN IP4 192.0.2.60", "s=-", "c=IN IP4 192.0.2.60/127", "t=0 0",
			"m=audio 5000/1 RTP/SAVP 18 110", "c=IN IP4 192.0.2.61", "a=fmtp:18 annexb=yes", "a=rtpmap:110 telephone-event/16000",
			"a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"+keyA, "a=ptime:0", "a=maxptime:x"),
		codecs: []sdp.Codec{sdp.G729},
		want: sdp.Negotiated{
			RemoteRTP: netip.MustParseAddrPort("192.0.2.61:5000"), RemoteRTCP: netip.MustParseAddrPort("192.0.2.61:5001"),
			Codec: sdp.G729, Payload: sdp.PayloadTypes{Send: 18, Receive: 18}, Ptime: 20 * time.Millisecond,
		},
		tag:    1,
		answer: []string{"m=audio 10000 RTP/SAVP 18\r\n", "a=fmtp:18 annexb=no"},
	},
}

func TestAnswerToPeers(t *testing.T) {
	t.Parallel()
	for name, tt := range peerOffers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, got, err := sdp.Answer(capabilities(tt.codecs...), parse(t, tt.offer))
			if err != nil {
				t.Fatal(err)
			}
			if got.LocalCrypto.Tag != tt.tag || got.RemoteCrypto.Tag != tt.tag || string(got.RemoteCrypto.MKI) != tt.mki {
				t.Errorf("crypto %+v and %+v, want tag %d and MKI %q", got.LocalCrypto, got.RemoteCrypto, tt.tag, tt.mki)
			}
			if key := string(got.RemoteCrypto.Key.Master()) + string(got.RemoteCrypto.Key.Salt()); key != "0123456789abcdef0123456789abcd" {
				t.Errorf("remote key is %q", key)
			}
			if got.LocalCrypto.Key.IsZero() || got.LocalCrypto.MKI != nil {
				t.Errorf("local crypto %+v", got.LocalCrypto)
			}
			wantNegotiated(t, got, tt.want)
			if codecs := answer.Codecs(); !slices.Equal(codecs, sendable(got)) {
				t.Errorf("the answer's codecs are %v", codecs)
			}
			rest := string(answer.Bytes())
			for _, line := range tt.answer {
				_, after, ok := strings.Cut(rest, line)
				if !ok {
					t.Fatalf("the answer lacks %q, or has it too early:\n%s", line, answer)
				}
				rest = after
			}
		})
	}
}

// wantNegotiated compares two negotiated sessions except for their keys.
func wantNegotiated(t *testing.T, got, want sdp.Negotiated) {
	t.Helper()
	want.Local = ourMedia
	got.LocalCrypto, got.RemoteCrypto = sdp.Crypto{}, sdp.Crypto{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// audio returns an offer with one secure PCMU stream. The given lines replace the first occurrence of the text in the parameter replace. If
// this text is empty, the lines are appended to the offer.
func audio(replace string, with ...string) string {
	base := lines("v=0", "o=- 1 1 IN IP4 192.0.2.9", "s=-", "c=IN IP4 192.0.2.9", "t=0 0", "m=audio 4000 RTP/SAVP 0",
		"a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"+keyA)
	if replace == "" {
		return base + lines(with...)
	}
	return strings.Replace(base, replace, strings.Join(with, "\r\n"), 1)
}

func TestAnswerRefuses(t *testing.T) {
	t.Parallel()
	const cryptoLine = "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:" + keyA
	tests := map[string]struct {
		offer string
		want  *sdp.Rejection
	}{
		"plain RTP":                        {audio("RTP/SAVP", "RTP/AVP"), sdp.ErrNoSRTP},
		"AVPF":                             {audio("RTP/SAVP", "RTP/AVPF"), sdp.ErrNoSRTP},
		"DTLS":                             {audio("RTP/SAVP", "UDP/TLS/RTP/SAVPF"), sdp.ErrNoSRTP},
		"SAVP without a key":               {audio(cryptoLine, "a=x"), sdp.ErrNoSRTP},
		"only a weaker suite":              {audio("_80", "_32"), sdp.ErrNoSRTP},
		"unencrypted":                      {audio(cryptoLine, cryptoLine+" UNENCRYPTED_SRTP"), sdp.ErrNoSRTP},
		"no common codec":                  {audio("SAVP 0", "SAVP 3 96"), sdp.ErrNoCommonCodec},
		"the number says one, the map two": {audio("", "a=rtpmap:0 PCMA/8000"), sdp.ErrNoCommonCodec},
		"the name at another clock":        {audio("", "a=rtpmap:0 PCMU/16000"), sdp.ErrNoCommonCodec},
		"plain RTP and SAVP without codec": {audio("m=audio 4000 RTP/SAVP 0", "m=audio 4002 RTP/AVP 0", "m=audio 4000 RTP/SAVP 3"),
			sdp.ErrNoCommonCodec},
		"switched off":       {audio("audio 4000", "audio 0"), sdp.ErrNoAudio},
		"only video":         {audio("audio", "video"), sdp.ErrNoAudio},
		"a name as address":  {audio("c=IN IP4 192.0.2.9", "c=IN IP4 media.example"), sdp.ErrAddress},
		"a multicast group":  {audio("c=IN IP4 192.0.2.9", "c=IN IP4 224.2.1.1/127"), sdp.ErrAddress},
		"everybody here":     {audio("c=IN IP4 192.0.2.9", "c=IN IP4 255.255.255.255"), sdp.ErrAddress},
		"the same in IPv6":   {audio("c=IN IP4 192.0.2.9", "c=IN IP6 ::ffff:255.255.255.255"), sdp.ErrAddress},
		"IPv6 only":          {audio("c=IN IP4 192.0.2.9", "c=IN IP6 2001:db8::9"), sdp.ErrAddress},
		"no c= line for it":  {audio("c=IN IP4 192.0.2.9", "b=AS:64"), sdp.ErrMalformed},
		"an unusable number": {audio("SAVP 0", "SAVP 72") + "a=rtpmap:72 PCMU/8000\r\n", sdp.ErrNoCommonCodec},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, _, err := sdp.Answer(capabilities(sdp.PCMU), parse(t, tt.offer))
			if !errors.Is(err, tt.want) || answer != nil {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if r, ok := errors.AsType[*sdp.Rejection](err); !ok || r != tt.want {
				t.Errorf("the rejection is %+v", r)
			}
			if !errors.Is(err, callwright.ErrBadRequest) {
				t.Error("the error has no code")
			}
			if strings.Contains(err.Error(), keyA) {
				t.Error("the error shows a key")
			}
		})
	}
}
