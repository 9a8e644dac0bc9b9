package rtpmedia_test

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/secure"
	"github.com/callwright/callwright/sip"
)

// peer sends hand-made packets to a session without a pacer, and reads its frames.
type peer struct {
	t       *testing.T
	call    *call
	session sip.MediaSession
	seal    *secure.Sealer
	frame   int64
	heard   []int16
	digits  []byte
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	c := dial(t, newNetwork(), nil)
	t.Cleanup(c.close)
	rtpmedia.Unpaced(c.caller)
	rtpmedia.Unpaced(c.callee)
	c.apply()
	return &peer{t: t, call: c, session: c.callee, seal: must(secure.NewSealer(c.callers.LocalCrypto))(t)}
}

// send injects an audio packet into the session as if it had arrived from the given address.
func (p *peer) send(from netip.AddrPort, ssrc uint32, sequence uint16, timestamp uint32, payload []byte) {
	p.t.Helper()
	p.sendAs(0, from, ssrc, sequence, timestamp, payload)
}

// sendAs does the same as send, for a packet of another payload type.
func (p *peer) sendAs(format byte, from netip.AddrPort, ssrc uint32, sequence uint16, timestamp uint32, payload []byte) {
	p.t.Helper()
	b := []byte{2 << 6, format}
	b = binary.BigEndian.AppendUint16(b, sequence)
	b = binary.BigEndian.AppendUint32(b, timestamp)
	b = binary.BigEndian.AppendUint32(b, ssrc)
	sealed, err := p.seal.RTP(nil, append(b, payload...))
	if err != nil {
		p.t.Fatal(err)
	}
	rtpmedia.InjectAt(p.session, p.now(), sealed, from)
}

func (p *peer) now() time.Duration { return time.Duration(p.frame) * 20 * ms }

// hear plays the session's next frame, and stores its audio and its digit.
func (p *peer) hear() {
	p.t.Helper()
	rtpmedia.Tick(p.session, p.now(), p.frame)
	p.frame++
	f, err := p.session.Read(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	p.heard = append(p.heard, f.In...)
	if f.Digit != 0 {
		p.digits = append(p.digits, f.Digit)
	}
}

// frameOf returns the payload of the i-th packet of some speech.
func frameOf(said []int16, i int) []byte {
	payload, _ := linear8{}.Encode(nil, said[i*160:(i+1)*160])
	return payload
}

// TestChangeOfSource checks that a new SSRC of the peer is heard from its first packet, while delayed packets of the former SSRC are
// ignored. A peer changes its SSRC when it transfers the call inside its network.
func TestChangeOfSource(t *testing.T) {
	t.Parallel()
	p, said := newPeer(t), speech(160*40)
	at := p.call.callerAt
	for i := range 20 {
		p.send(at, 1, 65_530+uint16(i), uint32(i)*160, frameOf(said, i))
		p.hear()
	}
	for i := range 20 {
		p.send(at, 2, uint16(i), 1<<31+uint32(i)*160, frameOf(said, 20+i))
		if i < 5 {
			p.send(at, 1, 65_530+uint16(20+i), uint32(20+i)*160, frameOf(said, 0))
		}
		p.hear()
	}
	for range 5 {
		p.hear()
	}
	if !containsRun(p.heard, said[20*160:]) {
		t.Error("the new source is not heard exactly")
	}
	if s := p.session.Stats(); s.Lost+s.Late+s.Bad != 0 || s.Received != 40 {
		t.Errorf("stats %+v", s)
	}
	// Half a second later the former SSRC sends again.
	for range 25 {
		p.hear()
	}
	for i := range 20 {
		p.send(at, 1, 65_530+uint16(60+i), uint32(60+i)*160, frameOf(said, i))
		p.hear()
	}
	if !containsRun(p.heard, said[:15*160]) {
		t.Error("the former source is not heard when it comes back")
	}
}

// TestEventsBesideTheAudio checks that events with an SSRC of their own do not disturb the audio; some gateways send them. Packets of
// formats that were not negotiated, such as comfort noise, must be heard as silence.
func TestEventsBesideTheAudio(t *testing.T) {
	t.Parallel()
	p, said := newPeer(t), speech(160*40)
	at, events := p.call.callerAt, p.call.callees.Events.Receive
	for i := range 40 {
		p.send(at, 1, 100+uint16(i), uint32(i)*160, frameOf(said, i))
		if i >= 10 && i < 17 {
			p.sendAs(events, at, 9, 7000+uint16(i), 5000, []byte{4, 10, 0, byte(i)})
		}
		p.hear()
	}
	for i := range 10 {
		p.sendAs(13, at, 1, 140+uint16(i), uint32(40+i)*160, []byte{60})
		p.hear()
	}
	if !containsRun(p.heard, append(said, make([]int16, 5*160)...)) {
		t.Error("the audio beside the event, or the silence after it, is not heard exactly")
	}
	if string(p.digits) != "4" {
		t.Errorf("digits %q", p.digits)
	}
	if s := p.session.Stats(); s.Lost+s.Late+s.Bad != 0 {
		t.Errorf("stats %+v", s)
	}
}

// TestOnlyTheNewestPacketMovesTheAddress checks that a delayed packet from another address does not redirect our media. The newest
// authentic packet and an SDP with another address must redirect it, the same SDP must not.
func TestOnlyTheNewestPacketMovesTheAddress(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	sent := func() netip.AddrPort { return rtpmedia.Remote(p.session) }
	p.send(p.call.callerAt, 1, 10, 0, nil)
	p.send(attacker, 1, 9, 0, nil)
	if sent() != p.call.callerAt {
		t.Errorf("an older packet has moved the address to %s", sent())
	}
	p.send(attacker, 1, 11, 0, nil)
	if sent() != attacker {
		t.Errorf("the newest authentic packet has not moved the address from %s", sent())
	}
	if err := p.session.Apply(p.call.callees); err != nil || sent() != attacker {
		t.Errorf("the same SDP again: %s, %v", sent(), err)
	}
	moved := p.call.callees
	moved.RemoteRTP = netip.MustParseAddrPort("192.0.2.77:7000")
	if err := p.session.Apply(moved); err != nil || sent() != moved.RemoteRTP {
		t.Errorf("another SDP: %s, %v", sent(), err)
	}
}

// TestAuthenticNonsense checks that authentic packets with an invalid or an overlong payload count as received and do not make the session
// panic.
func TestAuthenticNonsense(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	p.send(p.call.callerAt, 1, 1, 0, []byte{0x7f, 1, 2}) // the codec cannot decode this payload
	p.send(p.call.callerAt, 1, 2, 160, slices.Repeat([]byte{1}, 1200))
	for range 20 {
		p.hear()
	}
	if s := p.session.Stats(); s.Received != 2 || s.Bad != 0 {
		t.Errorf("stats %+v", s)
	}
}

// TestFirstSequenceNumber checks that the first sequence number is in the lower half of its range. Otherwise a peer that misses the first
// packets could misjudge the rollover counter.
func TestFirstSequenceNumber(t *testing.T) {
	t.Parallel()
	for range 20 {
		p := newPeer(t)
		packet := rtpmedia.Tick(p.session, 0, 0)
		if sequence := binary.BigEndian.Uint16(packet[2:]); sequence >= 1<<15 {
			t.Errorf("begins at %d", sequence)
		}
	}
}
