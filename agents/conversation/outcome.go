package conversation

import "time"

// Latency contains the times at which one answer reached its stages, counted from the caller's last voiced sample. The time of a stage that
// was not reached is 0.
type Latency struct {
	EndOfTurn  time.Duration // the end of the turn was detected
	Recognized time.Duration // the words were recognized
	FirstStep  time.Duration // the brain returned its first step
	FirstAudio time.Duration // the synthesizer returned its first samples
	Playing    time.Duration // the first sample was played to the caller
}

// EndedBy names the party or the event that ended a conversation.
type EndedBy string

// The values of EndedBy.
const (
	ByAgent   EndedBy = "agent"   // the brain ended it, by an End or a Transfer
	ByPeer    EndedBy = "peer"    // the call ended before the conversation did
	ByContext EndedBy = "context" // the context of Run ended, or its deadline passed
	ByFailure EndedBy = "failure" // an engine or the brain failed
)

// Outcome describes how a conversation ended.
type Outcome struct {
	By         EndedBy
	Reason     string    // reason of the brain's End
	TransferTo string    // target of the brain's Transfer; the call is still up, and Run's caller must transfer it
	Answers    []Latency // latencies of the answers to the caller's speech, in order
	Meanwhile  Meanwhile // the unused rest of Config.Meanwhile, if the caller's turn has not begun
}
