package jitter

import "time"

// Verdict is the result of adding a packet.
type Verdict uint8

// The verdicts.
const (
	Queued    Verdict = iota
	Late              // its place has been played
	Duplicate         // it is here already
)

// Kind is the kind of audio that a Step adds.
type Kind uint8

// The kinds of a step.
const (
	Idle    Kind = iota // silence, nothing has come yet
	Audio               // a packet, to be decoded
	Skip                // a packet, to be decoded and not played: the playout catches up
	Lost                // audio that is missing, to be concealed
	Silence             // a pause that the sender made
	Stretch             // audio that is invented, because the playout has to wait
)

// Step is the next piece of audio.
type Step struct {
	Kind    Kind
	Payload []byte // of Audio and Skip; good until the next Push
	Codec   int    // of the payload, as pushed
	Ticks   int    // amount of audio of Lost and Silence; for Audio and Skip the decoder has it
}

const (
	slots = 64 // packets; more than a second at 20 ms

	frameTime = 20 * time.Millisecond
	slackLess = 5 * time.Millisecond  // this much too little delay is no reason to stretch
	slackMore = 30 * time.Millisecond // this much too much delay is none to catch up; more than a frame, so that it cannot swing
	calm      = 5                     // steps between two corrections of the delay
	overflow  = 100 * time.Millisecond

	restartLate = 3               // so many late packets in a row with nothing to play: the sender's clock has moved
	restartJump = 1 * time.Second // so far off is no jitter, but another clock
)

// Buffer orders packets by sequence number and plays them by timestamp. A packet without a payload holds its place in
// the sequence, and nothing is played for it: events and unknown formats are pushed that way.
type Buffer struct {
	clock int // ticks a second
	frame int // ticks in 20 ms
	delay estimator

	slot    [slots]slot
	count   int   // packets in slot
	newest  int64 // the highest sequence number, extended
	first   int64 // the sequence number that is due next
	stamp   int64 // timestamp of the newest packet, extended
	primed  bool  // newest and stamp are known
	started bool
	arrived time.Duration // when the first packet since the start came
	next    int64         // the timestamp that is played next
	quiet   bool          // the last packet contained no audio
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

// NewBuffer makes a buffer for an RTP clock, whose delay stays between least and most.
func NewBuffer(clock int, least, most time.Duration) *Buffer {
	return &Buffer{clock: clock, frame: clock / 50, delay: estimator{least: least, most: most}}
}

// Delay returns the delay wanted now.
func (b *Buffer) Delay() time.Duration { return b.delay.target() }

// Reset clears the buffer: another source begins.
func (b *Buffer) Reset() {
	b.clear()
	b.primed = false
	b.delay.reset()
}

// Retime changes to another RTP clock. It clears the buffer.
func (b *Buffer) Retime(clock int) {
	b.clock, b.frame = clock, clock/50
	b.Reset()
}

// clear empties the buffer and waits for a new beginning on the same sequence.
func (b *Buffer) clear() {
	for i := range b.slot {
		b.slot[i].used = false
	}
	b.count, b.started, b.quiet, b.lateRun, b.since = 0, false, false, 0, 0
	b.delay.resetBase()
}

// Push takes a packet that arrived at now. The payload is copied.
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

// extend unfolds the wrapping numbers (RFC 3550, A.1).
func (b *Buffer) extend(sequence uint16, timestamp uint32) (seq, stamp int64) {
	if !b.primed {
		b.primed = true
		b.newest, b.stamp = 1<<16+int64(sequence), int64(timestamp) // never negative, as it is an index
		return b.newest, b.stamp
	}
	seq = b.newest + int64(int16(sequence-uint16(b.newest)))
	stamp = b.stamp + int64(int32(timestamp-uint32(b.stamp)))
	if seq > b.newest {
		b.newest, b.stamp = seq, stamp
	}
	return seq, stamp
}

// late notes a packet whose time is over. Packets after it are not lost, and the playout is elsewhere if they are all
// late.
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
		b.first = seq // overtaken before the beginning
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
