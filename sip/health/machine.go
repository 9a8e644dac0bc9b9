package health

import (
	"cmp"
	"slices"
	"time"
)

// move is a transition, and the number of consecutive pieces of evidence that it requires.
type move struct {
	to    State
	after int
}

// moves is the transition table. A server counts evidence until the count suffices for the move from its state.
var moves = map[State]struct{ answer, miss move }{
	Unchecked:   {answer: move{Healthy, 1}, miss: move{Unreachable, 3}},
	Healthy:     {answer: move{Healthy, 1}, miss: move{Suspect, 1}},
	Suspect:     {answer: move{Healthy, 1}, miss: move{Unreachable, 3}},
	Unreachable: {answer: move{Recovering, 1}, miss: move{Unreachable, 1}},
	Recovering:  {answer: move{Healthy, 2}, miss: move{Unreachable, 1}},
}

// The intervals between the probes of a server, and the limit of a Retry-After.
const (
	Interval      = time.Minute     // for a server in a stable state
	MaxRetryAfter = 3 * time.Minute // longer Retry-Afters are shortened to this
	firstRetry    = 5 * time.Second // after the first counted evidence; doubles after the second
	downRetry     = 20 * time.Second
)

// Next returns the health of a server after a piece of evidence. The zero Server counts as Unchecked.
func (s Server) Next(e Evidence) Server {
	from := cmp.Or(s.State, Unchecked)
	m := moves[from].miss
	if e.Alive {
		m = moves[from].answer
	}
	next := s
	next.Streak++
	next.State = from
	if next.Streak >= m.after {
		next.State, next.Streak = m.to, firstStreak(m.to)
	}
	if next.State != s.State {
		next.Since = e.At
	}
	next.CheckedAt, next.Reason = e.At, e.Reason
	if e.ResponseTime > 0 {
		next.ResponseTime = e.ResponseTime
	}
	switch {
	case e.RetryAfter > 0:
		next.NotBefore = e.At.Add(min(e.RetryAfter, MaxRetryAfter))
	case e.Alive || !e.At.Before(s.NotBefore):
		next.NotBefore = time.Time{}
	}
	return next
}

// firstStreak returns the Streak of a server that enters a state. It is 1 for Suspect and Recovering, which count the evidence that led to
// them, and 0 for the other states.
func firstStreak(s State) int {
	if s == Suspect || s == Recovering {
		return 1
	}
	return 0
}

// ProbeAt returns the time of a server's next probe after one that was due at the given time. It returns the zero time, which means
// immediately, if the server was never probed.
//
// A server in a stable state is probed exactly one minute after the due time, even if that probe was late; if it was late by minutes, the
// missed probes are skipped. While evidence is counted, the next probe follows 5 s after the first piece and 10 s after the second. A
// server that has just become unreachable is probed after 20 s. No probe is due before NotBefore.
func (s Server) ProbeAt(due time.Time) time.Time {
	if s.CheckedAt.IsZero() {
		return time.Time{}
	}
	at := s.next(due)
	if at.Before(s.NotBefore) {
		return s.NotBefore
	}
	return at
}

func (s Server) next(due time.Time) time.Time {
	switch {
	case s.Streak > 0:
		return s.CheckedAt.Add(firstRetry << (s.Streak - 1))
	case s.State == Unreachable && s.Since.Equal(s.CheckedAt):
		return s.CheckedAt.Add(downRetry)
	case due.IsZero():
		return s.CheckedAt.Add(Interval)
	}
	late := max(s.CheckedAt.Sub(due), 0)
	return due.Add(late.Truncate(Interval) + Interval)
}

// Best returns the best of the states of a trunk's servers, or Unchecked without servers.
func Best(servers ...State) State {
	order := []State{Healthy, Suspect, Unchecked, Recovering, Unreachable}
	for _, s := range order {
		if slices.Contains(servers, s) {
			return s
		}
	}
	return Unchecked
}
