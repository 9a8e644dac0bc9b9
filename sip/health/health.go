package health

import "time"

// State is the health of a server.
type State string

// The states. Suspect is shown as healthy and Recovering as unreachable: see Public.
const (
	Unchecked   State = "unchecked"
	Healthy     State = "healthy"
	Suspect     State = "suspect"
	Unreachable State = "unreachable"
	Recovering  State = "recovering"
)

// Public returns the state as users see it: healthy, unreachable or unchecked.
func (s State) Public() State {
	switch s {
	case Suspect:
		return Healthy
	case Recovering:
		return Unreachable
	default:
		return s
	}
}

// Evidence is the result of one probe or one call about a server.
type Evidence struct {
	At           time.Time
	Alive        bool
	ResponseTime time.Duration // of an answered probe; 0: not measured
	Reason       string        // of a miss, or the response's code and phrase
	RetryAfter   time.Duration // of a 503; 0: absent
}

// Server is the health of one server.
type Server struct {
	State        State
	Since        time.Time     // of State
	Streak       int           // consecutive misses or responses, whichever the state counts
	CheckedAt    time.Time     // zero: never
	ResponseTime time.Duration // of the last answered probe; 0: none
	Reason       string        // of the last evidence
	NotBefore    time.Time     // earliest next probe, from the Retry-After of a 503; zero: none
}
