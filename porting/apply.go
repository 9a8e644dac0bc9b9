package porting

import (
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// move applies an event to the request's state, and returns the entry for its history. If the request ends, move sets EndedAt, clears
// DueAt, HeldSince and Misses, and deletes the PINs. It returns an error for an illegal event.
func (r *Request) move(e Event, by Actor, now time.Time, note string) (Entry, error) {
	from := r.State
	to, err := from.Next(e, by)
	if err != nil {
		return Entry{}, err
	}
	r.State = to
	if to.Ended() {
		r.EndedAt, r.DueAt, r.HeldSince, r.Misses = now, time.Time{}, time.Time{}, 0
		for i := range r.Numbers {
			r.Numbers[i].PIN = ""
		}
	}
	r.Entries++
	return Entry{Number: r.Entries, At: now, From: from, To: to, Event: e, Detail: r.detail(), Actor: by, Note: note}, nil
}

// setNumbers sets the given state and failure for every number that can enter that state.
func (r *Request) setNumbers(to NumberState, f *Failure) {
	for i, n := range r.Numbers {
		if n.State.CanBecome(to) {
			r.Numbers[i].State, r.Numbers[i].Failure = to, f
		}
	}
}

// order returns the Order that a gateway receives for the request.
func (r Request) order() Order {
	o := Order{Key: r.ID + ":1", Ref: r.Ref, TargetDate: r.TargetDate, SignedAt: r.SignedAt, CancelAskedAt: r.CancelAskedAt, Numbers: r.phoneNumbers()}
	return o
}

// apply applies a carrier's snapshot of an order, and returns the new history entries. It ignores snapshots older than the last applied
// one, and unknown statuses and illegal moves of numbers.
func (r *Request) apply(shot Snapshot, now time.Time) (entries []Entry, err error) {
	if shot.Version != 0 && shot.Version < r.Version {
		return nil, nil
	}
	add := func(e Event) {
		if err == nil {
			var entry Entry
			if entry, err = r.move(e, Carrier, now, ""); err == nil {
				entries = append(entries, entry)
			}
		}
	}
	before := r.detail()
	r.Version = max(r.Version, shot.Version)
	changed := r.merge(shot)
	event, ended := Outcome(r.numberStates())
	if r.State == Submitted && (event == Ported || !ended && r.begun()) {
		add(Accepted)
		changed = false
	}
	switch {
	case ended:
		r.fail(event)
		add(event)
	case shot.CancelRefused && !r.CancelAskedAt.IsZero():
		r.CancelAskedAt, r.CancelAskedBy, r.CancelSent = time.Time{}, "", false
		if !r.HeldSince.IsZero() {
			r.HeldSince = now
		}
		add(CancelRefused)
	case r.State == InProgress && (changed || len(entries) == 0 && r.detail() != before) && r.Entries < MaxHistory-keptEntries:
		add(Changed)
	}
	return entries, err
}

// keptEntries is the number of history entries that are reserved for changes of the state: apply adds no Changed entry to them.
const keptEntries = 20

// fail copies the failure of the first rejected number to a rejected request without a failure.
func (r *Request) fail(e Event) {
	i := slices.IndexFunc(r.Numbers, func(n Number) bool { return n.State == NumberRejected })
	if e == Rejected && r.Failure == nil && i >= 0 {
		f := *r.Numbers[i].Failure
		r.Failure = &f
	}
}

func (r *Request) numberStates() []NumberState {
	states := make([]NumberState, len(r.Numbers))
	for i, n := range r.Numbers {
		states[i] = n.State
	}
	return states
}

// begun reports whether the losing carrier has begun to process the order.
func (r *Request) begun() bool {
	return slices.ContainsFunc(r.Numbers, func(n Number) bool { return n.State != NumberSubmitted && n.State != NumberPending })
}

// merge applies a snapshot to the numbers, and reports whether the state, FOC or failure code of a number has changed.
func (r *Request) merge(shot Snapshot) (changed bool) {
	r.Numbers = slices.Clone(r.Numbers)
	for i := range r.Numbers {
		n := &r.Numbers[i]
		at := slices.IndexFunc(shot.Numbers, func(s NumberSnapshot) bool { return s.Number == n.Number })
		if at < 0 {
			continue
		}
		was := *n
		n.merge(shot.Numbers[at], r.CancelAskedBy == Timer)
		changed = changed || was.State != n.State || !was.FOC.Equal(n.FOC) || codeOf(was.Failure) != codeOf(n.Failure)
	}
	return changed
}

func codeOf(f *Failure) FailureCode {
	if f == nil {
		return ""
	}
	return f.Code
}

// merge applies a carrier's snapshot to a number. It ignores the whole snapshot if the number has ended, or if the snapshot's state is
// empty or one that the number cannot move to. If inVain is set, a number that is canceled while it has a Failure becomes NumberRejected
// with that Failure.
func (n *Number) merge(s NumberSnapshot, inVain bool) {
	to := s.State
	if to == NumberCanceled && inVain && n.Failure != nil {
		to, s.Failure = NumberRejected, n.Failure
	}
	if n.State.Ended() || to == "" || to != n.State && !n.State.CanBecome(to) {
		return
	}
	n.State, n.FOC, n.Failure = to, s.FOC.UTC().Truncate(time.Microsecond), nil
	if s.FOC.IsZero() {
		n.FOC = time.Time{}
	}
	if f := s.Failure; f != nil {
		n.Failure = &Failure{Code: f.Code.Remedy().Code, Raw: callwright.Clip(f.Raw, MaxRaw)}
	}
	if to == NumberRejected && n.Failure == nil {
		n.Failure = &Failure{Code: OtherFailure}
	}
	if to == NumberPorted {
		n.PortedAt = s.PortedAt.UTC().Truncate(time.Microsecond)
	}
}
