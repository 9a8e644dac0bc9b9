package rtpmedia

import (
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/dtmf"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/secure"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

const (
	headerSize = 12
	version2   = 2 << 6
	marker     = 1 << 7
)

// sender is our half of a session. The session's mutex guards it, except for the sealed packets: they belong to the pacer
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
	talking   bool  // the last frame was not silence
	packet    []byte
	buffers   [][]byte // of the packets of a frame
	sealed    [][]byte // the packets of this frame

	span    int     // samples in a packet
	waiting []int16 // that fill no packet yet
	since   uint32  // their timestamp
	mark    bool    // the next audio packet begins speech

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
	s.talking, s.mark, s.waiting = false, false, s.waiting[:0]
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
	s.waiting = s.waiting[:0]
}

// pack sets the audio in a packet.
func (s *sender) pack(ptime time.Duration) {
	if ptime <= 0 {
		ptime = sdp.DefaultPtime
	}
	s.span = len(s.pcm) * int(ptime/time.Millisecond) / int(frameTime/time.Millisecond)
}

// next returns frame n: the packets to send, which are good until the next frame, and the samples in it, nil when they are
// silence. When we may not send, time passes and the queue waits.
func (s *sender) next(n int64, queue *playout, may permit) (packets [][]byte, played []int16, err error) {
	s.sealed = s.sealed[:0]
	if n-s.clock > 1 { // frames were left out: waiting samples must not be joined with this frame
		err = s.flush()
	}
	s.timestamp += uint32(n-s.clock) * s.ticks
	s.clock = n
	if !s.allowed || may == permitNothing {
		s.waiting, s.talking = s.waiting[:0], false
		return nil, nil, err
	}
	if may == permitSilence {
		s.waiting, s.talking, s.mark = s.waiting[:0], false, false
		err = s.audio(s.silence[:min(s.span, len(s.silence))], s.timestamp)
		return s.sealed, nil, err
	}
	event, some, busy := queue.event()
	switch {
	case some:
		err = errors.Join(err, s.flush(), s.event(event))
	case !busy && queue.fill(s.pcm):
		played = s.pcm
		s.mark, s.talking = s.mark || !s.talking, true
		err = errors.Join(err, s.fill(s.pcm))
	default:
		s.talking = false
		err = errors.Join(err, s.fill(s.silence))
	}
	return s.sealed, played, err
}

// cost returns the most packets in a frame.
func (s *sender) cost() int { return max(1, len(s.pcm)/max(1, s.span)) }

// fill adds a frame to the waiting samples, and packs full packets.
func (s *sender) fill(pcm []int16) (err error) {
	if len(s.waiting) == 0 {
		s.since = s.timestamp
	}
	for s.waiting = append(s.waiting, pcm...); len(s.waiting) >= s.span; {
		failed := s.audio(s.waiting[:s.span], s.since)
		if failed != nil && s.span != len(pcm) { // an engine that makes packets of 20 ms only
			s.span = len(pcm)
			continue
		}
		err = errors.Join(err, failed)
		s.waiting = s.waiting[:copy(s.waiting, s.waiting[s.span:])]
		s.since += s.ticks * uint32(s.span) / uint32(len(s.pcm))
	}
	return err
}

// flush packs the waiting samples into a packet that is shorter than the others.
func (s *sender) flush() error {
	if len(s.waiting) == 0 {
		return nil
	}
	err := s.audio(s.waiting, s.since)
	s.waiting = s.waiting[:0]
	return err
}

func (s *sender) audio(pcm []int16, timestamp uint32) error {
	s.header(s.payload, s.mark, timestamp)
	if s.narrow != nil {
		s.narrowed = s.narrow.convert(s.narrowed[:0], pcm)
		pcm = s.narrowed
	}
	packet, err := s.codec.Encode(s.packet, pcm)
	if err != nil {
		return err
	}
	s.mark = false
	return s.finish(packet)
}

// event makes an event packet. All packets of an event carry the timestamp of its first one, also after late frames: a
// second timestamp would begin a second digit.
func (s *sender) event(p dtmf.Packet) error {
	s.talking = false
	if p.First {
		s.eventTime = s.timestamp
	}
	s.header(s.events, p.First, s.eventTime)
	return s.finish(append(s.packet, p.Payload[:]...))
}

// header begins a packet in the buffer of the frame's next one.
func (s *sender) header(payloadType uint8, first bool, timestamp uint32) {
	second := payloadType
	if first {
		second |= marker
	}
	if len(s.sealed) == len(s.buffers) {
		s.buffers = append(s.buffers, nil)
	}
	s.packet = s.buffers[len(s.sealed)][:0]
	s.packet = append(s.packet, version2, second)
	s.packet = binary.BigEndian.AppendUint16(s.packet, s.sequence)
	s.packet = binary.BigEndian.AppendUint32(s.packet, timestamp)
	s.packet = binary.BigEndian.AppendUint32(s.packet, s.ssrc)
}

// finish counts and seals a packet, in place once the buffer has grown to the codec's size.
func (s *sender) finish(packet []byte) error {
	packet = slices.Grow(packet, secure.Overhead)
	s.buffers[len(s.sealed)] = packet
	s.sequence++
	s.packets++
	s.total++
	s.octets += uint32(len(packet) - headerSize)
	sealed, err := s.sealer.RTP(packet, packet)
	if err == nil {
		s.sealed = append(s.sealed, sealed)
	}
	return err
}

// active reports whether something was sent since the report before the last (RFC 3550, 6.4), and notes a report.
func (s *sender) active() bool {
	was := s.packets != s.reported[0]
	s.reported[0], s.reported[1] = s.reported[1], s.packets
	return was
}
