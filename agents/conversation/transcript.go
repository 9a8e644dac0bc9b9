package conversation

import (
	"time"

	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/agents/conversation/expect"
)

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
	// Unrecognized is the reason why words of the caller are missing from Text, which is empty if all of them are missing. It is empty if the
	// recognizer has not failed.
	Unrecognized Unrecognized
	// Latency is the latency of the agent's answer. For answers to turns without speech (the first sentence, digits, silence), it counts
	// from the beginning of the turn.
	Latency Latency
	// Turn is the number of the caller's turn that the entry belongs to or answers, from 1; 0 for the agent's first sentence and overlapping
	// words.
	Turn int
	// Waited is the silence after the caller's words until the turn was over, and WaitedFor its reason.
	Waited    time.Duration
	WaitedFor endpoint.Reason
	// Expected describes the answer that the agent expected in the turn. It is set for the caller's words only.
	Expected Expected
	// Begun lists the early answers to the turn, in order. It is set for the agent's entries only.
	Begun []Begun
	// Holds lists the pauses of the agent's answer while the caller spoke, in order.
	Holds []Hold
}

// Expected describes an answer that the agent expected, and what was understood. The zero value means that any words were expected.
type Expected struct {
	Kind     expect.Kind
	Min, Max int    // see expect.Answer
	Digits   string // digits in the caller's words, if Kind is expect.Digits
}

// expectedOf returns what was expected in an utterance, and understood in a text.
func expectedOf(h Hearing, text string) Expected {
	e := Expected{Kind: h.Expect.Kind, Min: h.Expect.Min, Max: h.Expect.Max}
	if e.Kind == expect.Digits {
		e.Digits = expect.DigitsIn(h.Language, text)
	}
	return e
}

// Unrecognized explains why the recognizer returned no words for a voice of the caller.
type Unrecognized string

// The values of Unrecognized.
const (
	UnrecognizedTimeout     Unrecognized = "timeout"     // the recognizer returned no text within Config.Patience, or Config.LastWords after the hangup
	UnrecognizedUnavailable Unrecognized = "unavailable" // the recognizer is down or overloaded (CodeUnavailable, CodeTooManyRequests)
	UnrecognizedRefused     Unrecognized = "refused"     // the recognizer refuses the request or the key (CodeBadRequest, CodeAuthFailure, CodeForbidden)
	UnrecognizedError       Unrecognized = "error"       // any other failure, such as a connection that was closed in the middle of a word
)

// Begun is an answer that was begun before the turn was certain.
type Begun struct {
	At   time.Duration // time of the call
	Used bool          // whether the answer was played
	Why  BegunReason   // why it was withdrawn; empty if Used is set
}

// BegunReason explains why an early answer was withdrawn.
type BegunReason string

// The values of BegunReason.
const (
	BegunContinued BegunReason = "continued" // the caller continued to speak
	BegunRevised   BegunReason = "revised"   // the final text differs from the text that was answered
)

// Hold is a pause of an answer while the caller's overlapping voice was judged, or while the caller's side held the call (HoldOnHold).
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
	HoldOnHold      HoldReason = "on_hold"     // the caller's side had put the call on hold; no voice was judged
)
