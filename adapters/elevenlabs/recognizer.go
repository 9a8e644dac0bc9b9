// Package elevenlabs recognizes speech with ElevenLabs' realtime transcription (Scribe), and synthesizes speech with its streamed voices
// (text-to-speech multi-stream-input).
//
// A call has one connection to a voice, and each answer a context, so that an answer has one intonation and an interruption does not cost the
// connection. The alignments of the service are the marks of the words.
//
// The adapter was tested against servers made from the service's published messages, not against the service itself.
package elevenlabs

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/speech/pcm"
)

const (
	defaultBaseURL    = "wss://api.elevenlabs.io"
	defaultRecognizer = "scribe_v2_realtime"
	rate              = 8000 // of the mu-law that is sent
)

// RecognizerConfig configures a Recognizer. The zero RecognizerConfig is valid, but the service requires a key.
type RecognizerConfig struct {
	BaseURL string            // a ws, wss, http or https URL without a path; if empty, wss://api.elevenlabs.io
	APIKey  callwright.Secret // if empty, requests carry none
	Model   string            // if empty, scribe_v2_realtime

	Client *http.Client // if nil, http.DefaultClient
}

// Recognizer recognizes speech. It implements conversation.Streamer and conversation.Recognizer.
type Recognizer struct {
	config RecognizerConfig // without its APIKey
	base   *url.URL
	key    func() string
}

var (
	_ conversation.Recognizer  = (*Recognizer)(nil)
	_ conversation.Streamer    = (*Recognizer)(nil)
	_ conversation.KeywordUser = (*Recognizer)(nil)
)

// NewRecognizer checks the configuration and returns a recognizer. It sends no request. It returns CodeBadRequest for a base URL that is no
// URL of a server.
func NewRecognizer(config RecognizerConfig) (*Recognizer, error) {
	if config.BaseURL == "" {
		config.BaseURL = defaultBaseURL
	}
	if config.Model == "" {
		config.Model = defaultRecognizer
	}
	base, err := session.ParseURL(config.BaseURL)
	if err != nil {
		return nil, err
	}
	key := session.Key(config.APIKey)
	config.APIKey = ""
	return &Recognizer{config: config, base: base, key: key}, nil
}

// UsesKeywords returns true: keywords are sent as keyterms.
func (*Recognizer) UsesKeywords() bool { return true }

// Listen recognizes one utterance in a session of its own.
func (r *Recognizer) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	return session.Listen(ctx, h, r)
}

// Open starts a session. Its errors are those of session.Dial.
func (r *Recognizer) Open(ctx context.Context, h conversation.Hearing) (conversation.Stream, error) {
	header := http.Header{}
	if key := r.key(); key != "" {
		header.Set("Xi-Api-Key", key)
	}
	to := session.Endpoint{URL: r.address(h), Header: header, Client: r.config.Client}
	return session.Open(ctx, to, &scribe{}, h, session.Config{Rate: rate, Piece: 100 * time.Millisecond, Idle: idle})
}

// idle is the time without audio after which silence is sent. The service does not publish when it closes an idle session.
const idle = 5 * time.Second

// The service's limits for keyterms: their number and their length in bytes, which is at least the length in letters.
const (
	maxKeyterms = 50
	maxKeyterm  = 20
)

// address returns the URL of a session.
func (r *Recognizer) address(h conversation.Hearing) string {
	q := url.Values{"model_id": {r.config.Model}, "audio_format": {"ulaw_8000"}, "commit_strategy": {"manual"}}
	if language := engine.Language(h.Language); language != "" {
		q.Set("language_code", language)
	}
	for _, k := range h.Keywords {
		if k = strings.TrimSpace(k); k != "" && len(k) <= maxKeyterm && len(q["keyterms"]) < maxKeyterms {
			q.Add("keyterms", k)
		}
	}
	u := r.base.JoinPath("v1/speech-to-text/realtime")
	u.RawQuery = q.Encode()
	return u.String()
}

// scribe is the protocol of a session whose audio the client commits. The service answers each commit, in order.
type scribe struct {
	commits     int // without an answer
	uncommitted int // number of samples since the last commit
	mulaw       []byte
}

// leastCommit is the least audio that may be committed, in samples: 0.3 s. The service refuses less and ends the session.
const leastCommit = rate * 3 / 10

// Audio returns mu-law in base64.
func (s *scribe) Audio(dst []byte, samples []int16) session.Message {
	s.uncommitted += len(samples)
	return s.chunk(dst, samples, false)
}

// chunk returns a message with audio.
func (s *scribe) chunk(dst []byte, samples []int16, commit bool) session.Message {
	s.mulaw = pcm.AppendMuLaw(s.mulaw[:0], samples)
	dst = append(dst, `{"message_type":"input_audio_chunk","sample_rate":8000,"audio_base_64":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, s.mulaw)
	if commit {
		return session.Message{Text: true, Data: append(dst, `","commit":true}`...)}
	}
	return session.Message{Text: true, Data: append(dst, `","commit":false}`...)}
}

// Force commits the audio, with silence if it is too short.
func (s *scribe) Force() []session.Message {
	silence := make([]int16, max(0, leastCommit-s.uncommitted))
	s.uncommitted = 0
	s.commits++
	return []session.Message{s.chunk(nil, silence, true)}
}

// Tune returns nil, because keyterms belong to the session.
func (*scribe) Tune(conversation.Hearing) []session.Message { return nil }

// Idle returns 20 ms of silence, because the protocol has no other message that keeps a session alive.
func (s *scribe) Idle() []session.Message {
	s.uncommitted += rate / 50
	return []session.Message{s.chunk(nil, make([]int16, rate/50), false)}
}

// Receive parses a message of the service.
func (s *scribe) Receive(m session.Message) ([]session.Event, error) {
	var r struct {
		Type string `json:"message_type"`
		Text string `json:"text"`
	}
	if !m.Text || json.Unmarshal(m.Data, &r) != nil {
		return nil, nil //nolint:nilerr // unknown messages are no error
	}
	switch r.Type {
	case "partial_transcript":
		return []session.Event{{Text: r.Text}}, nil
	case "committed_transcript":
		return s.answered(session.Event{Text: r.Text, Segment: true, Done: true}), nil
	case "commit_throttled":
		return s.answered(session.Event{Done: true}), nil
	default:
		return nil, failures[r.Type]
	}
}

// answered returns the event if there is a commit without an answer.
func (s *scribe) answered(e session.Event) []session.Event {
	if s.commits == 0 {
		return nil
	}
	s.commits--
	return []session.Event{e}
}

// failures contains the errors for the messages that end a session. They do not contain the service's text, which can quote the request.
var failures = func() map[string]error {
	errs := map[string]error{}
	for kind, reason := range map[string]string{
		"auth_error": "refuses the key", "unaccepted_terms": "requires that its terms are accepted",
		"quota_exceeded": "refuses the account, whose quota is used up", "session_time_limit_exceeded": "limits the time of a session",
		"invalid_request": "refuses the model or a setting", "input_error": "refuses the audio", "chunk_size_exceeded": "refuses the audio",
		"error": failed, "transcriber_error": failed, "queue_overflow": failed, "resource_exhausted": failed, "insufficient_audio_activity": failed,
	} {
		errs[kind] = callwright.Errorf(callwright.CodeUnavailable, "the speech service %s", reason)
	}
	errs["rate_limited"] = callwright.Errorf(callwright.CodeTooManyRequests, "the speech service limits the number of requests")
	return errs
}()

const failed = "ended the session with an error"
