package sdp_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/sip/sdp"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"nothing":               "",
		"no version":            "o=- 1 1 IN IP4 192.0.2.9\r\n",
		"another version":       "v=1\r\nm=audio 1 RTP/SAVP 0\r\n",
		"no media":              lines("v=0", "o=- 1 1 IN IP4 192.0.2.9", "s=-", "t=0 0"),
		"not a line":            audio("t=0 0", "hello"),
		"one character":         audio("t=0 0", "t"),
		"NUL":                   audio("s=-", "s=\x00"),
		"stray CR":              audio("s=-", "s=a\rb"),
		"media without formats": audio("m=audio 4000 RTP/SAVP 0", "m=audio 4000 RTP/SAVP"),
		"media with a bad port": audio("audio 4000", "audio 65536"),
		"media without a port":  audio("audio 4000", "audio x"),
		"media outside ASCII":   audio("m=audio", "m=aüdio"),
		"connection":            audio("IN IP4 192.0.2.9\r\nt=", "ATM NSAP 47\r\nt="),
		"connection, empty":     audio("IN IP4 192.0.2.9\r\nt=", "IN IP4 \r\nt="),
		"rtcp without a port":   audio("", "a=rtcp:x"),
		"rtcp, bad address":     audio("", "a=rtcp:4001 IN IP9 x"),
		"too large":             audio("s=-", "s="+strings.Repeat("x", sdp.MaxSize)),
		"too many lines":        audio("", strings.Repeat("a=x\r\n", 1000)),
		"too many streams":      audio("", strings.Repeat("m=audio 0 RTP/AVP 0\r\n", 32)),
	}
	for name, text := range tests {
		if d, err := sdp.Parse([]byte(text)); !errors.Is(err, sdp.ErrMalformed) || d != nil {
			t.Errorf("%s: got %v, %v; want malformed", name, d, err)
		}
	}
}

// What real peers send and what changes nothing.
func TestParseTolerates(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"bare LF":            strings.ReplaceAll(audio(""), "\r\n", "\n"),
		"no last line end":   strings.TrimSuffix(audio(""), "\r\n"),
		"blank lines at end": audio("", "", " "),
		"unknown types":      audio("t=0 0", "t=0 0", "q=x", "z=0 0", "k=clear:x"),
		"unknown attributes": audio("", "a=", "a=x-y:z", "a=mid:1", "a=candidate:1 1 UDP 1 192.0.2.9 4000 typ host"),
		"odd maps": audio("", "a=rtpmap:", "a=rtpmap:0", "a=rtpmap:0 PCMU", "a=rtpmap:0 PCMU/x", "a=rtpmap:0 PCMU/8000/x",
			"a=rtpmap:300 PCMU/8000", "a=rtpmap:99 PCMU/8000", "a=fmtp:", "a=fmtp:x y"),
		"text in UTF-8":        audio("s=-", "s=Ünïcode"),
		"lower-case map":       audio("", "a=rtpmap:0 pcmu/8000/1"),
		"broken ptime":         audio("", "a=ptime:", "a=ptime:1e9", "a=ptime:NaN", "a=maxptime:-1"),
		"formats without name": audio("SAVP 0", "SAVP x 128 -1 96 72 0 0"),
		"one format, often":    audio("SAVP 0", "SAVP"+strings.Repeat(" 0", 1000)),
	}
	for name, text := range tests {
		_, n, err := sdp.Answer(capabilities(sdp.PCMU), parse(t, text))
		if err != nil || n.Codec != sdp.PCMU || n.Payload.Send != 0 || n.Ptime != sdp.DefaultPtime {
			t.Errorf("%s: %+v, %v", name, n, err)
		}
	}
}

// A payload type that is listed twice still means one thing: what its map says.
func TestFormatListedTwice(t *testing.T) {
	t.Parallel()
	_, n, err := sdp.Answer(capabilities(sdp.PCMU, sdp.PCMA), parse(t, audio("SAVP 0", "SAVP 0 0")+"a=rtpmap:0 PCMA/8000\r\n"))
	if err != nil || n.Codec != sdp.PCMA || n.Payload.Send != 0 {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestCodecs(t *testing.T) {
	t.Parallel()
	d := parse(t, audio("SAVP 0", "SAVP 9 3 0 96", "a=rtpmap:96 OPUS/48000/2"))
	if got := d.Codecs(); !slices.Equal(got, []sdp.Codec{sdp.G722, sdp.PCMU, sdp.Opus}) {
		t.Errorf("Codecs() = %v", got)
	}
	if got := parse(t, audio("audio 4000", "audio 0")).Codecs(); got != nil {
		t.Errorf("Codecs() of a switched-off stream = %v", got)
	}
	for name, want := range map[string]sdp.Codec{
		"PCMU": sdp.PCMU, "pcma": sdp.PCMA, "G.722": sdp.G722, "g729": sdp.G729, "G.729": sdp.G729, "Opus": sdp.Opus, "speex": "", "": "",
	} {
		if got, ok := sdp.ParseCodec(name); got != want || ok != (want != "") {
			t.Errorf("ParseCodec(%q) = %q, %v", name, got, ok)
		}
	}
	rates := fmt.Sprint(sdp.G722.ClockRate(), sdp.G722.SampleRate(), sdp.Opus.ClockRate(), sdp.PCMU.SampleRate(),
		sdp.Codec("x").ClockRate(), sdp.Codec("x").SampleRate())
	if rates != "8000 16000 48000 8000 0 0" {
		t.Errorf("rates: %s", rates)
	}
}

func TestWhatADescriptionSays(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text      string
		direction sdp.Direction
		secure    bool
	}{
		"both ways":        {audio("", ""), sdp.SendRecv, true},
		"on hold":          {audio("t=0 0", "t=0 0", "a=sendonly"), sdp.SendOnly, true},
		"held the old way": {audio("c=IN IP4 192.0.2.9", "c=IN IP4 0.0.0.0"), sdp.SendOnly, true},
		"no SRTP":          {audio("SAVP", "AVP"), sdp.SendRecv, false},
		"switched off":     {audio("audio 4000", "audio 0"), sdp.Inactive, false},
	} {
		d := parse(t, tt.text)
		if d.Direction() != tt.direction || d.Secure() != tt.secure {
			t.Errorf("%s: %v, %v", name, d.Direction(), d.Secure())
		}
	}
}

// RFC 4568's line, usable and not. A line that is not is skipped, and the next one taken.
func TestCryptoLines(t *testing.T) {
	t.Parallel()
	const suite = "AES_CM_128_HMAC_SHA1_80 "
	tests := []struct {
		line string
		mki  string
		ok   bool
	}{
		{"1 " + suite + "inline:" + keyA, "", true},
		{"999999999 " + suite + "inline:" + keyA + "=", "", true},
		{"1  aes_cm_128_hmac_sha1_80  INLINE:" + keyA + "==", "", true},
		{"1 " + suite + "inline:" + keyA + "|2^31", "", true},
		{"1 " + suite + "inline:" + keyA + "|2^48", "", true},
		{"1 " + suite + "inline:" + keyA + "|1048576", "", true},
		{"1 " + suite + "inline:" + keyA + "|2^20|1:4", "\x00\x00\x00\x01", true},
		{"1 " + suite + "inline:" + keyA + "|4294967297:8", "\x00\x00\x00\x01\x00\x00\x00\x01", true},
		{"1 " + suite + "inline:" + keyA + "|255:1", "\xff", true},
		{"1 " + suite + "inline:" + keyA + " WSH=128 FEC_ORDER=SRTP_FEC NEW-ONE", "", true},
		{"1 " + suite + "inline:" + keyA + " KDRX=1", "", true},
		{"1 " + suite + "inline:" + keyA + "===", "", false},
		{"1 " + suite + "inline:" + keyA[:39], "", false},
		{"1 " + suite + "inline:" + keyA[:39] + "=", "", false},
		{"1 " + suite + "inline:" + keyA[:39] + "-", "", false},
		{"1 " + suite + "inline:" + keyA + "AA", "", false},
		{"1 " + suite + "inline:", "", false},
		{"1 " + suite + "uri:" + keyA, "", false},
		{"1 " + suite, "", false},
		{"1 AES_CM_128_HMAC_SHA1_32 inline:" + keyA, "", false},
		{"1 NULL_HMAC_SHA1_80 inline:" + keyA, "", false},
		{suite + "inline:" + keyA, "", false},
		{"0 " + suite + "inline:" + keyA, "", false},
		{"01 " + suite + "inline:" + keyA, "", false},
		{"-1 " + suite + "inline:" + keyA, "", false},
		{"1000000000 " + suite + "inline:" + keyA, "", false},
		{"1 " + suite + "inline:" + keyA + "|2^49", "", false},
		{"1 " + suite + "inline:" + keyA + "|2^0", "", false},
		{"1 " + suite + "inline:" + keyA + "|0", "", false},
		{"1 " + suite + "inline:" + keyA + "|", "", false},
		{"1 " + suite + "inline:" + keyA + "|256:1", "", false},
		{"1 " + suite + "inline:" + keyA + "|1:0", "", false},
		{"1 " + suite + "inline:" + keyA + "|1:129", "", false},
		{"1 " + suite + "inline:" + keyA + "|x:1", "", false},
		{"1 " + suite + "inline:" + keyA + "|2^20|1:4|x", "", false},
		{"1 " + suite + "inline:" + keyA + "|1:4|2^20", "", false},
		{"1 " + suite + "inline:" + keyA + "|2^20|1:4;inline:" + keyB + "|2^20|2:4", "", false},
		{"1 " + suite + "inline:" + keyA + " UNENCRYPTED_SRTP", "", false},
		{"1 " + suite + "inline:" + keyA + " WSH=64 unencrypted_srtcp", "", false},
		{"1 " + suite + "inline:" + keyA + " UNAUTHENTICATED_SRTP", "", false},
		{"1 " + suite + "inline:" + keyA + " KDR=1", "", false},
		{"1 " + suite + "inline:" + keyA + " -KDR=1", "", false},
	}
	const fallback = "77 AES_CM_128_HMAC_SHA1_80 inline:" + keyB
	for _, tt := range tests {
		offer := parse(t, audio("a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"+keyA, "a=crypto:"+tt.line, "a=crypto:"+fallback))
		answer, n, err := sdp.Answer(capabilities(sdp.PCMU), offer)
		if err != nil {
			t.Fatal(err)
		}
		if taken := n.RemoteCrypto.Tag != 77; taken != tt.ok || string(n.RemoteCrypto.MKI) != tt.mki {
			t.Errorf("%s: taken %v with MKI %x", tt.line, taken, n.RemoteCrypto.MKI)
		}
		if got := strings.Count(string(answer.Bytes()), "a=crypto:"); got != 1 {
			t.Errorf("%s: the answer has %d a=crypto lines", tt.line, got)
		}
	}
}

// Whatever a peer sends: Parse does not panic, what can be answered gets an answer that can be parsed, and no log shows
// the key.
func FuzzParse(f *testing.F) {
	for _, tt := range peerOffers {
		f.Add(tt.offer)
	}
	f.Add(audio("", "a=inactive", "a=rtcp:1 IN IP6 ::1"))
	c := capabilities(sdp.Opus, sdp.G722, sdp.PCMU, sdp.PCMA, sdp.G729)
	ours, err := sdp.Offer(c)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := sdp.Parse([]byte(text))
		if err != nil {
			if !errors.Is(err, sdp.ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		_, _ = sdp.Accept(ours, d)
		answer, n, err := sdp.Answer(c, d)
		if err != nil {
			return
		}
		again, err := sdp.Parse(answer.Bytes())
		if err != nil {
			t.Fatalf("the answer does not parse: %v\n%s", err, answer)
		}
		if strings.Contains(again.String(), "\ninline") || n.Codec == "" || n.RemoteCrypto.Key.IsZero() {
			t.Fatalf("%+v from\n%s", n, answer)
		}
	})
}

func FuzzCrypto(f *testing.F) {
	f.Add("1 AES_CM_128_HMAC_SHA1_80 inline:" + keyA + "|2^20|1:4 WSH=64")
	f.Add("1 AES_CM_128_HMAC_SHA1_80 inline:" + keyA + "==")
	f.Add("1 \xff\xff\u0130 inline:" + keyA)
	f.Fuzz(func(t *testing.T, line string) {
		d, err := sdp.Parse([]byte(audio("a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"+keyA, "a=crypto:"+line)))
		if err != nil {
			return
		}
		if before, _, _ := strings.Cut(line, "inline:"); !strings.Contains(before, keyA) && strings.Contains(d.String(), keyA) &&
			strings.Contains(line, "inline:") {
			t.Fatalf("the key shows in\n%s", d)
		}
		_, n, err := sdp.Answer(capabilities(sdp.PCMU), d)
		if err != nil {
			return
		}
		if len(n.RemoteCrypto.Key.Master()) != 16 || len(n.RemoteCrypto.Key.Salt()) != 14 ||
			!strings.HasPrefix(line, fmt.Sprint(n.RemoteCrypto.Tag)+" ") {
			t.Fatalf("%q gave %+v", line, n.RemoteCrypto)
		}
	})
}
