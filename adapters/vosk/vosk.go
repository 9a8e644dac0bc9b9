// Package vosk recognizes speech with a Vosk server, a free program that runs beside this one (alphacep/vosk-server).
//
// The adapter was tested against a server made from the program's source, not against the program itself.
package vosk

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/speech/pcm"
)

const (
	defaultURL = "ws://127.0.0.1:2700"
	rate       = 16000
	// piece is the duration of the audio in one message. The server answers each message, and is slow with short ones.
	piece = 100 * time.Millisecond
)

// Config configures a Client. The zero Config is valid.
type Config struct {
	URL    string       // of the server, ws or wss; if empty, ws://127.0.0.1:2700
	Client *http.Client // if nil, http.DefaultClient
}

// Client recognizes speech. It implements conversation.Streamer and conversation.Recognizer. The language is that of the server's model.
type Client struct {
	url    *url.URL
	client *http.Client
}

var (
	_ conversation.Recognizer = (*Client)(nil)
	_ conversation.Streamer   = (*Client)(nil)
)

// New checks the configuration and returns a client. It sends no request. It returns CodeBadRequest for a URL that is none of a server.
func New(config Config) (*Client, error) {
	if config.URL == "" {
		config.URL = defaultURL
	}
	u, err := session.ParseURL(config.URL)
	if err != nil {
		return nil, err
	}
	return &Client{url: u, client: config.Client}, nil
}

// Listen recognizes one utterance in a session of its own.
func (c *Client) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	return session.Listen(ctx, h, c)
}

// Open starts a session. Its errors are those of session.Dial.
func (c *Client) Open(ctx context.Context, h conversation.Hearing) (conversation.Stream, error) {
	return session.Open(ctx, session.Endpoint{URL: c.url.String(), Client: c.client}, &protocol{}, h, session.Config{Rate: rate, Piece: piece},
		session.Text(`{"config":{"sample_rate":16000,"words":0,"max_alternatives":0}}`))
}

// protocol is the protocol of a session. The server answers each message with audio, and each reset, by exactly one message, in order.
type protocol struct {
	answers int   // number of answers so far
	asked   int   // number of messages that the server answers
	resets  []int // values of asked before each reset that has no answer
}

// Audio returns 16-bit samples.
func (p *protocol) Audio(dst []byte, samples []int16) session.Message {
	p.asked++
	return session.Message{Data: pcm.AppendBytes(dst, samples)}
}

// Force asks for the text of all audio so far.
func (p *protocol) Force() []session.Message {
	p.resets = append(p.resets, p.asked)
	p.asked++
	return []session.Message{session.Text(`{"reset" : 1}`)} // the server compares the text, including its spaces
}

// Tune returns nil: the server takes a list of phrases only before the first audio.
func (*protocol) Tune(conversation.Hearing) []session.Message { return nil }

// Idle returns nil, because the server does not close idle sessions.
func (*protocol) Idle() []session.Message { return nil }

// Receive parses an answer.
func (p *protocol) Receive(m session.Message) ([]session.Event, error) {
	var r struct {
		Partial string  `json:"partial"`
		Text    *string `json:"text"`
	}
	if !m.Text || json.Unmarshal(m.Data, &r) != nil {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "the Vosk server sent a message that is no answer")
	}
	e := session.Event{Text: r.Partial, Done: len(p.resets) > 0 && p.resets[0] == p.answers}
	if r.Text != nil {
		e.Text, e.Segment = *r.Text, true
	}
	if p.answers++; e.Done {
		p.resets, e.Segment = p.resets[1:], true
	}
	return []session.Event{e}, nil
}
