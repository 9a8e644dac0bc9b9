package rtpmedia_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/secure"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

// steady returns a payload of linear8 with 20 ms of constant samples at a sample rate.
func steady(rate int) []byte { return slices.Repeat([]byte{40}, rate/50) }

// TestPeerSendsAnyAnsweredCodec checks that a peer may send any codec of its answer at any time, even with another sample rate and RTP
// clock.
func TestPeerSendsAnyAnsweredCodec(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	several := func(can *sdp.Capabilities) { can.Codecs = []sdp.Codec{sdp.PCMU, sdp.PCMA, sdp.G722, sdp.Opus} }
	p.call.offer, p.call.answer = nil, nil
	p.call.negotiate(several, several)
	for _, n := range []*sdp.Negotiated{&p.call.callees} { // as if the peer had answered with all codecs
		n.Others = []sdp.Other{{Codec: sdp.PCMA, Receive: 8}, {Codec: sdp.G722, Receive: 9}, {Codec: sdp.Opus, Receive: 96}}
	}
	p.call.apply()
	p.seal = must(secure.NewSealer(p.call.callers.LocalCrypto))(t)
	sequence, clocks := uint16(1), map[byte]uint32{}
	for _, format := range []byte{0, 8, 96, 9, 0, 96, 8, 9, 96} {
		rate, ticks := 8000, uint32(160)
		switch format {
		case 9:
			rate = 16000
		case 96:
			rate, ticks = 48000, 960
		}
		p.heard = nil
		for range 50 {
			p.sendAs(format, p.call.callerAt, 1, sequence, clocks[format], steady(rate))
			sequence++
			for other := range map[byte]int{0: 0, 8: 0, 9: 0} { // codecs with the same RTP clock share a timestamp
				if ticks == 160 && other != 96 {
					clocks[other] += ticks
				}
			}
			if format == 96 {
				clocks[96] += ticks
			}
			p.hear()
		}
		loud := 0
		for _, s := range p.heard[len(p.heard)/2:] {
			if s > 39<<8 && s < 41<<8 {
				loud++
			}
		}
		if loud < len(p.heard)/2*9/10 {
			t.Errorf("payload type %d: %d of %d samples are heard", format, loud, len(p.heard)/2)
		}
	}
	if s := p.session.Stats(); s.Fault != "" || s.Lost+s.Bad > 0 {
		t.Errorf("%+v", s)
	}
}

// TestUndecodableAudio checks that audio that cannot be decoded for 3 s is reported as a fault. Comfort noise, digits, a hold and a few
// undecodable packets must not be reported.
func TestUndecodableAudio(t *testing.T) {
	t.Parallel()
	type sent struct {
		format  byte
		payload []byte
	}
	good, strange, broken := sent{0, steady(8000)}, sent{18, steady(8000)}, sent{0, []byte{0x7f}}
	digit, noise := sent{101, []byte{1, 10, 0, 160}}, sent{13, []byte{9}}
	tests := map[string]struct {
		packets func(i int) sent
		held    bool
		fault   bool
	}{
		"heard":                       {packets: func(int) sent { return good }},
		"a codec that nobody offered": {packets: func(int) sent { return strange }, fault: true},
		"malformed payloads":          {packets: func(int) sent { return broken }, fault: true},
		"after a good beginning":      {packets: func(i int) sent { return []sent{good, strange}[min(i/100, 1)] }, fault: true},
		"two seconds of it":           {packets: func(i int) sent { return []sent{good, strange}[i/100%2] }},
		"one of two":                  {packets: func(i int) sent { return []sent{good, strange}[i%2] }},
		"digits":                      {packets: func(int) sent { return digit }},
		"comfort noise":               {packets: func(int) sent { return noise }},
		"held by us":                  {packets: func(int) sent { return strange }, held: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			if tt.held {
				p.call.negotiate(nil, func(can *sdp.Capabilities) { can.Hold = true })
				p.call.apply()
			}
			for i := range 400 {
				s := tt.packets(i)
				p.sendAs(s.format, p.call.callerAt, 1, uint16(i), uint32(i)*160, s.payload)
				p.hear()
				if fault := p.session.Stats().Fault; fault != "" && i < int(3*time.Second/(20*ms)) {
					t.Fatalf("after %d packets: %s", i+1, fault)
				}
			}
			if fault := p.session.Stats().Fault; strings.HasPrefix(fault, sip.FaultUndecodable+": ") != tt.fault {
				t.Errorf("the fault is %q", fault)
			}
		})
	}
}
