// Package wyoming recognizes speech with servers of the Wyoming protocol, such as those of faster-whisper and whisper.cpp, which are free and
// run beside this program.
//
// The adapter was tested against a server made from the protocol's documentation, not against a program.
package wyoming

import (
	"context"
	"errors"
	"net"
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
	defaultURL   = "tcp://127.0.0.1:10300"
	rate         = 16000
	maxUtterance = 5 * time.Minute        // longer utterances are cut off
	piece        = 100 * time.Millisecond // of the audio in one event
)

// Config configures a Client. The zero Config is valid.
type Config struct {
	URL   string // of the server, tcp://HOST:PORT; if empty, tcp://127.0.0.1:10300
	Model string // name of a model; if empty, the server's default
	// Patience is the longest wait for the text of an utterance, because few servers report errors; 0 means 30 s.
	Patience time.Duration
}

const defaultPatience = 30 * time.Second

// Client recognizes speech. It implements conversation.Recognizer: an utterance is recognized when it has ended, over a connection of its
// own, because many servers close the connection after a text.
type Client struct {
	address string
	config  Config
}

var _ conversation.Recognizer = (*Client)(nil)

// New checks the configuration and returns a client. It sends no request. It returns CodeBadRequest for a URL that is none of a server.
func New(config Config) (*Client, error) {
	if config.URL == "" {
		config.URL = defaultURL
	}
	if config.Patience <= 0 {
		config.Patience = defaultPatience
	}
	u, err := url.Parse(config.URL)
	if err != nil || u.Scheme != "tcp" || u.Hostname() == "" || u.Port() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" {
		return nil, callwright.Invalid("url", "must be a URL of the form tcp://HOST:PORT")
	}
	return &Client{address: u.Host, config: config}, nil
}

// Listen starts an utterance. Its audio is sent when it finishes.
func (c *Client) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	if err := session.CheckRate(h.Rate); err != nil {
		return nil, err
	}
	return engine.Listen(ctx, h.Rate, engine.Ear{Rate: rate, Longest: maxUtterance, Recognize: func(ctx context.Context, audio []int16) (string, error) {
		if engine.Faint(audio) {
			return "", ctx.Err()
		}
		return c.recognize(ctx, audio, engine.Language(h.Language))
	}})
}

// recognize sends an utterance and returns its text.
func (c *Client) recognize(ctx context.Context, audio []int16, language string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, c.config.Patience)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(limited, "tcp", c.address)
	if err != nil {
		return "", failure(ctx, limited, "the Wyoming server cannot be reached", err)
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(limited, func() { _ = conn.Close() })
	defer stop()
	text, err := newWire(conn).transcribe(audio, c.config.Model, language)
	if err != nil {
		return "", failure(ctx, limited, "the Wyoming server has ended the connection", err)
	}
	return engine.WithoutMarks(text), nil
}

// failure returns the error of ctx if it has ended, and otherwise an error with CodeUnavailable.
func failure(ctx, limited context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if own, ok := errors.AsType[*callwright.Error](err); ok {
		return own
	}
	if limited.Err() != nil {
		return callwright.Errorf(callwright.CodeUnavailable, "the Wyoming server returned no text in time")
	}
	return callwright.Errorf(callwright.CodeUnavailable, "%s: %w", what, err)
}

// format describes the audio of the client.
type format struct {
	Rate     int `json:"rate"`
	Width    int `json:"width"` // bytes of a sample
	Channels int `json:"channels"`
}

// request asks for the text of the following audio.
type request struct {
	Name     string `json:"name,omitempty"`
	Language string `json:"language,omitempty"`
}

// transcribe sends the audio of an utterance and returns its text.
func (w *wire) transcribe(audio []int16, model, language string) (string, error) {
	sent := format{Rate: rate, Width: 2, Channels: 1}
	w.write("transcribe", request{Name: model, Language: language}, nil)
	w.write("audio-start", sent, nil)
	size := pcm.Samples(piece, rate)
	var payload []byte
	for from := 0; from < len(audio); from += size {
		payload = pcm.AppendBytes(payload[:0], audio[from:min(from+size, len(audio))])
		w.write("audio-chunk", sent, payload)
	}
	w.write("audio-stop", struct{}{}, nil)
	if err := w.flush(); err != nil {
		return "", err
	}
	for {
		e, err := w.read()
		if err != nil {
			return "", err
		}
		switch e.Type {
		case "transcript":
			return e.text()
		case "error":
			return "", callwright.Errorf(callwright.CodeUnavailable, "the Wyoming server could not recognize an utterance")
		}
	}
}
