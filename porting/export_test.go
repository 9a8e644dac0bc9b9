package porting

import "time"

// Apply applies what a carrier says.
func Apply(r *Request, shot Snapshot, now time.Time) ([]Entry, error) { return r.apply(shot, now) }
