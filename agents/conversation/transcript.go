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
	// Text is what was said; of the agent, only what was heard. With Digits it is what was pressed; what the agent
	// pressed is masked unless Press.Show. Digits that the agent pressed within an answer follow the answer's words.
	Text        string
	Digits      bool
	Start, End  time.Duration // in the time of the call: see Frame.Elapsed
	Interrupted bool          // of the agent: the caller interrupted
	Confidence  float64       // of the caller: the recognizer's, or 0
	// Latency is that of the agent's answer. An answer to something that was not said (the first sentence, an answer to
	// digits or silence) counts from the beginning of its turn.
	Latency Latency
}
