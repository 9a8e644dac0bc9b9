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
	// Holds lists the pauses of the agent's answer while the caller spoke, in order.
	Holds []Hold
}

// Hold is a pause of an answer while the caller's overlapping voice was judged.
type Hold struct {
	Start  time.Duration // time of the call
	Length time.Duration
	Why    HoldReason
}

// HoldReason explains why a hold ended. All values except HoldCut mean that the agent continued its answer.
type HoldReason string

// The values of HoldReason.
const (
	HoldNoise       HoldReason = "noise"       // no words were recognized
	HoldBackChannel HoldReason = "backchannel" // the caller acknowledged the agent's words, as in "uh-huh"
	HoldFiller      HoldReason = "filler"      // the caller only hesitated, as in "um"
	HoldIgnored     HoldReason = "ignored"     // the words did not suffice for the Interruptibility of the agent's words
	HoldTimeout     HoldReason = "timeout"     // the recognizer did not return the words in time
	HoldCut         HoldReason = "cut"         // the caller interrupted the agent, or the answer ended for another reason
)
