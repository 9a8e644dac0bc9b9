// Package endpoint judges when a caller's turn is over (endpointing). It weighs the words so far, what the agent has asked, and how long
// this caller usually pauses.
package endpoint

import (
	"time"

	"github.com/callwright/callwright/agents/conversation/expect"
)

// Evidence describes a caller's turn during a pause.
type Evidence struct {
	Text      string          // the words of the turn so far
	Known     bool            // whether Text contains the words of all speech in the turn; if not, some speech is still being recognized
	EndOfTurn float64         // the recognizer's probability that the turn is over, from 0 to 1; 0 if unknown
	Asked     string          // the agent's words that precede the turn, as far as they were heard
	Expect    expect.Answer   // the answer that the agent expects
	Pauses    []time.Duration // earlier pauses of this caller within turns, oldest first
	Language  string          // BCP 47 tag or a language code of the API
	Least     time.Duration   // lower bound of Wait.Final
	Longest   time.Duration   // upper bound of Wait.Final
}

// Wait describes how long the caller may be silent. The durations count from the end of the caller's last voice. Likely is at most Final.
type Wait struct {
	Likely time.Duration // the turn is probably over; an answer may be prepared
	Final  time.Duration // the turn is over
	Why    Reason
}

// Reason explains a Wait.
type Reason string
