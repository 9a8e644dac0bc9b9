package conversation

import "context"

// Conversation takes turns with callers. It is safe for concurrent use: each Run is one call.
type Conversation struct{ cfg Config }

// New returns a conversation. The error names a field of c that is missing or wrong.
func New(c Config) (*Conversation, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	return &Conversation{cfg: c}, nil
}

// Run has a conversation on a call. It returns when the brain ends or transfers the call, the caller hangs up, ctx ends, or
// the conversation fails. A deadline of ctx bounds the duration. Run leaves the call up, and no goroutine behind. The error
// is not nil exactly if the conversation failed; Outcome.By is ByFailure then.
//
// If the recognizer fails, the brain gets a turn without words, and asks the caller to say it again; the second failure in
// a row ends the conversation with the apology. An error of the brain ends it too, with the apology unless the brain said
// something in that turn. A failure of the synthesizer ends it at once.
func (c *Conversation) Run(ctx context.Context, audio Audio, brain Brain) (Outcome, error) {
	r := newReader(ctx, c.cfg, audio, brain)
	err := r.read(ctx)
	return r.close(ctx, err)
}
