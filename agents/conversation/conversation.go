package conversation

import "context"

// Conversation takes turns with callers. It is safe for concurrent use: each Run is one call.
type Conversation struct{ cfg Config }

// New checks the configuration and fills in its defaults.
func New(c Config) (*Conversation, error) {
	if err := c.settle(); err != nil {
		return nil, err
	}
	return &Conversation{cfg: c}, nil
}

// Run has a conversation on the call until the brain ends or transfers it, the caller is gone, ctx ends (which is how a
// longest duration is set), or it fails. It leaves the call up, and no goroutine behind. The error is that of a
// conversation which failed, and only of that: Outcome.By is ByFailure then.
//
// A recognizer's failure is one turn without words for the brain, which then asks the caller to say it again; the
// second in a row ends the conversation with the apology. A brain's error ends it too, with the apology unless the
// brain said something in that turn. A synthesizer's failure ends it at once.
func (c *Conversation) Run(ctx context.Context, audio Audio, brain Brain) (Outcome, error) {
	r := newReader(ctx, c.cfg, audio, brain)
	err := r.read(ctx)
	return r.close(ctx, err)
}
