package porting

import "time"

// Apply exports Request.apply, which applies a carrier's snapshot to a request.
func Apply(r *Request, shot Snapshot, now time.Time) ([]Entry, error) { return r.apply(shot, now) }

// Mailed exports Entry.mailed, which reports whether an entry is mailed.
func (e Entry) Mailed() bool { return e.mailed() }

// TooLate exports Request.recordDelay, which requests the cancellation of a request that has been held up for too long.
func TooLate(r *Request, now time.Time, cutOff time.Duration) (Entry, bool, error) {
	return r.recordDelay(now, cutOff)
}
