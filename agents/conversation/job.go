package conversation

import (
	"context"
	"time"
)

// job is a turn that the reader hands the speaker.
type job struct {
	number    int
	kind      TurnKind
	text      string     // of digits
	utterance *utterance // of speech
	apology   bool       // not for the brain: say the apology and leave
	voiced    time.Duration
	ended     time.Duration // when the turn was judged to be over
	lastVoice time.Duration // what latencies count from

	ctx     context.Context //nolint:containedctx // a job's life, which the reader ends and the speaker sees
	cancel  context.CancelFunc
	playout playout
	latency Latency
	pressed []Entry // what the agent pressed; follows its words in the transcript
}

// item is a step of the brain on its way to the call.
type item struct {
	clip *clip // a Say, being synthesized
	step Step  // any other
	err  error // the brain's
}
