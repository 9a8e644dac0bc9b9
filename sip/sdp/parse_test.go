package sdp_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/sip/sdp"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"nothing":               "",
		"no version":            "o=- 1 1 IN IP4 192.0.2.9\r\n",
		"another version":       "v=1\r\nm=audio 1 RTP/SAVP 0\r\n",
		"not a line":            audio("t=0 0", "hello"),
		"one character":         audio("t=0 0", "t"),
		"media with NUL":        audio("m=audio 4000 RTP/SAVP 0", "m=audio 4000 RTP/SAVP 0 \x00 8"),
		"media with a CR":       audio("m=audio 4000 RTP/SAVP 0", "m=audio 4000 RTP/SAVP 0\r8"),
		"media without formats": audio("m=audio 4000 RTP/SAVP 0", "m=audio 4000 RTP/SAVP"),
		"media with a bad port": audio("audio 4000", "audio 65536"),
		"media without a port":  audio("audio 4000", "audio x"),
		"media outside ASCII":   audio("m=audio", "m=aüdio"),
		"connection":            audio("IN IP4 192.0.2.9\r\nt=", "ATM NSAP 47\r\nt="),
		"connection, empty":     audio("IN IP4 192.0.2.9\r\nt=", "IN IP4 \r\nt="),
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

// TestParseTolerates checks that Parse accepts harmless deviations of real peers.
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
		"text in Latin-1":      audio("s=-", "s=J\xfcrgen"),
		"control characters":   audio("s=-", "s=a\x00\rb", "a=\x01:\x02", "a=ptime:\x00"),
		"trailing blanks":      strings.ReplaceAll(audio("", "a=rtpmap:0 PCMU/8000"), "\r\n", " \t\r\n"),
		"double blanks":        audio("m=audio 4000 RTP/SAVP 0", "m=audio  4000  RTP/SAVP\t 0", "a=rtpmap: 0  PCMU/8000"),
		"odd rtcp":             audio("", "a=rtcp:", "a=rtcp", "a=rtcp:x", "a=rtcp:70000", "a=rtcp:4001 IN IP9 x", "a=rtcp:4001 IN"),
		"odd directions":       audio("", "a=sendonly:x\r\na=sendrecv", "a=send"),
		"odd crypto":           audio("", "a=crypto:", "a=crypto:x", "a=crypto:2"),
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

// TestFormatListedTwice checks that a payload type that is listed twice has only the meaning that its rtpmap defines.
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

// TestCryptoLines checks which a=crypto lines of RFC 4568 are usable. An unusable line is skipped, and the next one is used.
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
		{"0 " + suite + "inline:" + keyA, "", true},
		{"01 " + suite + "inline:" + keyA, "", true},
		{"000000007 " + suite + "inline:" + keyA + " \t", "", true},
		{"0000000001 " + suite + "inline:" + keyA, "", false},
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
		tag, _, _ := strings.Cut(tt.line, " ")
		if tt.ok && !strings.Contains(string(answer.Bytes()), "a=crypto:"+tag+" ") {
			t.Errorf("%s: the tag is answered as\n%s", tt.line, answer)
		}
		if got := strings.Count(string(answer.Bytes()), "a=crypto:"); got != 1 {
			t.Errorf("%s: the answer has %d a=crypto lines", tt.line, got)
		}
	}
}

// FuzzParse checks that Parse does not panic, that the answer to an acceptable offer can be parsed, and that no printed description shows
// the key.
func FuzzParse(f *testing.F) {
	for _, tt := range peerOffers {
		f.Add(tt.offer)
	}
	f.Add(audio("", "a=inactive", "a=rtcp:1 IN IP6 ::1"))
	for _, odd := range oddOffers {
		f.Add(odd.offer)
	}
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

// oddOffers contains offers of real PBXs that earlier versions handled wrongly, with the expected results.
var oddOffers = map[string]struct {
	offer string
	codec sdp.Codec // codec of the answer; empty if the offer is refused
	ptime time.Duration
	err   error
}{
	"an empty attribute":         {offer: audio("", "a=rtcp:"), codec: sdp.PCMU, ptime: 20 * time.Millisecond},
	"no streams":                 {offer: lines("v=0", "o=- 7 7 IN IP4 192.0.2.9", "s=-", "c=IN IP4 192.0.2.9", "t=0 0"), err: sdp.ErrNoAudio},
	"opus without its channels":  {offer: audio("SAVP 0", "SAVP 96", "a=rtpmap:96 opus/48000"), codec: sdp.Opus, ptime: 20 * time.Millisecond},
	"a leading zero in the tag":  {offer: audio("crypto:1 ", "crypto:01 "), codec: sdp.PCMU, ptime: 20 * time.Millisecond},
	"at most 10 ms":              {offer: audio("", "a=maxptime:10"), codec: sdp.PCMU, ptime: 10 * time.Millisecond},
	"30 ms":                      {offer: audio("", "a=ptime:30"), codec: sdp.PCMU, ptime: 30 * time.Millisecond},
	"25 ms":                      {offer: audio("", "a=ptime:25"), codec: sdp.PCMU, ptime: 20 * time.Millisecond},
	"200 ms":                     {offer: audio("", "a=ptime:200", "a=maxptime:140"), codec: sdp.PCMU, ptime: 60 * time.Millisecond},
	"5 ms, which may be longer":  {offer: audio("", "a=ptime:5"), codec: sdp.PCMU, ptime: 10 * time.Millisecond},
	"at most 5 ms":               {offer: audio("", "a=maxptime:5"), err: sdp.ErrNoCommonCodec},
	"at most 10 ms, opus first":  {offer: audio("SAVP 0", "SAVP 96 0", "a=rtpmap:96 opus/48000/2", "a=maxptime:10"), codec: sdp.Opus, ptime: 10 * time.Millisecond},
	"60 ms of opus":              {offer: audio("SAVP 0", "SAVP 96", "a=rtpmap:96 opus/48000/2", "a=ptime:60"), codec: sdp.Opus, ptime: 60 * time.Millisecond},
	"30 ms of opus":              {offer: audio("SAVP 0", "SAVP 96", "a=rtpmap:96 opus/48000/2", "a=ptime:30"), codec: sdp.Opus, ptime: 20 * time.Millisecond},
	"a hold with a trailing tab": {offer: audio("", "a=sendonly\t"), codec: sdp.PCMU, ptime: 20 * time.Millisecond},
}

func TestOddOffers(t *testing.T) {
	t.Parallel()
	for name, tt := range oddOffers {
		answer, n, err := sdp.Answer(capabilities(sdp.Opus, sdp.PCMU), parse(t, tt.offer))
		if !errors.Is(err, tt.err) || n.Codec != tt.codec || n.Ptime != tt.ptime {
			t.Errorf("%s: %s of %s, %v", name, n.Codec, n.Ptime, err)
		}
		if strings.Contains(tt.offer, "sendonly") && !n.RemoteHold {
			t.Errorf("%s: no hold", name)
		}
		if err == nil && n.LocalCrypto.Tag != 1 {
			t.Errorf("%s: tag %d in\n%s", name, n.LocalCrypto.Tag, answer)
		}
	}
}

// TestPacketTimeOfAnAnswer checks that the packet time in an answer applies, and that an answer is refused if its maximum is below our
// shortest packet.
func TestPacketTimeOfAnAnswer(t *testing.T) {
	t.Parallel()
	ours := offer(t, capabilities(sdp.Opus, sdp.PCMU))
	for lines, want := range map[string]time.Duration{"a=ptime:40": 40 * time.Millisecond, "a=maxptime:10": 10 * time.Millisecond, "a=maxptime:5": 0} {
		n, err := sdp.Accept(ours, parse(t, audio("", lines)))
		if n.Ptime != want || errors.Is(err, sdp.ErrNoCommonCodec) != (want == 0) {
			t.Errorf("%s: %s, %v", lines, n.Ptime, err)
		}
	}
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
			!strings.HasPrefix(strings.TrimLeft(line, " \t0"), strings.TrimLeft(fmt.Sprint(n.RemoteCrypto.Tag), "0")) {
			t.Fatalf("%q gave %+v", line, n.RemoteCrypto)
		}
	})
}
