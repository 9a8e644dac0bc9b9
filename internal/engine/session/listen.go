package session

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
)

// Listen recognizes one utterance in a session of its own.
func Listen(ctx context.Context, h conversation.Hearing, engine conversation.Streamer) (conversation.Utterance, error) {
	stream, err := engine.Open(ctx, h)
	if err != nil {
		return nil, err
	}
	return &utterance{stream: stream}, nil
}

// utterance is the only utterance of a session.
type utterance struct {
	stream conversation.Stream
	done   bool
}

// Write adds audio.
func (u *utterance) Write(samples []int16) error {
	if u.done {
		return callwright.Errorf(callwright.CodeInvalidState, "the utterance has ended: begin another one")
	}
	return u.stream.Write(samples)
}

// Finish ends the utterance, returns its text and closes the session.
func (u *utterance) Finish(ctx context.Context) (conversation.Recognized, error) {
	if u.done {
		return conversation.Recognized{}, callwright.Errorf(callwright.CodeInvalidState, "the utterance has ended: begin another one")
	}
	defer func() { _ = u.Close() }()
	if err := u.stream.Force(); err != nil {
		return conversation.Recognized{}, err
	}
	for {
		h, err := u.stream.Next(ctx)
		if err != nil {
			return conversation.Recognized{}, err
		}
		if h.Final {
			return conversation.Recognized{Text: h.Text}, nil
		}
	}
}

// Close closes the session.
func (u *utterance) Close() error {
	u.done = true
	return u.stream.Close()
}
