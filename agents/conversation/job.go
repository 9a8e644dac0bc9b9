package conversation

import (
	"context"
	"time"
)

// job is a turn that the reader passes to the speaker.
type job struct {
	number    int
	kind      TurnKind
	text      string     // of digits
	utterance *utterance // of speech
	apology   bool       // the speaker says the apology and ends, without the brain
	voiced    time.Duration
	ended     time.Duration // time at which the end of the turn was detected
	lastVoice time.Duration // the beginning of all latencies

	ctx     context.Context //nolint:containedctx // the job's life: the reader ends it, the speaker sees that
	cancel  context.CancelFunc
	playout playout
	latency Latency
	pressed []Entry // digits that the agent pressed; they follow its words in the transcript
}

// item is a step of the brain on its way to the call.
type item struct {
	clip *clip // a Say in synthesis
	step Step  // any other step
	err  error // an error of the brain
}
