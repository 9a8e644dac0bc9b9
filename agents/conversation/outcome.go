package conversation

import "time"

// Latency holds the times at which the stages of one answer were reached, each counted from the caller's last voiced sample. A
// stage that was not reached is 0.
type Latency struct {
	EndOfTurn  time.Duration // the end of the turn was detected
	Recognized time.Duration // the words were recognized
	FirstStep  time.Duration // the brain returned its first step
	FirstAudio time.Duration // the synthesizer returned its first samples
	Playing    time.Duration // the first sample was played to the caller
}

// EndedBy is the cause of a conversation's end.
type EndedBy string

// The values of EndedBy.
const (
	ByAgent   EndedBy = "agent"   // the brain, with an End or a Transfer
	ByPeer    EndedBy = "peer"    // the call ended
	ByContext EndedBy = "context" // the context of Run ended, or its deadline passed
	ByFailure EndedBy = "failure" // an engine or the brain failed
)

// Outcome is the result of a conversation.
type Outcome struct {
	By         EndedBy
	Reason     string    // of the brain's End
	TransferTo string    // of the brain's Transfer: the call is still up, and Run's caller must transfer it
	Answers    []Latency // of the answers to the caller's speech, in order
	Meanwhile  Meanwhile // the unused rest of Config.Meanwhile, if the caller's turn did not begin
}
