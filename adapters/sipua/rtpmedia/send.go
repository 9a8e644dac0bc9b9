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
	"github.com/callwright/callwright/speech/pcm"
)

const (
	headerSize = 12
	version2   = 2 << 6
	marker     = 1 << 7
)

// sender holds the sending direction of a session. The session's mutex guards it, except for the sealed packets: the pacer reads them
// without the mutex until it calls the method next again.
type sender struct {
	sealer   *secure.Sealer
	former   []sdp.Crypto // all keys that were used, including the current one
	codec    sip.Codec
	narrow   *converter // from the session's rate to the codec's; nil if they are equal
	narrowed []int16
	ticks    uint32  // RTP clock ticks in a frame
	pcm      []int16 // audio of one frame
	silence  []int16
	mixed    []int16 // audio of one frame with the background
	loop     []int16 // background of all audio, at the session's rate; nil if there is none
	loopAt   int     // position in loop

	payload   uint8 // payload type of audio
	events    uint8
	hasEvents bool
	eventTick uint32 // ticks of the event clock in a frame
	eventTime uint32 // timestamp of the current event
	allowed   bool   // the negotiated direction and address let us send

	ssrc      uint32
	sequence  uint16
	timestamp uint32
	clock     int64 // number of the frame to which timestamp belongs
	talking   bool  // the last frame contained queued audio
	packet    []byte
	buffers   [][]byte // reused for the packets of each frame
	sealed    [][]byte // packets of the current frame

	span    int     // samples in a packet
	waiting []int16 // samples that do not fill a packet yet
	since   uint32  // RTP timestamp of waiting[0]
	mark    bool    // the next audio packet begins speech and carries the marker bit

	packets, octets uint32 // sent with the current SSRC, for RTCP reports
	total           uint64 // packets that the session has sent
	reported        [2]uint32
}

// begin starts a new RTP source with a random SSRC, sequence number and timestamp (RFC 3550, 5.1). The sequence number is in the lower half
// of its range, so that a peer that misses the first packets cannot misjudge the rollover counter (RFC 3711, 3.3.1).
func (s *sender) begin() {
	var b [10]byte
	_, _ = crand.Read(b[:]) // returns no error, but crashes the program on failure
	s.ssrc = binary.BigEndian.Uint32(b[0:])
	s.timestamp = binary.BigEndian.Uint32(b[4:])
	s.sequence = binary.BigEndian.Uint16(b[8:]) >> 1
	s.packets, s.octets, s.reported = 0, 0, [2]uint32{}
	s.talking, s.mark, s.waiting = false, false, s.waiting[:0]
}

// sealerFor returns a sealer for a key. If the current sealer uses the same key, it returns that sealer, because a second one would repeat
// the key stream.
func (s *sender) sealerFor(c sdp.Crypto) (*secure.Sealer, error) {
	if s.sealer != nil && s.sealer.Under(c) {
		return s.sealer, nil
	}
	return secure.NewSealer(c)
}

// seal replaces the sealer. For the first sealer, and for a key that was used before, seal also starts a new RTP source. Because the key
// stream depends on the SSRC, it is then not repeated.
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

// encode replaces the codec. It drops the samples that do not fill a packet yet.
func (s *sender) encode(e *engines) {
	s.codec, s.narrow = e.encoder, e.narrow
	s.ticks = uint32(e.encoder.Clock() / 50)
	s.pcm = make([]int16, e.rate/50)
	s.silence = make([]int16, e.rate/50)
	s.waiting = s.waiting[:0]
}

// pack sets the duration of the audio in a packet. 0 means sdp.DefaultPtime.
func (s *sender) pack(ptime time.Duration) {
	if ptime <= 0 {
		ptime = sdp.DefaultPtime
	}
	s.span = len(s.pcm) * int(ptime/time.Millisecond) / int(frameTime/time.Millisecond)
}

// next returns the packets to send in frame n, and the queued samples that were played in the frame. The packets are valid until the
// following call of next. The samples are nil if the frame contains no queued audio. If nothing or only a packet of silence may be sent,
// next advances the RTP clock, and the queue waits.
func (s *sender) next(n int64, queue *playout, may permit) (packets [][]byte, played []int16, err error) {
	s.sealed = s.sealed[:0]
	if n-s.clock > 1 { // frames were omitted, so waiting samples must not be joined with this frame
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
		err = errors.Join(err, s.fill(s.mix(s.pcm)))
	default:
		s.talking = false
		err = errors.Join(err, s.fill(s.mix(s.silence)))
	}
	return s.sealed, played, err
}

// mix returns a frame with the background. The result is valid until the next call.
func (s *sender) mix(frame []int16) []int16 {
	if s.loop == nil {
		return frame
	}
	s.mixed = append(s.mixed[:0], frame...)
	s.loopAt = pcm.MixLoop(s.mixed, s.loop, s.loopAt)
	return s.mixed
}

// cost returns the maximum number of audio packets in a frame.
func (s *sender) cost() int { return max(1, len(s.pcm)/max(1, s.span)) }

// fill adds the samples of a frame to the waiting ones, and packs them while they fill a packet.
func (s *sender) fill(pcm []int16) (err error) {
	if len(s.waiting) == 0 {
		s.since = s.timestamp
	}
	for s.waiting = append(s.waiting, pcm...); len(s.waiting) >= s.span; {
		failed := s.audio(s.waiting[:s.span], s.since)
		if failed != nil && s.span != len(pcm) { // the codec may support only packets of 20 ms
			s.span = len(pcm)
			continue
		}
		err = errors.Join(err, failed)
		s.waiting = s.waiting[:copy(s.waiting, s.waiting[s.span:])]
		s.since += s.ticks * uint32(s.span) / uint32(len(s.pcm))
	}
	return err
}

// flush packs the waiting samples, if any, into a short packet.
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

// event packs an event packet. All packets of an event carry the timestamp of the first one, even if frames were late, because a second
// timestamp would begin a second digit.
func (s *sender) event(p dtmf.Packet) error {
	s.talking = false
	if p.First {
		s.eventTime = s.timestamp
	}
	s.header(s.events, p.First, s.eventTime)
	return s.finish(append(s.packet, p.Payload[:]...))
}

// header writes the RTP header of the frame's next packet to a reused buffer, and sets s.packet to the result. If first is true, the header
// contains the marker bit.
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

// finish counts a packet, seals it and adds it to the packets of the frame. It does not allocate once the buffer has grown to the size of
// the codec's packets.
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

// active reports whether a packet was sent since the report before the last one (RFC 3550, 6.4). It must be called once for each report,
// because it also records the number of packets.
func (s *sender) active() bool {
	was := s.packets != s.reported[0]
	s.reported[0], s.reported[1] = s.reported[1], s.packets
	return was
}
