package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/internal/engine/chat"
	"github.com/callwright/callwright/speech/pcm"
)

const (
	listenRate   = 16000           // samples per second that the service receives
	maxUtterance = 5 * time.Minute // longer utterances are cut off
	// maxPrompt is the maximum size of the hints in a request, in bytes.
	maxPrompt = 800
)

var _ conversation.KeywordUser = (*Client)(nil)

// UsesKeywords returns true: keywords are sent as a prompt.
func (*Client) UsesKeywords() bool { return true }

// Listen starts an utterance. Its audio is transcribed when it finishes, with the keywords and the phrases of h as hints.
func (c *Client) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	language := engine.Language(h.Language)
	prompt := promptOf(slices.Concat(h.Keywords, h.Phrases))
	return engine.Listen(ctx, h.Rate, engine.Ear{
		Rate: listenRate, Longest: maxUtterance,
		Recognize: func(ctx context.Context, audio []int16) (string, error) {
			return c.transcribe(ctx, audio, language, prompt)
		},
	})
}

// promptOf returns the keywords and phrases, one per line. It omits each one with which the text would exceed maxPrompt.
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

// transcribe sends audio and returns its words. It returns no words for silence, without a request.
func (c *Client) transcribe(ctx context.Context, audio []int16, language, prompt string) (string, error) {
	if engine.Faint(audio) {
		return "", ctx.Err()
	}
	var file bytes.Buffer
	if err := pcm.WriteWAV(&file, pcm.Audio{Rate: listenRate, Channels: 1, Samples: audio}); err != nil {
		return "", err
	}
	fields := map[string]string{"model": c.config.Transcription, "response_format": "json"}
	if strings.Contains(strings.ToLower(c.config.Transcription), "whisper") {
		fields["response_format"] = "verbose_json" // with the probabilities that a segment is no speech
	}
	if language != "" {
		fields["language"] = language
	}
	if prompt != "" {
		fields["prompt"] = prompt
	}
	for field, value := range fields {
		if _, refused := c.refusedFields.Load(fieldKey(field, value)); refused {
			without(fields, field)
		}
	}
	for {
		words, err := c.transcription(ctx, file.Bytes(), fields)
		field := refusedField(err, fields)
		if field == "" {
			if err != nil {
				err = speechError(ctx, err)
			}
			return words, err
		}
		c.refusedFields.Store(fieldKey(field, fields[field]), true)
		without(fields, field)
	}
}

// fieldKey returns the key of a refused field in Client.refusedFields. A service may accept other languages than one that it refuses.
func fieldKey(field, value string) string {
	if field == "language" {
		return field + "=" + value
	}
	return field
}

// without deletes a field that the service refuses. The form of the answer becomes the one that all services have.
func without(fields map[string]string, field string) {
	if field == "response_format" {
		fields[field] = "json"
		return
	}
	delete(fields, field)
}

// refusedField returns the optional field that the service refuses with err, or "" for another error.
func refusedField(err error, fields map[string]string) string {
	refused, ok := errors.AsType[*chat.ServiceError](err)
	if !ok {
		return ""
	}
	if aboutFormat(refused) && fields["response_format"] != "json" {
		return "response_format"
	}
	for _, field := range []string{"language", "prompt"} {
		if fields[field] != "" && refused.Param == field && (refused.Status == http.StatusBadRequest || refused.Status == http.StatusUnprocessableEntity) {
			return field
		}
	}
	return ""
}

// readTranscript returns the words in a transcription response. Models of the Whisper family invent words for noise: segments that are
// probably no speech, and marks such as "[BLANK_AUDIO]", are no words.
func readTranscript(body []byte) (string, error) {
	var answer struct {
		Text     *string         `json:"text"`
		Error    json.RawMessage `json:"error"`
		Segments []struct {
			Text     string  `json:"text"`
			NoSpeech float64 `json:"no_speech_prob"`
			LogProb  float64 `json:"avg_logprob"`
		} `json:"segments"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", err
	}
	if answer.Text == nil {
		return "", chat.NewServiceError(body)
	}
	text := *answer.Text
	if len(answer.Segments) > 0 {
		var speech strings.Builder
		for _, s := range answer.Segments {
			if s.NoSpeech <= mostNoSpeech || s.LogProb >= leastLogProb {
				speech.WriteString(s.Text)
			}
		}
		text = speech.String()
	}
	return engine.WithoutMarks(text), nil
}

// A segment is no speech if its probabilities cross both limits, which are those of OpenAI's own Whisper program.
const (
	mostNoSpeech = 0.6
	leastLogProb = -1.0
)
