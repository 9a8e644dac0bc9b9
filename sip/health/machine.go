package health

import (
	"cmp"
	"slices"
	"time"
)

// move is where a state goes, and how many times in a row that has to be said before it does.
type move struct {
	to    State
	after int
}

// moves is the machine. A state stays, and counts, until what is said of it has been said often enough.
var moves = map[State]struct{ answer, miss move }{
	Unchecked:   {answer: move{Healthy, 1}, miss: move{Unreachable, 3}},
	Healthy:     {answer: move{Healthy, 1}, miss: move{Suspect, 1}},
	Suspect:     {answer: move{Healthy, 1}, miss: move{Unreachable, 3}},
	Unreachable: {answer: move{Recovering, 1}, miss: move{Unreachable, 1}},
	Recovering:  {answer: move{Healthy, 2}, miss: move{Unreachable, 1}},
}

// The times between probes.
const (
	Interval      = time.Minute     // give or take a tenth
	MaxRetryAfter = 3 * time.Minute // how long a 503 may keep probes away
	soon          = 5 * time.Second // after the first miss or answer that is being counted, and twice that after the second
	fallen        = 20 * time.Second
)

// Next is the server after a piece of evidence. The zero Server is Unchecked.
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

// firstStreak is what a state has counted when it is entered: the evidence that led to Suspect and Recovering is the
// first of those they count, the others begin anew.
func firstStreak(s State) int {
	if s == Suspect || s == Recovering {
		return 1
	}
	return 0
}

// ProbeAt is when a server is to be probed again, or at once (the zero time) when it never was. One whose state is
// settled is probed each minute. Its seed is its place in that minute: each interval brings it up to a tenth closer, so
// that servers which were first probed together are soon spread evenly, and stay so. One that is being counted is
// looked at sooner: 5 s after the first miss or answer, 10 s after the second, and 20 s after it became unreachable.
func (s Server) ProbeAt(seed uint64) time.Time {
	if s.CheckedAt.IsZero() {
		return time.Time{}
	}
	at := s.CheckedAt.Add(s.wait(seed))
	if at.Before(s.NotBefore) {
		return s.NotBefore
	}
	return at
}

func (s Server) wait(seed uint64) time.Duration {
	switch {
	case s.Streak > 0:
		return soon << (s.Streak - 1)
	case s.State == Unreachable && s.Since.Equal(s.CheckedAt):
		return fallen
	}
	place := time.Duration(seed % uint64(Interval))
	ahead := (place - time.Duration(s.CheckedAt.UnixNano()%int64(Interval)) + Interval) % Interval
	if ahead > Interval/2 {
		ahead -= Interval
	}
	return Interval + min(max(ahead, -Interval/10), Interval/10)
}

// Best is the state of a trunk with these servers: that of its best one, Unchecked without any.
func Best(servers ...State) State {
	order := []State{Healthy, Suspect, Unchecked, Recovering, Unreachable}
	for _, s := range order {
		if slices.Contains(servers, s) {
			return s
		}
	}
	return Unchecked
}
