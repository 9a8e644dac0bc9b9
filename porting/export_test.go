package porting

import "time"

// Apply exports Request.apply, which applies a carrier's snapshot to a request.
func Apply(r *Request, shot Snapshot, now time.Time) ([]Entry, error) { return r.apply(shot, now) }

// Mailed exports Entry.mailed, which reports whether an entry is mailed.
func (e Entry) Mailed() bool { return e.mailed() }

// TooLate exports Request.recordDelay, which records since when a request is held up. If the request is held up for too long, it rejects
// the numbers that are held up or requests the cancellation. The bool reports whether the Entry must be stored.
func TooLate(r *Request, now time.Time, cutOff time.Duration) (Entry, bool, error) {
	return r.recordDelay(now, cutOff)
}
