package jitter

import "time"

const (
	binWidth = 5 * time.Millisecond
	bins     = 40
	memory   = 256             // total of the counts at which they are halved: about five seconds
	baseSpan = 2 * time.Second // the fastest packet is determined over the last one to two spans
)

// estimator records the fastest recent transit and the delays of other packets relative to it.
type estimator struct {
	least, most time.Duration

	seen         [bins]uint16 // numbers of packets by delay relative to the fastest packet
	total        int
	have         bool
	fastest      time.Duration // smallest transit of the current span
	fastestOlder time.Duration // smallest transit of the previous span
	spanEnd      time.Duration
}

func (e *estimator) reset() {
	e.seen, e.total = [bins]uint16{}, 0
	e.resetBase()
}

func (e *estimator) resetBase() { e.have = false }

func (e *estimator) known() bool { return e.have }

// base returns the transit of the fastest recent packet.
func (e *estimator) base() time.Duration { return min(e.fastest, e.fastestOlder) }

func (e *estimator) observe(now, transit time.Duration) {
	switch {
	case !e.have:
		e.have = true
		e.fastest, e.fastestOlder, e.spanEnd = transit, transit, now+baseSpan
	case now >= e.spanEnd:
		e.fastestOlder, e.fastest, e.spanEnd = e.fastest, transit, now+baseSpan
	default:
		e.fastest = min(e.fastest, transit)
	}
	e.seen[min(int((transit-e.base())/binWidth), bins-1)]++
	if e.total++; e.total >= memory {
		e.total = 0
		for i := range e.seen {
			e.seen[i] /= 2
			e.total += int(e.seen[i])
		}
	}
}

// target returns the delay with which 97 % of the recent packets would have arrived in time, within the estimator's minimum and maximum.
func (e *estimator) target() time.Duration {
	enough := e.total - e.total*3/100
	for i, sum := 0, 0; i < bins; i++ {
		if sum += int(e.seen[i]); sum >= enough {
			return min(max(time.Duration(i+1)*binWidth, e.least), e.most)
		}
	}
	return e.least
}
