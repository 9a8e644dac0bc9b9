package engine

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/pcm"
)

// minUtterance is the duration below which an utterance cannot contain a word.
const minUtterance = 100 * time.Millisecond

// Ear describes how an engine recognizes utterances.
type Ear struct {
	Rate    int           // sample rate of the audio for Recognize, in hertz
	Longest time.Duration // audio beyond this duration is ignored
	// Recognize returns the words of a complete utterance.
	Recognize func(ctx context.Context, audio []int16) (string, error)
}

// utterance buffers audio until Finish recognizes it.
type utterance struct {
	ctx    context.Context //nolint:containedctx // the utterance lives as long as the context of its Listen
	cancel context.CancelFunc
	ear    Ear
	rate   *pcm.Resampler
	audio  []int16
	done   bool
}

// Listen starts an utterance of audio at the given sample rate in hertz. An unsupported rate causes CodeBadRequest. The context of
// Recognize ends with ctx, with the context of Finish, and when the utterance is closed.
func Listen(ctx context.Context, rate int, ear Ear) (conversation.Utterance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	resampler, err := pcm.NewResampler(rate, ear.Rate)
	if err != nil {
		return nil, err
	}
	u := &utterance{ear: ear, rate: resampler}
	u.ctx, u.cancel = context.WithCancel(ctx)
	return u, nil
}

// Write buffers audio until the buffer contains Ear.Longest, and ignores later audio.
func (u *utterance) Write(samples []int16) error {
	if err := u.usable(); err != nil {
		return err
	}
	if len(u.audio) < pcm.Samples(u.ear.Longest, u.ear.Rate) {
		u.audio = u.rate.Process(u.audio, samples)
	}
	return nil
}

func (u *utterance) usable() error {
	if u.done {
		return callwright.Errorf(callwright.CodeInvalidState, "the utterance has ended: begin another one")
	}
	return u.ctx.Err()
}

// Finish recognizes the buffered audio and closes the utterance. Audio shorter than minUtterance results in no text.
func (u *utterance) Finish(ctx context.Context) (conversation.Recognized, error) {
	if err := u.usable(); err != nil {
		return conversation.Recognized{}, err
	}
	defer func() { _ = u.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(u.ctx, cancel)()

	u.audio = u.rate.Flush(u.audio)
	if len(u.audio) < pcm.Samples(minUtterance, u.ear.Rate) {
		return conversation.Recognized{}, ctx.Err()
	}
	text, err := u.ear.Recognize(ctx, u.audio)
	return conversation.Recognized{Text: text}, err
}

// Close discards the audio and cancels the recognition. It may be called repeatedly.
func (u *utterance) Close() error {
	u.done, u.audio = true, nil
	u.cancel()
	return nil
}
