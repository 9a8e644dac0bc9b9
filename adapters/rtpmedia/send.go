package rtpmedia

import (
	crand "crypto/rand"
	"encoding/binary"
	"slices"

	"github.com/callwright/callwright/adapters/rtpmedia/internal/dtmf"
	"github.com/callwright/callwright/adapters/rtpmedia/internal/secure"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

const (
	headerSize = 12
	version2   = 2 << 6
	marker     = 1 << 7
)

// sender is our half of a session. The session's mutex guards it, but for what it has sealed: that belongs to the pacer
// until the next frame.
type sender struct {
	sealer   *secure.Sealer
	former   []sdp.Crypto // keys that were in use before
	codec    sip.Codec
	narrow   *converter // to the codec's rate; nil: it is the session's
	narrowed []int16
	ticks    uint32  // of the RTP clock in a frame
	pcm      []int16 // one frame
	silence  []int16

	payload   uint8 // payload types to use
	events    uint8
	hasEvents bool
	eventTick uint32 // of the events' clock in a frame
	eventTime uint32 // the timestamp of the event that is being sent
	allowed   bool   // the direction lets us send

	ssrc      uint32
	sequence  uint16
	timestamp uint32
	clock     int64 // the number of the frame that timestamp is for
	talking   bool  // the last audio packet was not silence
	packet    []byte

	packets, octets uint32 // of this SSRC, for the reports
	total           uint64 // packets of the session
	reported        [2]uint32
}

// begin takes a new source: SSRC, sequence number and timestamp are random (RFC 3550, 5.1). The sequence begins in the
// lower half, so that a peer that misses the first packets cannot misjudge the rollover counter (RFC 3711, 3.3.1).
func (s *sender) begin() {
	var b [10]byte
	_, _ = crand.Read(b[:]) // never fails: it ends the program instead
	s.ssrc = binary.BigEndian.Uint32(b[0:])
	s.timestamp = binary.BigEndian.Uint32(b[4:])
	s.sequence = binary.BigEndian.Uint16(b[8:]) >> 1
	s.packets, s.octets, s.reported = 0, 0, [2]uint32{}
	s.talking = false
}

// sealerFor returns the sealer for a key: the one in use, if it is the same key, because a second one would repeat the
// key stream.
func (s *sender) sealerFor(c sdp.Crypto) (*secure.Sealer, error) {
	if s.sealer != nil && s.sealer.Under(c) {
		return s.sealer, nil
	}
	return secure.NewSealer(c)
}

// seal changes to a sealer. A key that was in use before comes back only with another source: its key stream depends on
// the SSRC.
func (s *sender) seal(sealer *secure.Sealer, c sdp.Crypto) {
	if sealer == s.sealer {
		return
	}
	same := func(f sdp.Crypto) bool { return f.Key.Equal(c.Key) }
	if s.sealer == nil || slices.ContainsFunc(s.former, same) {
		s.begin()
	}
	if !slices.ContainsFunc(s.former, same) {
		s.former = append(s.former, c)
	}
	s.sealer = sealer
}

// encode changes to a codec.
func (s *sender) encode(e *engines) {
	s.codec, s.narrow = e.encoder, e.narrow
	s.ticks = uint32(e.encoder.Clock() / 50)
	s.pcm = make([]int16, e.rate/50)
	s.silence = make([]int16, e.rate/50)
}

// next returns frame n: the packet to send, nil for none, and the samples in it, nil when they are silence. When we may
// not send, time passes and what is queued waits.
func (s *sender) next(n int64, queue *playout, may permit) (packet []byte, played []int16, err error) {
	s.timestamp += uint32(n-s.clock) * s.ticks
	s.clock = n
	if !s.allowed || may == permitNothing {
		s.talking = false
		return nil, nil, nil
	}
	if may == permitSilence {
		s.talking = false
		packet, err = s.audio(s.silence, false)
		return packet, nil, err
	}
	event, some, busy := queue.event()
	switch {
	case some:
		packet, err = s.event(event)
		return packet, nil, err
	case !busy && queue.take(s.pcm):
		packet, err = s.audio(s.pcm, !s.talking)
		s.talking = true
		return packet, s.pcm, err
	default:
		s.talking = false
		packet, err = s.audio(s.silence, false)
		return packet, nil, err
	}
}

func (s *sender) audio(pcm []int16, first bool) ([]byte, error) {
	s.header(s.payload, first, s.timestamp)
	if s.narrow != nil {
		s.narrowed = s.narrow.convert(s.narrowed[:0], pcm)
		pcm = s.narrowed
	}
	packet, err := s.codec.Encode(s.packet, pcm)
	if err != nil {
		return nil, err
	}
	return s.finish(packet)
}

// event makes an event packet. All packets of an event carry the timestamp of its first one, also after late frames: a
// second timestamp would begin a second digit.
func (s *sender) event(p dtmf.Packet) ([]byte, error) {
	s.talking = false
	if p.First {
		s.eventTime = s.timestamp
	}
	s.header(s.events, p.First, s.eventTime)
	return s.finish(append(s.packet, p.Payload[:]...))
}

func (s *sender) header(payloadType uint8, first bool, timestamp uint32) {
	second := payloadType
	if first {
		second |= marker
	}
	s.packet = append(s.packet[:0], version2, second)
	s.packet = binary.BigEndian.AppendUint16(s.packet, s.sequence)
	s.packet = binary.BigEndian.AppendUint32(s.packet, timestamp)
	s.packet = binary.BigEndian.AppendUint32(s.packet, s.ssrc)
}

// finish counts and seals a packet, in place once the buffer has grown to the codec's size.
func (s *sender) finish(packet []byte) ([]byte, error) {
	packet = slices.Grow(packet, secure.Overhead)
	s.packet = packet
	s.sequence++
	s.packets++
	s.total++
	s.octets += uint32(len(packet) - headerSize)
	return s.sealer.RTP(packet, packet)
}

// active reports whether something was sent since the report before the last (RFC 3550, 6.4), and notes a report.
func (s *sender) active() bool {
	was := s.packets != s.reported[0]
	s.reported[0], s.reported[1] = s.reported[1], s.packets
	return was
}
