package conversation

import "time"

// Role names the speaker of an entry.
type Role string

// The speakers of a conversation.
const (
	RoleAgent  Role = "agent"
	RoleCaller Role = "caller"
)

// Entry is one line of the transcript.
type Entry struct {
	Role Role
	// Text contains the words; of the agent's words, only those that were heard. If Digits is set, Text contains the pressed digits. The
	// agent's digits are masked unless Press.Show is set, and follow the words of their answer.
	Text        string
	Digits      bool
	Start, End  time.Duration // times of the call: see Frame.Elapsed
	Interrupted bool          // whether the caller interrupted the agent
	Confidence  float64       // of the caller's words, as the recognizer reports it; 0 if unknown
	// Latency is the latency of the agent's answer. For answers to turns without speech (the first sentence, digits, silence), it counts
	// from the beginning of the turn.
	Latency Latency
}
