// Package assemblyai recognizes speech with version 3 of AssemblyAI's streaming service, which also judges whether the caller has finished
// speaking.
//
// The adapter was tested against a server made from the service's published messages, not against the service itself.
package assemblyai

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
)

const (
	defaultBaseURL = "wss://streaming.assemblyai.com"
	defaultModel   = "universal-streaming-english"
	rate           = 8000 // of the mu-law that is sent
)

// Config configures a Client. The zero Config is valid, but the service requires a key.
type Config struct {
	BaseURL string            // a ws, wss, http or https URL without a path; if empty, wss://streaming.assemblyai.com
	APIKey  callwright.Secret // if empty, requests carry none
	Model   string            // for example universal-streaming-multilingual or u3-rt-pro; if empty, universal-streaming-english

	Client *http.Client // if nil, http.DefaultClient
}

// Client recognizes speech. It implements conversation.Streamer and conversation.Recognizer. The language is that of the model.
type Client struct {
	vendor *session.Vendor
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
	return &Client{vendor: vendor}, nil
}

// UsesKeywords returns true: keywords are sent as keyterms.
func (*Client) UsesKeywords() bool { return true }

// Listen recognizes one utterance in a session of its own.
func (c *Client) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	return session.Listen(ctx, h, c)
}

// Open starts a session. Its errors are those of session.Dial.
func (c *Client) Open(ctx context.Context, h conversation.Hearing) (conversation.Stream, error) {
	q := url.Values{"speech_model": {c.vendor.Model}, "encoding": {"pcm_mulaw"}, "sample_rate": {strconv.Itoa(rate)}}
	if terms := keyterms(h); len(terms) > 0 {
		data, err := json.Marshal(terms)
		if err != nil {
			return nil, err
		}
		q.Set("keyterms_prompt", string(data))
	}
	return session.Open(ctx, c.vendor.Endpoint("v3/ws", q, "Authorization", ""), &turns{}, h,
		session.Config{Rate: rate, Piece: piece, Least: least, Idle: idle, Settle: settle})
}

const (
	piece  = 60 * time.Millisecond // of the audio in one message
	least  = 50 * time.Millisecond // the service refuses shorter audio in a message, and ends the session
	idle   = 4 * time.Second       // sessions may have a limit of inactivity, which is at least 5 s
	settle = time.Second           // the service does not answer the end of an utterance in which it has heard nothing
)

// The service's limits for keyterms: their number, and their length in bytes, which is at least the length in letters.
const (
	maxKeyterms = 100
	maxKeyterm  = 50
)

// keyterms returns the keywords that the service accepts.
func keyterms(h conversation.Hearing) (terms []string) {
	for _, k := range h.Keywords {
		if k = strings.ToValidUTF8(strings.TrimSpace(k), ""); k != "" && len(k) <= maxKeyterm && len(terms) < maxKeyterms {
			terms = append(terms, k)
		}
	}
	return terms
}
