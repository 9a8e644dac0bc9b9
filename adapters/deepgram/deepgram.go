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
	vendor *session.Vendor
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
	vendor, err := session.NewVendor(session.VendorConfig(config), defaultBaseURL, defaultModel)
	if err != nil {
		return nil, err
	}
	return &Client{vendor: vendor, quiet: new(atomic.Bool)}, nil
}

// UsesKeywords returns true: keywords are sent as keyterms.
func (*Client) UsesKeywords() bool { return true }

// Listen recognizes one utterance in a session of its own.
func (c *Client) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	return session.Listen(ctx, h, c)
}

// Open starts a session. Its errors are those of session.Dial.
func (c *Client) Open(ctx context.Context, h conversation.Hearing) (conversation.Stream, error) {
	to := c.endpoint(h)
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

func (c *Client) isFlux() bool { return strings.HasPrefix(c.vendor.Model, flux) }

// maxKeyterms is the maximum number of keyterms that are sent.
const maxKeyterms = 100

// endpoint returns the endpoint of a session.
func (c *Client) endpoint(h conversation.Hearing) session.Endpoint {
	q := url.Values{"model": {c.vendor.Model}, "encoding": {"mulaw"}, "sample_rate": {strconv.Itoa(rate)}}
	path := "v1/listen"
	if c.isFlux() {
		path = "v2/listen"
		if h.Language != "" && strings.Contains(c.vendor.Model, "multi") {
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
	for _, k := range keyterms(h) {
		q.Add("keyterm", k)
	}
	return c.vendor.Endpoint(path, q, "Authorization", "Token ")
}

// keyterms returns the keywords that are sent.
func keyterms(h conversation.Hearing) (terms []string) {
	for _, k := range h.Keywords {
		if k = strings.TrimSpace(k); k != "" && len(terms) < maxKeyterms {
			terms = append(terms, k)
		}
	}
	return terms
}
