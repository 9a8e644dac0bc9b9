package conversation

import "time"

// Role says whose words an entry holds.
type Role string

// The roles.
const (
	RoleAgent  Role = "agent"
	RoleCaller Role = "caller"
)

// Entry is one line of the transcript.
type Entry struct {
	Role Role
	// Text is what was said; of the agent, only what was heard of it. With Digits it is what was pressed, by the agent
	// too; what an agent pressed within an answer follows the answer's words.
	Text        string
	Digits      bool
	Start, End  time.Duration // in the call's time, which Frame.Elapsed counts
	Interrupted bool          // of the agent: the caller broke in
	Confidence  float64       // of the caller: the recognizer's; 0 when it doesn't know
	// Latency is how the agent's answer came about. An answer to nothing that was said (the first sentence, digits,
	// silence) counts from when its turn began.
	Latency Latency
}
