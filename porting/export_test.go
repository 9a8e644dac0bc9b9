package porting

import "time"

// Apply applies what a carrier says.
func Apply(r *Request, shot Snapshot, now time.Time) ([]Entry, error) { return r.apply(shot, now) }

// Mailed reports whether people are told of an entry.
func (e Entry) Mailed() bool { return e.mailed() }

// TooLate gives up a request, or numbers of it, on which nobody acts.
func TooLate(r *Request, now time.Time, cutOff time.Duration) (Entry, bool, error) {
	return r.tooLate(now, cutOff)
}
