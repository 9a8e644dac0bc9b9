package sdp_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/sip/sdp"
)

var (
	directions = []sdp.Direction{sdp.SendRecv, sdp.SendOnly, sdp.RecvOnly, sdp.Inactive}
	allCodecs  = []sdp.Codec{sdp.PCMU, sdp.PCMA, sdp.G722, sdp.G729, sdp.Opus}
)

// TestDirectionTable checks every row of RFC 3264, section 6.1: the direction of the answer for each offered direction, with and without a
// hold of ours.
func TestDirectionTable(t *testing.T) {
	t.Parallel()
	tests := []struct{ offered, answered, whileHolding sdp.Direction }{
		{sdp.SendRecv, sdp.SendRecv, sdp.SendOnly},
		{sdp.SendOnly, sdp.RecvOnly, sdp.Inactive},
		{sdp.RecvOnly, sdp.SendOnly, sdp.SendOnly},
		{sdp.Inactive, sdp.Inactive, sdp.Inactive},
	}
	for _, tt := range tests {
		for _, level := range []string{"session", "media"} {
			text := audio("", "a="+tt.offered.String())
			if level == "session" {
				text = audio("t=0 0", "t=0 0", "a="+tt.offered.String())
			}
			for _, hold := range []bool{false, true} {
				c := capabilities(sdp.PCMU)
				c.Hold = hold
				want := tt.answered
				if hold {
					want = tt.whileHolding
				}
				answer, n, err := sdp.Answer(c, parse(t, text))
				if err != nil || n.Direction != want || n.LocalHold != hold || n.RemoteHold != !tt.offered.CanReceive() {
					t.Errorf("%s at %s level, hold %v: %+v, %v", tt.offered, level, hold, n, err)
				}
				if !strings.Contains(string(answer.Bytes()), "a="+want.String()+"\r\n") {
					t.Errorf("%s at %s level, hold %v: answered\n%s", tt.offered, level, hold, answer)
				}
			}
		}
	}
}

// TestReofferDirection checks RFC 3264, section 8.4: the direction of our offer after each previous direction, with and without a hold of
// ours.
func TestReofferDirection(t *testing.T) {
	t.Parallel()
	tests := []struct {
		before sdp.Direction // direction that the peer offered; we answered its reverse
		hold   bool
		want   sdp.Direction
	}{
		{sdp.SendRecv, true, sdp.SendOnly},
		{sdp.RecvOnly, true, sdp.SendOnly},
		{sdp.SendOnly, true, sdp.Inactive},
		{sdp.Inactive, true, sdp.Inactive},
		{sdp.SendRecv, false, sdp.SendRecv},
		{sdp.RecvOnly, false, sdp.SendRecv},
		{sdp.SendOnly, false, sdp.SendRecv},
		{sdp.Inactive, false, sdp.SendRecv},
	}
	for _, tt := range tests {
		c := capabilities(sdp.PCMU)
		answer, _, err := sdp.Answer(c, parse(t, audio("", "a="+tt.before.String())))
		if err != nil {
			t.Fatal(err)
		}
		c.Previous, c.Hold = answer, tt.hold
		if got := offer(t, c); !strings.Contains(string(got.Bytes()), "a="+tt.want.String()+"\r\n") {
			t.Errorf("after %s, hold %v: want %s in\n%s", tt.before, tt.hold, tt.want, got)
		}
	}
}

func TestDirectionLaws(t *testing.T) {
	t.Parallel()
	for _, d := range directions {
		if d.Reverse().Reverse() != d || d.And(d) != d || d.And(sdp.SendRecv) != d || d.And(sdp.Inactive) != sdp.Inactive {
			t.Errorf("%s breaks a law", d)
		}
		if d.Reverse().CanSend() != d.CanReceive() || d.Reverse().CanReceive() != d.CanSend() {
			t.Errorf("%s reversed is %s", d, d.Reverse())
		}
		for _, o := range directions {
			if d.And(o) != o.And(d) || d.And(o).Reverse() != d.Reverse().And(o.Reverse()) {
				t.Errorf("%s and %s break a law", d, o)
			}
		}
	}
	if got := sdp.Direction(9).String(); got != "invalid" {
		t.Errorf("9 is %s", got)
	}
}

// party is one side of a dialog, with its capabilities and the last negotiated session.
type party struct {
	c    sdp.Capabilities
	last sdp.Negotiated
}

// TestBothSidesAgree checks a dialog between two ends that both use this package. Both must negotiate the same session from opposite sides,
// for random capabilities and after random holds, resumes and refreshes.
func TestBothSidesAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		codecs := func(label string) []sdp.Codec {
			n := rapid.IntRange(1, len(allCodecs)).Draw(t, label+" codecs")
			return rapid.Permutation(allCodecs).Draw(t, label)[:n]
		}
		a := &party{c: sdp.Capabilities{Media: netip.MustParseAddrPort("192.0.2.1:10000"), Codecs: codecs("a")}}
		b := &party{c: sdp.Capabilities{Media: netip.MustParseAddrPort("192.0.2.2:20002"), Codecs: codecs("b")}}
		common := slices.ContainsFunc(a.c.Codecs, func(c sdp.Codec) bool { return slices.Contains(b.c.Codecs, c) })
		if !common {
			if _, _, err := sdp.Answer(b.c, reparse(t, mustOffer(t, a.c))); err == nil {
				t.Fatal("agreed without a common codec")
			}
			return
		}
		exchange(t, a, b)
		for range rapid.IntRange(0, 8).Draw(t, "re-offers") {
			from, to := a, b
			if rapid.Bool().Draw(t, "from b") {
				from, to = b, a
			}
			from.c.Hold = rapid.Bool().Draw(t, "hold")
			exchange(t, from, to)
		}
	})
}

// exchange sends one offer and its answer as text, and checks the invariants of both negotiated sessions.
func exchange(t *rapid.T, from, to *party) {
	offer := mustOffer(t, from.c)
	answer, theirs, err := sdp.Answer(to.c, reparse(t, offer))
	if err != nil {
		t.Fatalf("Answer: %v\n%s", err, offer)
	}
	ours, err := sdp.Accept(offer, reparse(t, answer))
	if err != nil {
		t.Fatalf("Accept: %v\n%s", err, answer)
	}
	first := slices.IndexFunc(to.c.Codecs, func(c sdp.Codec) bool { return slices.Contains(from.c.Codecs, c) })
	switch {
	case ours.Codec != theirs.Codec || ours.Codec != to.c.Codecs[first]:
		t.Fatalf("codecs %s and %s", ours.Codec, theirs.Codec)
	case ours.Payload.Send != theirs.Payload.Receive || ours.Payload.Receive != theirs.Payload.Send:
		t.Fatalf("payload types %v and %v", ours.Payload, theirs.Payload)
	case !ours.HasEvents() || ours.Events.Send != theirs.Events.Receive || ours.Events.Receive != theirs.Events.Send:
		t.Fatalf("events %v and %v", ours.Events, theirs.Events)
	case ours.Events.Receive == ours.Payload.Receive:
		t.Fatalf("%v means two things", ours.Payload)
	case ours.Direction != theirs.Direction.Reverse():
		t.Fatalf("directions %s and %s", ours.Direction, theirs.Direction)
	case ours.LocalHold != from.c.Hold || theirs.LocalHold != to.c.Hold || ours.RemoteHold != to.c.Hold || theirs.RemoteHold != from.c.Hold:
		t.Fatalf("holds %v %v seen as %+v and %+v", from.c.Hold, to.c.Hold, ours, theirs)
	case ours.Direction.CanReceive() == from.c.Hold || ours.Direction.CanSend() == to.c.Hold:
		t.Fatalf("%s with holds %v and %v", ours.Direction, from.c.Hold, to.c.Hold)
	case !ours.LocalCrypto.Key.Equal(theirs.RemoteCrypto.Key) || !ours.RemoteCrypto.Key.Equal(theirs.LocalCrypto.Key):
		t.Fatal("the keys are not swapped")
	case ours.LocalCrypto.Key.Equal(ours.RemoteCrypto.Key):
		t.Fatal("one key for both directions")
	case ours.Local != theirs.RemoteRTP || ours.RemoteRTP != theirs.Local || ours.RemoteRTCP.Port() != theirs.Local.Port()+1:
		t.Fatalf("addresses %v %v and %v %v", ours.Local, ours.RemoteRTP, theirs.Local, theirs.RemoteRTP)
	}
	from.settle(t, offer, ours)
	to.settle(t, answer, theirs)
}

// settle checks the values that must not change within a dialog, and that the version increases by one exactly if the rest of the
// description changes. It stores the state for the next exchange.
func (p *party) settle(t *rapid.T, sent *sdp.Description, n sdp.Negotiated) {
	if p.c.Previous != nil {
		if !n.LocalCrypto.Key.Equal(p.last.LocalCrypto.Key) {
			t.Fatal("the local key changed")
		}
		oldID, oldVersion, oldRest := split(p.c.Previous)
		id, version, rest := split(sent)
		want := oldVersion
		if rest != oldRest {
			want++
		}
		if id != oldID || version != want {
			t.Fatalf("o= line %s %d after %s %d:\n%s", id, version, oldID, oldVersion, sent)
		}
	}
	p.c.Previous, p.last = sent, n
}

// split returns the session id and the version of a description, and the rest of its text.
func split(d *sdp.Description) (id string, version int, rest string) {
	text := string(d.Bytes())
	before, after, _ := strings.Cut(text, "o=- ")
	fields := strings.SplitN(after, " ", 3)
	for _, digit := range fields[1] {
		version = 10*version + int(digit-'0')
	}
	return fields[0], version, before + fields[2]
}

func mustOffer(t *rapid.T, c sdp.Capabilities) *sdp.Description {
	d, err := sdp.Offer(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func reparse(t *rapid.T, d *sdp.Description) *sdp.Description {
	parsed, err := sdp.Parse(d.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, d)
	}
	return parsed
}

// TestReofferAfterAnswer checks that after an answer that refused streams our own offer repeats every m= line in its position, and uses the
// peer's payload types and profile.
func TestReofferAfterAnswer(t *testing.T) {
	t.Parallel()
	text := lines("v=0", "o=- 1 1 IN IP4 192.0.2.9", "s=-", "c=IN IP4 192.0.2.9", "t=0 0", "m=video 5000 RTP/AVP 96",
		"m=audio 4000 RTP/SAVPF 101 96 0", "a=rtpmap:101 opus/48000/2", "a=rtpmap:96 telephone-event/48000",
		"a=crypto:3 AES_CM_128_HMAC_SHA1_80 inline:"+keyA, "m=image 5002 udptl t38")
	c := capabilities(sdp.Opus, sdp.PCMU)
	answer, _, err := sdp.Answer(c, parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	c.Previous, c.Hold = answer, true
	again := offer(t, c)
	for _, line := range []string{
		"m=video 0 RTP/AVP 96\r\nm=audio 10000 RTP/SAVPF 101 0 96 97\r\n", "a=rtpmap:101 opus/48000/2\r\n",
		"a=rtpmap:96 telephone-event/48000\r\n", "a=rtpmap:97 telephone-event/8000\r\n", "a=sendonly\r\nm=image 0 udptl t38\r\n",
	} {
		if !strings.Contains(string(again.Bytes()), line) {
			t.Errorf("the new offer lacks %q:\n%s", line, again)
		}
	}
	c.Codecs = []sdp.Codec{sdp.PCMU}
	if narrow := offer(t, c); !strings.Contains(string(narrow.Bytes()), "m=audio 10000 RTP/SAVPF 0 97\r\n") {
		t.Errorf("101 and 96 are taken:\n%s", narrow)
	}
	short := parse(t, audio("RTP/SAVP", "RTP/SAVPF"))
	if _, err := sdp.Accept(again, short); err == nil {
		t.Error("accepted an answer that lacks m= lines")
	}
}

// TestTranscode checks which codecs an answer names. If its first codec is a law of G.711, it also names the other law if both sides have
// it. With Transcode, it names all common codecs that can share a stream with its first codec. The peer may send any of the named codecs.
func TestTranscode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		offered, answering []sdp.Codec
		plain, transcoding []sdp.Codec // codecs of the answer, without and with Transcode
	}{
		{[]sdp.Codec{sdp.PCMU, sdp.PCMA}, []sdp.Codec{sdp.PCMA, sdp.PCMU}, []sdp.Codec{sdp.PCMA, sdp.PCMU}, []sdp.Codec{sdp.PCMA, sdp.PCMU}},
		{[]sdp.Codec{sdp.PCMU, sdp.PCMA, sdp.Opus}, []sdp.Codec{sdp.PCMU, sdp.Opus}, []sdp.Codec{sdp.PCMU}, []sdp.Codec{sdp.PCMU}},
		{[]sdp.Codec{sdp.G722, sdp.PCMA, sdp.G729}, []sdp.Codec{sdp.PCMA, sdp.G722, sdp.G729}, []sdp.Codec{sdp.PCMA}, []sdp.Codec{sdp.PCMA, sdp.G729}},
		{[]sdp.Codec{sdp.Opus, sdp.PCMA, sdp.PCMU}, []sdp.Codec{sdp.Opus, sdp.PCMA, sdp.PCMU}, []sdp.Codec{sdp.Opus}, []sdp.Codec{sdp.Opus}},
		{[]sdp.Codec{sdp.Opus}, []sdp.Codec{sdp.PCMA, sdp.Opus}, []sdp.Codec{sdp.Opus}, []sdp.Codec{sdp.Opus}},
	}
	for _, tt := range tests {
		for _, transcode := range []bool{true, false} {
			caller, callee := capabilities(tt.offered...), capabilities(tt.answering...)
			caller.Transcode, callee.Transcode = transcode, transcode
			offer, err := sdp.Offer(caller)
			if err != nil {
				t.Fatal(err)
			}
			answer, theirs, err := sdp.Answer(callee, parse(t, string(offer.Bytes())))
			if err != nil {
				t.Fatal(err)
			}
			ours, err := sdp.Accept(offer, parse(t, string(answer.Bytes())))
			if err != nil {
				t.Fatal(err)
			}
			want := tt.plain
			if transcode {
				want = tt.transcoding
			}
			for _, n := range []sdp.Negotiated{ours, theirs} {
				if got := sendable(n); got[0] != want[0] || !slices.Equal(sorted(got), sorted(want)) {
					t.Errorf("%v, %v, transcode %t: %v, want %v", tt.offered, tt.answering, transcode, got, want)
				}
			}
			if got := answer.Codecs(); !slices.Equal(got, want) {
				t.Errorf("%v, %v, transcode %t: answered %v, want %v", tt.offered, tt.answering, transcode, got, want)
			}
		}
	}
}

// sendable returns the codecs that the peer may send. The first is the codec that we send.
func sendable(n sdp.Negotiated) []sdp.Codec {
	codecs := []sdp.Codec{n.Codec}
	for _, other := range n.Others {
		codecs = append(codecs, other.Codec)
	}
	return codecs
}

func sorted(codecs []sdp.Codec) []sdp.Codec { return slices.Sorted(slices.Values(codecs)) }

// TestAnswerOfSeveralFormats checks an answer that names several of the offered formats: its sender may use any of them at any time (RFC
// 3264, sections 6.1 and 7).
func TestAnswerOfSeveralFormats(t *testing.T) {
	t.Parallel()
	offer := offer(t, capabilities(sdp.Opus, sdp.G722, sdp.PCMU, sdp.PCMA))
	const crypto = "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:" + keyA
	answer := lines("v=0", "o=- 9 9 IN IP4 198.51.100.7", "s=-", "c=IN IP4 198.51.100.7", "t=0 0",
		"m=audio 4000 RTP/SAVP 0 8 9 18 111 101 112", crypto, "a=rtpmap:111 opus/48000/2", "a=rtpmap:101 telephone-event/8000",
		"a=rtpmap:112 telephone-event/48000")
	n, err := sdp.Accept(offer, parse(t, answer))
	if err != nil {
		t.Fatal(err)
	}
	want := []sdp.Other{{Codec: sdp.Opus, Receive: 96}, {Codec: sdp.G722, Receive: 9}, {Codec: sdp.PCMA, Receive: 8}}
	if n.Codec != sdp.PCMU || !slices.Equal(n.Others, want) {
		t.Errorf("%s and %v, want PCMU and %v", n.Codec, n.Others, want)
	}
	if n.Events.Receive != 101 || !slices.Equal(n.OtherEvents, []uint8{102}) {
		t.Errorf("events %v and %v", n.Events, n.OtherEvents)
	}
}
