package pocketsphinx

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/pcm"
)

// An utterance shorter than minUtterance has no word in it; of a longer one than maxUtterance the rest is not heard.
const (
	minUtterance = 100 * time.Millisecond
	maxUtterance = time.Minute
)

// utterance keeps the audio until it is asked for the words. It holds a process only during Finish.
type utterance struct {
	recognizer *Recognizer
	ctx        context.Context //nolint:containedctx // the utterance lives as long as the context of its Listen
	cancel     context.CancelFunc
	rate       *pcm.Resampler
	phrases    []phrase
	audio      []int16
	done       bool
}

// Write keeps audio, at most a minute of it.
func (u *utterance) Write(samples []int16) error {
	if err := u.usable(); err != nil {
		return err
	}
	if len(u.audio) < pcm.Samples(maxUtterance, modelRate) {
		u.audio = u.rate.Process(u.audio, samples)
	}
	return nil
}

func (u *utterance) usable() error {
	if u.done {
		return callwright.Errorf(callwright.CodeInvalidState, "the utterance is over")
	}
	return u.ctx.Err()
}

// Finish recognizes: first the phrases, then, if it was none of them, whatever was said.
func (u *utterance) Finish(ctx context.Context) (conversation.Recognized, error) {
	if err := u.usable(); err != nil {
		return conversation.Recognized{}, err
	}
	defer func() { _ = u.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(u.ctx, cancel)()

	u.audio = u.rate.Flush(u.audio)
	if len(u.audio) < pcm.Samples(minUtterance, modelRate) {
		return conversation.Recognized{}, ctx.Err()
	}
	text, err := u.recognizer.recognize(ctx, u.audio, u.phrases)
	return conversation.Recognized{Text: text}, err
}

// Close abandons the utterance.
func (u *utterance) Close() error {
	u.done, u.audio = true, nil
	u.cancel()
	return nil
}
