// Package deepgram recognizes speech with Deepgram's streaming services: listen v1 (models of the nova family) and listen v2 (models of the
// flux family, which also judge whether the caller has finished speaking).
//
// The adapter was tested against servers made from the service's published messages, not against the service itself.
package deepgram

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/internal/engine/session"
)

const (
	defaultBaseURL = "wss://api.deepgram.com"
	defaultModel   = "nova-3"
	flux           = "flux"
	rate           = 8000 // of the mu-law that is sent
)

// Config configures a Client. The zero Config is valid, but the service requires a key.
type Config struct {
	BaseURL string            // a ws, wss, http or https URL without a path; if empty, wss://api.deepgram.com
	APIKey  callwright.Secret // if empty, requests carry none
	Model   string            // for example nova-3 or flux-general-en; if empty, nova-3

	Client *http.Client // if nil, http.DefaultClient
}

// Client recognizes speech. It implements conversation.Streamer and conversation.Recognizer.
type Client struct {
	config Config // without its APIKey
	base   *url.URL
	key    func() string
	quiet  *atomic.Bool // whether the service has refused ForceEndTurn
}

var (
	_ conversation.Recognizer  = (*Client)(nil)
	_ conversation.Streamer    = (*Client)(nil)
	_ conversation.KeywordUser = (*Client)(nil)
)

// New checks the configuration and returns a client. It sends no request. It returns CodeBadRequest for a base URL that is no URL of a
// server.
func New(config Config) (*Client, error) {
	if config.BaseURL == "" {
		config.BaseURL = defaultBaseURL
	}
	if config.Model == "" {
		config.Model = defaultModel
	}
	base, err := session.ParseURL(config.BaseURL)
	if err != nil {
		return nil, err
	}
	key := session.Key(config.APIKey)
	config.APIKey = ""
	return &Client{config: config, base: base, key: key, quiet: new(atomic.Bool)}, nil
}

// UsesKeywords returns true: keywords are sent as keyterms.
func (*Client) UsesKeywords() bool { return true }

// Listen recognizes one utterance in a session of its own.
func (c *Client) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	return session.Listen(ctx, h, c)
}

// Open starts a session. Its errors are those of session.Dial.
func (c *Client) Open(ctx context.Context, h conversation.Hearing) (conversation.Stream, error) {
	header := http.Header{}
	if key := c.key(); key != "" {
		header.Set("Authorization", "Token "+key)
	}
	to := session.Endpoint{URL: c.address(h), Header: header, Client: c.config.Client}
	if c.isFlux() {
		return session.Open(ctx, to, &turns{quiet: c.quiet}, h, session.Config{Rate: rate, Piece: fluxPiece, Idle: idle, Settle: settle})
	}
	return session.Open(ctx, to, &segments{}, h, session.Config{Rate: rate, Idle: idle, Settle: settle})
}

const (
	fluxPiece = 80 * time.Millisecond // the advised duration of the audio in one message
	idle      = 4 * time.Second       // the service closes a session of v1 after 10 s without a message
	settle    = time.Second           // the service does not answer the end of an utterance in which it has heard nothing
)

func (c *Client) isFlux() bool { return strings.HasPrefix(c.config.Model, flux) }

// maxKeyterms is the maximum number of keyterms that are sent.
const maxKeyterms = 100

// address returns the URL of a session.
func (c *Client) address(h conversation.Hearing) string {
	q := url.Values{"model": {c.config.Model}, "encoding": {"mulaw"}, "sample_rate": {strconv.Itoa(rate)}}
	path := "v1/listen"
	if c.isFlux() {
		path = "v2/listen"
		if h.Language != "" && strings.Contains(c.config.Model, "multi") {
			q.Set("language_hint", engine.Language(h.Language))
		}
	} else {
		q.Set("channels", "1")
		q.Set("interim_results", "true")
		q.Set("smart_format", "true")
		q.Set("endpointing", "false")
		if h.Language != "" {
			q.Set("language", h.Language)
		}
	}
	for _, k := range h.Keywords[:min(len(h.Keywords), maxKeyterms)] {
		q.Add("keyterm", k)
	}
	u := c.base.JoinPath(path)
	u.RawQuery = q.Encode()
	return u.String()
}
