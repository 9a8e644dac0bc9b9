package conversation

import "context"

// Conversation leads conversations with callers, turn by turn. It is safe for concurrent use: each Run leads the conversation of one call.
type Conversation struct{ cfg Config }

// New returns a conversation. The error names a missing or invalid field of c.
func New(c Config) (*Conversation, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	return &Conversation{cfg: c}, nil
}

// Run leads a conversation on a call. It returns when the brain ends or transfers the call, the caller hangs up, ctx ends, or the
// conversation fails. A deadline of ctx bounds the duration. Run does not end the call. When it returns, all of its goroutines have ended.
// The error is not nil if and only if the conversation failed; then Outcome.By is ByFailure.
//
// A brain that does not stop although its context has ended receives no further turn, and its words are not heard. If it still runs after
// Config.Patience, the conversation ends with the apology. Run waits for such a brain for at most 5 s at the end of the conversation, and
// logs an error if the brain's goroutine then still runs.
//
// If the recognizer fails, the brain receives a turn without words, and asks the caller to repeat the words. The second consecutive failure
// ends the conversation with the apology. An error of the brain ends it with the apology, too, unless the brain has spoken in that turn. A
// failure of the synthesizer ends it immediately.
func (c *Conversation) Run(ctx context.Context, audio Audio, brain Brain) (Outcome, error) {
	r := newReader(ctx, c.cfg, audio, brain)
	err := r.read(ctx)
	return r.close(ctx, err)
}
