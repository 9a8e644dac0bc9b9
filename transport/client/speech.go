package client

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright"
)

// SpeakRequest is a request to convert text to speech.
type SpeakRequest struct {
	Text     string // 1 to 5,000 characters
	Voice    string // name or id; if empty, Config.Voice selects it
	Language string // such as "en"; if empty, the server chooses
	Format   string // such as "pcm_16000" or "ulaw_8000"; if empty, the server chooses

	IdempotencyKey string // if empty, a new key, so that a retry does not speak again
}

// Speech describes a text that the server has spoken.
type Speech struct {
	URL      string `json:"url"` // URL of the audio; requires no key until it expires
	SampleID string `json:"sample_id"`
	// VoiceUsed is the voice of the request without surrounding spaces, or the voice that was drawn. If the server chose the voice, it is
	// the id of the sample's voice, or empty if unknown.
	VoiceUsed string `json:"voice_used,omitempty"`
}

// speakBody is the body of POST /v1/speak.
type speakBody struct {
	Text     string `json:"text"`
	Voice    string `json:"voice,omitempty"`
	Language string `json:"language,omitempty"`
	Format   string `json:"output_format,omitempty"`
}

// Speak converts text to speech, which the server stores as a sample. The server may refuse a voice that was drawn at random, because its
// engine lacks the voice or the voice does not speak the language. Speak then sends the text again without a voice.
func (c *Client) Speak(ctx context.Context, q SpeakRequest) (Speech, error) {
	voice, drawn := q.Voice, false
	if voice == "" {
		voice, drawn = c.cfg.Voice.pick(c.draw), c.cfg.Voice.draws()
	}
	key := orElse(q.IdempotencyKey, rand.Text())
	s, err := c.speak(ctx, q, voice, key)
	if drawn && refusesVoice(err) {
		voice = ""
		s, err = c.speak(ctx, q, voice, secondKey(key))
	}
	if err != nil {
		return Speech{}, err
	}
	if s.URL == "" || s.SampleID == "" {
		return Speech{}, callwright.Errorf(callwright.CodeInternal,
			"the answer of /v1/speak names no audio: check that %s names a Callwright server", BaseVariable)
	}
	s.VoiceUsed = strings.TrimSpace(voice)
	if voice == "" {
		s.VoiceUsed = c.voiceOf(ctx, s.SampleID)
	}
	return s, nil
}

// speak sends a text, with a voice unless voice is empty.
func (c *Client) speak(ctx context.Context, q SpeakRequest, voice, key string) (s Speech, err error) {
	err = c.call(ctx, Request{
		Method: http.MethodPost, Path: "/v1/speak", IdempotencyKey: key, Body: speakBody{q.Text, voice, q.Language, q.Format},
	}, &s)
	return s, err
}

// refusesVoice reports whether the server refused the voice of a request, or its combination with the language.
func refusesVoice(err error) bool {
	answer, ok := errors.AsType[*Error](err)
	return ok && answer.Status == http.StatusBadRequest && slices.Contains([]string{"voice", voiceField, "language"}, answer.Field)
}

// secondKey derives the Idempotency-Key of the request without a voice from the key of the first request. It is deterministic, so that
// repeating both requests sends the same keys.
func secondKey(key string) string {
	sum := sha256.Sum256([]byte("without a voice: " + key))
	return hex.EncodeToString(sum[:])
}

// voiceOf returns the voice id of a new sample. It searches only the first page of the list, which has the newest samples. If the request
// fails or the sample is missing, it returns an empty id and no error, because the speech itself has succeeded.
func (c *Client) voiceOf(ctx context.Context, sample string) string {
	list, err := c.ListSamples(ctx, SampleFilter{})
	if err != nil {
		return ""
	}
	for _, s := range list.Samples {
		if s.ID == sample {
			return s.VoiceID
		}
	}
	return ""
}

// Sample is the record of a text that the server has spoken.
type Sample struct {
	ID        string    `json:"id"`
	OrgID     string    `json:"org_id"`
	UserID    *string   `json:"user_id"`
	Text      string    `json:"text"`
	VoiceID   string    `json:"voice_id"` // unchanged when the voice is deleted
	Format    string    `json:"output_format"`
	LatencyMS int       `json:"latency_ms"` // duration of the synthesis
	Cost      *float64  `json:"cost"`       // nil if unknown
	URL       string    `json:"url"`        // URL of the audio; requires no key until it expires
	CreatedAt time.Time `json:"created_at"`
	Audio     []byte    `json:"audio_data,omitempty"` // a WAV file; set by GetSample only
}

// SampleFilter selects the samples that ListSamples returns.
type SampleFilter struct {
	VoiceID string // id or name; empty selects all voices
	Limit   int    // 1 to 100; if 0, the server's default of 20
	Offset  int    // number of newest samples to skip
}

// SampleList is a page of samples, newest first.
type SampleList struct {
	Samples []Sample `json:"data"`
	Total   int      `json:"total"` // number of samples that match the filter
	Limit   int      `json:"limit"`
	Offset  int      `json:"offset"`
}

// ListSamples returns a page of the organization's samples.
func (c *Client) ListSamples(ctx context.Context, f SampleFilter) (SampleList, error) {
	query := url.Values{}
	if f.VoiceID != "" {
		query.Set("voice_id", f.VoiceID)
	}
	if f.Limit != 0 {
		query.Set("limit", strconv.Itoa(f.Limit))
	}
	if f.Offset != 0 {
		query.Set("offset", strconv.Itoa(f.Offset))
	}
	var list SampleList
	if err := c.get(ctx, "/v1/speak/samples", query, &list); err != nil {
		return SampleList{}, err
	}
	return list, nil
}

// GetSample returns a sample with its audio, which may have up to Config.MaxAudio bytes.
func (c *Client) GetSample(ctx context.Context, id string) (Sample, error) {
	if err := checkID(sampleField, id); err != nil {
		return Sample{}, err
	}
	large := *c
	large.cfg.MaxAnswer = max(c.cfg.MaxAnswer, c.cfg.MaxAudio/3*4+sampleBytes) // because the audio is encoded in base64
	var reply struct {
		Data Sample `json:"data"`
	}
	if err := large.get(ctx, Path("v1", "speak", "samples", id), nil, &reply); err != nil {
		return Sample{}, err
	}
	return reply.Data, nil
}

// DeleteSample deletes a sample permanently, with its text and its audio. It returns the server's message.
func (c *Client) DeleteSample(ctx context.Context, id string) (message string, err error) {
	if err := checkID(sampleField, id); err != nil {
		return "", err
	}
	return c.deleted(ctx, Path("v1", "speak", "samples", id))
}

// deleted sends a DELETE request for the given path and returns the server's message.
func (c *Client) deleted(ctx context.Context, path string) (message string, err error) {
	var reply struct {
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	}
	if err := c.call(ctx, Request{Method: http.MethodDelete, Path: path}, &reply); err != nil {
		return "", err
	}
	return reply.Data.Message, nil
}

// sampleField is the Field of errors about a sample's id. sampleBytes is the maximum size of a sample's record without its audio.
const (
	sampleField = "sample_id"
	sampleBytes = 1 << 20
)

// SampleInfo returns a sample without its audio. The server sends the audio, which SampleInfo skips regardless of its size.
func (c *Client) SampleInfo(ctx context.Context, id string) (Sample, error) {
	if err := checkID(sampleField, id); err != nil {
		return Sample{}, err
	}
	r, err := c.request(ctx, Request{Path: Path("v1", "speak", "samples", id)})
	if err != nil {
		return Sample{}, err
	}
	resp, err := c.sendStream(r)
	if err != nil {
		return Sample{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	members := map[string]json.RawMessage{}
	from := &counted{Reader: resp.Body}
	err = jx.Decode(from, sampleBuffer).Obj(func(d *jx.Decoder, key string) error {
		if key != "data" {
			return d.Skip()
		}
		return readMembers(d, members)
	})
	if from.err != nil {
		return Sample{}, c.noAnswer(ctx, r, from.err)
	}
	var s Sample
	if err == nil {
		var record []byte
		if record, err = json.Marshal(members); err == nil {
			err = json.Unmarshal(record, &s)
		}
	}
	if err != nil || s.ID == "" {
		return Sample{}, unexpected(r).Because(err)
	}
	return s, nil
}

const sampleBuffer = 16 << 10

// readMembers reads the members of a sample except its audio. It returns an error if they exceed sampleBytes.
func readMembers(d *jx.Decoder, members map[string]json.RawMessage) error {
	size := 0
	return d.Obj(func(d *jx.Decoder, key string) error {
		if key == "audio_data" {
			return d.Skip()
		}
		raw, err := d.Raw()
		if size += len(raw); err == nil && size > sampleBytes {
			err = fmt.Errorf("a sample must have at most %d bytes without its audio", sampleBytes)
		}
		members[key] = slices.Clone(json.RawMessage(raw)) // the decoder reuses its buffer
		return err
	})
}
