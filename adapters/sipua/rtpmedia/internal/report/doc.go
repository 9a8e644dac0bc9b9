// Package report computes the statistics of an RTP stream, and creates and reads the RTCP packets that contain them (RFC 3550, section 6):
// received packets, jitter and round-trip time. It also determines the time of the next report. It supports calls between two parties, and
// uses neither sockets nor clocks.
package report

import "time"

// The report interval of two participants with one stream is the minimum of five seconds (RFC 3550, 6.2). It is multiplied by a random
// factor from 0.5 to 1.5, and divided by e-1.5 to compensate for timer reconsideration (6.3.1).
const (
	interval     = 5 * time.Second
	compensation = 2.71828 - 1.5
)

// Interval returns the time until the next report. random is a random number in [0, 1). If first is set, the time is halved.
func Interval(random float64, first bool) time.Duration {
	d := float64(interval) * (random + 0.5) / compensation
	if first {
		d /= 2
	}
	return time.Duration(d)
}

// NTP converts a wall clock time to a 64-bit NTP timestamp: seconds since 1900 and a fraction in 2^-32 s (RFC 3550, section 4).
func NTP(t time.Time) uint64 {
	const from1900to1970 = 2208988800
	return uint64(t.Unix()+from1900to1970)<<32 | uint64(t.Nanosecond())<<32/1e9
}

// compact returns the middle 32 bits of an NTP timestamp. Their unit is 1/65536 s.
func compact(ntp uint64) uint32 { return uint32(ntp >> 16) }

// span converts a difference of compact NTP times, in 1/65536 s, to a duration.
func span(ticks uint32) time.Duration { return time.Duration(ticks) * time.Second >> 16 }
