package jitter

import "time"

// Verdict is the result of adding a packet.
type Verdict uint8

// The verdicts on a packet, which Buffer.Push returns.
const (
	Queued    Verdict = iota
	Late              // its time was already played
	Duplicate         // a packet with its sequence number is already queued
)

// Kind says how a Player produces the audio of a Step.
type Kind uint8

// The kinds of a Step, with the audio that a Player produces.
const (
	Idle    Kind = iota // silence, because the playout has not started
	Audio               // a packet to decode and play
	Skip                // a packet to decode but not to play, so that the playout catches up
	Lost                // missing audio to conceal
	Silence             // silence in a pause of the sender
	Stretch             // concealment that delays the playout
)

// Step is the next piece of audio to play.
type Step struct {
	Kind    Kind
	Payload []byte // of Audio and Skip; valid until the next Push
	Codec   int    // codec of the payload, as passed to Push
	Ticks   int    // length of the other kinds; the decoder determines the length of Audio and Skip
}

const (
	slots = 64 // maximum number of packets: more than a second of 20 ms packets

	frameTime = 20 * time.Millisecond
	slackLess = 5 * time.Millisecond  // a delay below the target by at most this causes no stretch
	slackMore = 30 * time.Millisecond // a delay above the target by at most this is not reduced; longer than a frame, against oscillation
	calm      = 5                     // minimum number of steps between two corrections of the delay
	overflow  = 100 * time.Millisecond

	restartLate = 3               // successive late packets with an empty buffer mean that the sender's clock has moved
	restartJump = 1 * time.Second // a larger change of the transit is not jitter but another clock
)

// Buffer sorts packets by sequence number and plays them by timestamp. A packet without a payload occupies its sequence number, so that it
// does not count as lost, but is not played. Events and packets of unknown formats are pushed without a payload.
type Buffer struct {
	clock int // RTP ticks per second
	frame int // RTP ticks in 20 ms
	delay estimator

	slot    [slots]slot
	count   int   // number of packets in slot
	newest  int64 // highest sequence number, extended beyond 16 bits
	first   int64 // sequence number that is due next
	stamp   int64 // timestamp of the newest packet, extended beyond 32 bits
	primed  bool  // newest and stamp are set
	started bool
	arrived time.Duration // when the first packet arrived since the buffer was cleared
	next    int64         // timestamp of the audio to play next
	quiet   bool          // the last delivered packet contained no audio
	lateRun int
	since   int // steps since the last correction
}

type slot struct {
	used    bool
	empty   bool
	seq     int64
	stamp   int64
	codec   int
	payload []byte
}

// NewBuffer returns a buffer for an RTP clock with the given number of ticks per second. Its delay stays between the given minimum and
// maximum.
func NewBuffer(clock int, least, most time.Duration) *Buffer {
	return &Buffer{clock: clock, frame: clock / 50, delay: estimator{least: least, most: most}}
}

// Delay returns the current target of the delay.
func (b *Buffer) Delay() time.Duration { return b.delay.target() }

// Reset empties the buffer for another source. Its sequence numbers, timestamps and delay begin anew.
func (b *Buffer) Reset() {
	b.clear()
	b.primed = false
	b.delay.reset()
}

// Retime sets the rate of the RTP clock in ticks per second, and resets the buffer.
func (b *Buffer) Retime(clock int) {
	b.clock, b.frame = clock, clock/50
	b.Reset()
}

// clear empties the buffer. The playout starts again after the next packets, whose sequence numbers and timestamps continue.
func (b *Buffer) clear() {
	for i := range b.slot {
		b.slot[i].used = false
	}
	b.count, b.started, b.quiet, b.lateRun, b.since = 0, false, false, 0, 0
	b.delay.resetBase()
}

// Push adds a packet that arrived at the given time, and copies its payload. If the sender's clock has jumped, Push first drops the waiting
// packets.
func (b *Buffer) Push(now time.Duration, sequence uint16, timestamp uint32, codec int, payload []byte) Verdict {
	seq, stamp := b.extend(sequence, timestamp)
	if len(payload) > 0 {
		transit := now - b.duration(stamp)
		if b.delay.known() && (transit-b.delay.base()).Abs() > restartJump {
			b.clear()
		}
		b.delay.observe(now, transit)
		if b.started && (stamp < b.next || seq < b.first) {
			if b.late(seq); b.lateRun < restartLate {
				return Late
			}
			b.clear()
			b.delay.reset()
			b.delay.observe(now, transit)
		}
	}
	return b.store(now, slot{seq: seq, stamp: stamp, codec: codec}, payload)
}

// extend extends a sequence number and a timestamp, so that they do not wrap around (RFC 3550, A.1).
func (b *Buffer) extend(sequence uint16, timestamp uint32) (seq, stamp int64) {
	if !b.primed {
		b.primed = true
		b.newest, b.stamp = 1<<16+int64(sequence), int64(timestamp) // 1<<16 keeps the index of slot from becoming negative
		return b.newest, b.stamp
	}
	seq = b.newest + int64(int16(sequence-uint16(b.newest)))
	stamp = b.stamp + int64(int32(timestamp-uint32(b.stamp)))
	if seq > b.newest {
		b.newest, b.stamp = seq, stamp
	}
	return seq, stamp
}

// late counts successive late packets while the buffer is empty. If all packets are late, the playout is ahead of the sender. If the buffer
// is empty, late also advances b.first, so that the packet does not count as lost.
func (b *Buffer) late(seq int64) {
	if b.count > 0 {
		b.lateRun = 0
		return
	}
	b.lateRun++
	b.first = max(b.first, seq+1)
}

func (b *Buffer) store(now time.Duration, packet slot, payload []byte) Verdict {
	seq := packet.seq
	switch {
	case b.count == 0 && !b.started:
		b.first, b.arrived = seq, now
	case seq < b.first && !b.started && b.newest-seq < slots:
		b.first = seq // overtaken by a later packet before the playout has started
	case seq < b.first:
		return Late
	}
	for seq >= b.first+slots {
		b.release(&b.slot[b.first%slots])
		b.first++
		if b.count == 0 {
			b.first = seq
		}
	}
	s := &b.slot[seq%slots]
	if s.used {
		return Duplicate
	}
	s.payload = append(s.payload[:0], payload...)
	packet.used, packet.empty, packet.payload = true, len(payload) == 0, s.payload
	*s = packet
	b.count++
	b.lateRun = 0
	return Queued
}

func (b *Buffer) release(s *slot) {
	if s.used {
		s.used = false
		b.count--
	}
}

// duration converts a timestamp from clock ticks to a duration.
func (b *Buffer) duration(stamp int64) time.Duration {
	return time.Duration(stamp) * time.Second / time.Duration(b.clock)
}
