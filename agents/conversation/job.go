package conversation

import (
	"context"
	"time"
)

// job is a turn that the reader submits to the speaker.
type job struct {
	number    int
	kind      TurnKind
	text      string     // pressed digits
	utterance *utterance // the caller's speech
	apology   bool       // the speaker says the apology and ends the conversation, without the brain
	voiced    time.Duration
	ended     time.Duration // time at which the end of the turn was detected
	lastVoice time.Duration // start of all latencies

	ctx     context.Context //nolint:containedctx // the job's life: the reader ends it, the speaker sees that
	cancel  context.CancelFunc
	mouth   *mouth
	latency Latency
	pressed []Entry // digits that the agent pressed; the transcript lists them after its words
}

// item is a step of the brain that the speaker will perform, or the brain's error.
type item struct {
	clip *clip // the synthesis of a Say
	step Step  // any other step
	err  error // an error of the brain
}
