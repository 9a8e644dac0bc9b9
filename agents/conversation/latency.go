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
