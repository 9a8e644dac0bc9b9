// Package endpoint judges when a caller's turn is over (endpointing). It weighs the words so far, the pitch at their end, what the
// agent has asked, and how long this caller usually pauses.
//
// The words of each language are data files in the folder words. The other constants are in the table of waits.
package endpoint

import (
	"time"

	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/speech/intonation"
)

// Evidence describes a caller's turn during a pause.
type Evidence struct {
	Text      string             // the words of the turn so far
	Known     bool               // whether Text contains the words of all speech in the turn; if not, some speech is still being recognized
	Forced    bool               // whether the end of Text was recognized without regard to more words, so that its closing period is no evidence
	EndOfTurn float64            // the recognizer's probability that the turn is over, from 0 to 1; 0 if unknown
	Asked     string             // the agent's words that precede the turn, as far as they were heard
	Expect    expect.Answer      // the answer that the agent expects
	Phrases   []string           // the exact words that the agent expects; may be any text
	Contour   intonation.Contour // how the caller's pitch ended before the pause; may be unknown
	Pauses    []time.Duration    // earlier pauses of this caller within turns, oldest first
	Language  string             // BCP 47 tag or a language code of the API
	Least     time.Duration      // lower bound of Wait.Final; 0 means DefaultLeast
	Longest   time.Duration      // upper bound of Wait.Final; 0 means DefaultLongest; a bound below Least means Least
}

// The defaults of the bounds of a Wait.
const (
	DefaultLeast   = 300 * time.Millisecond
	DefaultLongest = 3 * time.Second
)

// The range of the API's settings for both bounds of a Wait.
const (
	MinWait = 100 * time.Millisecond
	MaxWait = 10 * time.Second
)

// IsBound reports whether the API accepts a duration as a bound of a Wait. 0 means the default.
func IsBound(d time.Duration) bool { return d == 0 || MinWait <= d && d <= MaxWait }

// BoundRange is the error message for a duration that is not a bound: see IsBound.
const BoundRange = "must be from 100 to 10000 milliseconds"

// Wait describes how long the caller may be silent. The durations count from the end of the caller's last voice. Likely is at most Final.
type Wait struct {
	Likely time.Duration // the turn is probably over; an answer may be prepared
	Final  time.Duration // the turn is over
	Why    Reason
}

// Reason explains a Wait.
type Reason string

// The reasons of Rules.
const (
	Unknown    Reason = "unknown"    // the words are not recognized yet: Final is the longest wait
	NoWords    Reason = "no_words"   // the caller's sounds contained no words
	Answered   Reason = "answered"   // an expected answer or phrase is complete, or a question is answered with yes or no
	Finished   Reason = "finished"   // the last words close a turn, such as "thank you", or the recognizer has closed the sentence
	Plain      Reason = "plain"      // the words neither close a turn nor call for more
	Open       Reason = "open"       // the recognizer punctuates sentences, and has not closed this one
	Unfinished Reason = "unfinished" // the last words call for more, such as "and" or "my number is"
	Hesitation Reason = "hesitation" // the caller hesitates, as in "um"
	Number     Reason = "number"     // a number is being read
	Incomplete Reason = "incomplete" // the expected answer has begun, such as an e-mail address without its domain
	Intonation Reason = "intonation" // the pitch of the last words decided
	Engine     Reason = "engine"     // the recognizer's probability decided
)
