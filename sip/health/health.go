package health

import "time"

// State is the health of a server, or of a trunk's best server.
type State string

// The states. Users see Suspect as healthy and Recovering as unreachable: see Public.
const (
	Unchecked   State = "unchecked"
	Healthy     State = "healthy"
	Suspect     State = "suspect"
	Unreachable State = "unreachable"
	Recovering  State = "recovering"
)

// Public returns the state that users see: Healthy, Unreachable or Unchecked.
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

// Evidence is the result of one probe or one call, as far as it concerns a server.
type Evidence struct {
	At           time.Time
	Alive        bool
	ResponseTime time.Duration // of an answered probe; 0 if not measured
	Reason       string        // reason for a miss, or status and phrase of the response
	RetryAfter   time.Duration // from a 503; 0 if absent
}

// Server is the health of one server, with the data that the state machine needs.
type Server struct {
	State        State
	Since        time.Time     // time of the last change of State
	Streak       int           // number of consecutive misses or responses, depending on State
	CheckedAt    time.Time     // time of the last evidence; zero if none
	ResponseTime time.Duration // of the last answered probe; 0 if none
	Reason       string        // Evidence.Reason of the last evidence
	NotBefore    time.Time     // earliest time of the next probe, from the Retry-After of a 503; zero if not limited
}
