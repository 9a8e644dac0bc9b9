package openai

import (
	"bytes"
	"context"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/pcm"
)

const (
	listenRate   = 16000           // samples a second of what is sent
	maxUtterance = 5 * time.Minute // the rest of a longer one is not heard
	minUtterance = 100 * time.Millisecond
	// faint is the level under which nobody has spoken, in dBFS. Models of this kind make words up from silence.
	faint = -60.0
	// maxPrompt bounds what is sent of the hints, in bytes.
	maxPrompt = 800
)

// Listen starts an utterance.
func (c *Client) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	rate, err := pcm.NewResampler(h.Rate, listenRate)
	if err != nil {
		return nil, err
	}
	u := &utterance{client: c, rate: rate, prompt: promptOf(h.Phrases)}
	u.language, _, _ = strings.Cut(strings.ToLower(h.Language), "-") // ISO 639-1
	u.ctx, u.cancel = context.WithCancel(ctx)
	return u, nil
}

// promptOf lists as many of the phrases as there is room for.
func promptOf(phrases []string) string {
	var b strings.Builder
	for _, p := range phrases {
		p = strings.ToValidUTF8(strings.Join(strings.Fields(p), " "), "")
		if p == "" || b.Len()+len(p)+1 > maxPrompt {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p)
	}
	return b.String()
}

// utterance keeps the audio until it is asked for the words.
type utterance struct {
	client   *Client
	ctx      context.Context //nolint:containedctx // the utterance lives as long as the context of its Listen
	cancel   context.CancelFunc
	rate     *pcm.Resampler
	language string
	prompt   string
	audio    []int16
	done     bool
}

// Write keeps audio, at most five minutes of it.
func (u *utterance) Write(samples []int16) error {
	if err := u.usable(); err != nil {
		return err
	}
	if len(u.audio) < pcm.Samples(maxUtterance, listenRate) {
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

// Finish sends the audio and waits for the words. Silence is not sent.
func (u *utterance) Finish(ctx context.Context) (conversation.Recognized, error) {
	if err := u.usable(); err != nil {
		return conversation.Recognized{}, err
	}
	defer func() { _ = u.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(u.ctx, cancel)()

	u.audio = u.rate.Flush(u.audio)
	if len(u.audio) < pcm.Samples(minUtterance, listenRate) || pcm.Loudness(u.audio) < faint {
		return conversation.Recognized{}, ctx.Err()
	}
	text, err := u.client.transcribe(ctx, u)
	return conversation.Recognized{Text: strings.TrimSpace(text)}, err
}

func (c *Client) transcribe(ctx context.Context, u *utterance) (string, error) {
	var file bytes.Buffer
	if err := pcm.WriteWAV(&file, pcm.Audio{Rate: listenRate, Channels: 1, Samples: u.audio}); err != nil {
		return "", err
	}
	body := sdk.AudioTranscriptionNewParams{
		File: sdk.File(&file, "utterance.wav", "audio/wav"), Model: c.config.Transcription,
		ResponseFormat: sdk.AudioResponseFormatJSON,
	}
	if u.language != "" {
		body.Language = param.NewOpt(u.language)
	}
	if u.prompt != "" {
		body.Prompt = param.NewOpt(u.prompt)
	}
	answer, err := c.audio.Transcriptions.New(ctx, body)
	if err != nil {
		return "", speechError(ctx, err)
	}
	return answer.Text, nil
}

// Close abandons the utterance.
func (u *utterance) Close() error {
	u.done, u.audio = true, nil
	u.cancel()
	return nil
}
