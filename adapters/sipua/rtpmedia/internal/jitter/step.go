package jitter

import "time"

// Next returns the step to play at the given time. After an Audio or Skip step, the caller must pass the decoded length to Advance. After
// other steps, it must not call Advance.
func (b *Buffer) Next(now time.Duration) Step {
	head, gap := b.head()
	if !b.started {
		if head == nil || now-b.arrived < b.delay.target() {
			return Step{Kind: Idle, Ticks: b.frame}
		}
		b.started, b.next = true, head.stamp
	}
	for head != nil && head.stamp < b.next {
		b.deliver(head)
		head, gap = b.head()
	}
	b.since++
	delay := now - b.duration(b.next) - b.delay.base()
	switch target := b.delay.target(); {
	case head == nil:
		return b.missing(delay < target)
	case delay < target-slackLess && b.since >= calm:
		b.since = 0
		return Step{Kind: Stretch, Ticks: b.frame}
	case head.stamp > b.next:
		return b.gap(head, gap, delay > target+slackMore)
	case delay > target+slackMore+overflow, delay > target+slackMore && b.since >= calm:
		b.since = 0
		return b.play(head, Skip)
	default:
		return b.play(head, Audio)
	}
}

// Advance advances the playout by the length of the last Audio or Skip step, in ticks.
func (b *Buffer) Advance(ticks int) { b.next += int64(ticks) }

// head returns the first packet with audio, and whether sequence numbers are missing before it. It removes due packets without audio.
func (b *Buffer) head() (head *slot, gap bool) {
	if b.count == 0 {
		return nil, false
	}
	for seq := b.first; seq < b.first+slots; seq++ {
		s := &b.slot[seq%slots]
		switch {
		case !s.used:
			gap = true
		case !s.empty:
			return s, gap
		case !gap:
			b.deliver(s)
		}
	}
	return nil, gap
}

// deliver removes a packet and all packets before it.
func (b *Buffer) deliver(s *slot) {
	for ; b.first < s.seq; b.first++ {
		b.release(&b.slot[b.first%slots])
	}
	b.release(s)
	b.first, b.quiet = s.seq+1, s.empty
}

func (b *Buffer) play(s *slot, kind Kind) Step {
	b.deliver(s)
	return Step{Kind: kind, Payload: s.payload, Codec: s.codec}
}

// missing returns a step for a time without a packet. If early is set, the playout is earlier than the target delay and waits, so that the
// next packet is not late. Otherwise the audio counts as lost. If the last packet contained no audio, such as an event, the step is
// silence.
func (b *Buffer) missing(early bool) Step {
	kind := Lost
	if early {
		kind, b.since = Stretch, 0
	} else {
		b.next += int64(b.frame)
	}
	if b.quiet {
		kind = Silence
	}
	return Step{Kind: kind, Ticks: b.frame}
}

// gap returns a step before head, whose timestamp is not yet due. If lost is set, packets are missing, otherwise the sender has paused. If
// hurry is set, gap shortens a pause, and plays head if nothing of the pause remains.
func (b *Buffer) gap(head *slot, lost, hurry bool) Step {
	ticks := min(head.stamp-b.next, int64(b.frame))
	if hurry && !lost { // catching up in a pause is inaudible
		b.next += ticks
		ticks = min(head.stamp-b.next, int64(b.frame))
		if ticks == 0 {
			return b.play(head, Audio)
		}
	}
	b.next += ticks
	if lost {
		return Step{Kind: Lost, Ticks: int(ticks)}
	}
	return Step{Kind: Silence, Ticks: int(ticks)}
}
