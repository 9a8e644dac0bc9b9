package conversation

import "time"

// Role is the speaker of an entry.
type Role string

// The roles.
const (
	RoleAgent  Role = "agent"
	RoleCaller Role = "caller"
)

// Entry is one line of the transcript.
type Entry struct {
	Role Role
	// Text holds the words, of the agent only the heard ones. With Digits it holds the pressed digits. The agent's digits are
	// masked unless Press.Show is set, and follow the words of their answer.
	Text        string
	Digits      bool
	Start, End  time.Duration // in the time of the call: see Frame.Elapsed
	Interrupted bool          // of the agent: the caller interrupted
	Confidence  float64       // of the caller: the recognizer's, or 0
	// Latency is the latency of the agent's answer. Answers to other turns than speech (the first sentence, answers to digits or
	// silence) count from the beginning of the turn.
	Latency Latency
}
