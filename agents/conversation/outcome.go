package conversation

import "time"

// Latency is how long the stages of one answer took, each counted from the caller's last voiced sample. A stage that
// did not happen is 0.
type Latency struct {
	EndOfTurn  time.Duration // the turn was judged to be over
	Recognized time.Duration // the words were there
	FirstStep  time.Duration // the brain's first sentence
	FirstAudio time.Duration // the synthesizer's first samples
	Playing    time.Duration // the first of them left for the caller
}

// EndedBy says who ended a conversation.
type EndedBy string

// Who ends conversations.
const (
	ByAgent   EndedBy = "agent"   // the brain: an End or a Transfer
	ByPeer    EndedBy = "peer"    // the call is gone
	ByContext EndedBy = "context" // the context of Run: stopped, or its longest duration is over
	ByFailure EndedBy = "failure" // an engine or the brain failed, and the call can't go on
)

// Outcome is how a conversation ended.
type Outcome struct {
	By         EndedBy
	Reason     string    // of the brain's End
	TransferTo string    // of the brain's Transfer: the call is still up, and for Run's caller to transfer
	Answers    []Latency // of every answer to something that the caller said, in order
}
