package health

import "time"

// State is what is known of a server.
type State string

// The states. Suspect counts as healthy and Recovering as unreachable to everyone outside: see Public.
const (
	Unchecked   State = "unchecked"
	Healthy     State = "healthy"
	Suspect     State = "suspect"
	Unreachable State = "unreachable"
	Recovering  State = "recovering"
)

// Public is the state as the interface knows it: healthy, unreachable or unchecked.
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

// Evidence is what one probe or one call says of a server.
type Evidence struct {
	At           time.Time
	Alive        bool
	ResponseTime time.Duration // of a probe that was answered; 0: not measured
	Reason       string        // of a miss, or the answer's code and phrase
	RetryAfter   time.Duration // asked for by a 503; 0: not
}

// Server is the health of one server.
type Server struct {
	State        State
	Since        time.Time     // of State
	Streak       int           // misses or answers in a row, whichever the state counts
	CheckedAt    time.Time     // zero: never
	ResponseTime time.Duration // of the last probe that was answered; 0: none was
	Reason       string        // of the last evidence
	NotBefore    time.Time     // no probe before it: a 503 has asked for that; zero: none has
}
