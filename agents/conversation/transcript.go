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
	// Text holds the words, of the agent only those that the caller heard. With Digits it holds the pressed digits; those
	// of the agent are masked unless Press.Show is set, and follow the words of the answer in which they were pressed.
	Text        string
	Digits      bool
	Start, End  time.Duration // in the time of the call: see Frame.Elapsed
	Interrupted bool          // of the agent: the caller interrupted
	Confidence  float64       // of the caller: the recognizer's, or 0
	// Latency is that of the agent's answer. An answer to something that was not said (the first sentence, an answer to
	// digits or silence) counts from the beginning of its turn.
	Latency Latency
}
