// Package cartesia recognizes speech with Cartesia's recognition of turns, which judges when the caller has finished speaking, and synthesizes
// speech with its streamed voices.
//
// A call has one connection to a voice, and each answer a context, so that an answer has one intonation and an interruption does not cost the
// connection. The timestamps of the service are the marks of the words.
//
// The adapter was tested against servers made from the service's published messages, not against the service itself.
package cartesia

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/speech/pcm"
)

const (
	defaultBaseURL    = "wss://api.cartesia.ai"
	defaultRecognizer = "ink-2"
	version           = "2026-08-14" // of the service's interface
	rate              = 8000         // of the mu-law that is sent
)

// RecognizerConfig configures a Recognizer. The zero RecognizerConfig is valid, but the service requires a key.
type RecognizerConfig struct {
	BaseURL string            // a ws, wss, http or https URL without a path; if empty, wss://api.cartesia.ai
	APIKey  callwright.Secret // if empty, requests carry none
	Model   string            // if empty, ink-2

	Client *http.Client // if nil, http.DefaultClient
}

// Recognizer recognizes speech. It implements conversation.Streamer and conversation.Recognizer. The language is that of the model.
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
	header := http.Header{"Cartesia-Version": {version}}
	if key := r.key(); key != "" {
		header.Set("X-Api-Key", key)
	}
	q := url.Values{"model": {r.config.Model}, "encoding": {"pcm_mulaw"}, "sample_rate": {strconv.Itoa(rate)}}
	letters := 0
	for _, k := range h.Keywords {
		if k = strings.TrimSpace(k); k != "" && letters+len(k) <= maxLetters && len(q["keyterm"]) < maxKeyterms {
			letters += len(k)
			q.Add("keyterm", k)
		}
	}
	u := r.base.JoinPath("stt/turns/websocket")
	u.RawQuery = q.Encode()
	return session.Open(ctx, session.Endpoint{URL: u.String(), Header: header, Client: r.config.Client}, &turns{}, h,
		session.Config{Rate: rate, Piece: piece, Idle: idle, Settle: settle, Serial: true})
}

const (
	piece  = 100 * time.Millisecond // the advised duration of the audio in one message
	idle   = 4 * time.Second        // the service closes idle sessions
	settle = time.Second            // the service does not report a pause in which it has heard nothing
)

// The service's limits for keyterms: their number, and the length of all of them in bytes, which is at least the length in letters.
const (
	maxKeyterms = 100
	maxLetters  = 1200
)

// turns is the protocol of a session. Several turns may belong to an utterance. The service never revises words.
type turns struct {
	open bool   // whether a turn has begun and has not ended
	text string // of the turn so far
}

// Audio returns mu-law.
func (*turns) Audio(dst []byte, samples []int16) session.Message {
	return session.Message{Data: pcm.AppendMuLaw(dst, samples)}
}

// Silence in mu-law: 20 ms, and a pause after which the service judges that a turn is over.
var (
	silence = pcm.AppendMuLaw(nil, make([]int16, rate/50))
	pause   = pcm.AppendMuLaw(nil, make([]int16, rate))
)

// Force sends silence, because the protocol has no message that ends a turn.
func (*turns) Force() []session.Message { return []session.Message{{Data: pause}} }

// Tune returns nil, because keyterms belong to the session.
func (*turns) Tune(conversation.Hearing) []session.Message { return nil }

// Idle returns silence, because the protocol has no message that keeps a session alive.
func (*turns) Idle() []session.Message { return []session.Message{{Data: silence}} }

// Probabilities for the service's judgments, which it does not express as numbers.
const (
	perhapsOver = 0.6
	surelyOver  = 0.9
)

// Receive parses a message of the service.
func (t *turns) Receive(m session.Message) ([]session.Event, error) {
	var r struct {
		Type       string `json:"type"`
		Transcript string `json:"transcript"`
	}
	if !m.Text || json.Unmarshal(m.Data, &r) != nil {
		return nil, nil //nolint:nilerr // unknown messages are no error
	}
	switch r.Type {
	case "error":
		return nil, errService
	case "turn.start":
		t.open, t.text = true, ""
		return nil, nil
	case "turn.resume":
		return t.event(0), nil
	case "turn.update":
		return t.hear(r.Transcript, 0), nil
	case "turn.eager_end":
		return t.hear(r.Transcript, perhapsOver), nil
	case "turn.end":
		if !t.open && r.Transcript == t.text {
			return nil, nil // for the second time
		}
		t.open = true
		e := t.hear(r.Transcript, surelyOver)
		e[0].Segment, e[0].Over, e[0].Done = true, true, true
		t.open = false
		return e, nil
	default:
		return nil, nil
	}
}

// hear sets the text of the turn, and returns its event.
func (t *turns) hear(text string, endOfTurn float64) []session.Event {
	if t.open {
		t.text = text
	}
	return t.event(endOfTurn)
}

// event returns the event for the turn so far, or none if no turn has begun.
func (t *turns) event(endOfTurn float64) []session.Event {
	if !t.open {
		return nil
	}
	return []session.Event{{Text: t.text, Stable: len(strings.Fields(t.text)), EndOfTurn: endOfTurn}}
}

// errService reports an error message of the service, without its text, which can quote the request.
var errService = callwright.Errorf(callwright.CodeUnavailable, "the speech service ended the session with an error")
