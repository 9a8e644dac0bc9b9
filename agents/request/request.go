// Package request sends requests of conversations to other systems over HTTP. Variables are filled into a request, and set from its
// answer, within limits. Webhook nodes, tools and dynamic data use it.
//
// A Source is a request in the clients' form. Source.Parse checks it and returns a Call, whose Do sends it with a Client.
package request

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
)

// Client sends requests. adapters/webhook implements it; agentstest.RunRequests tests it.
type Client interface {
	// CheckURL returns CodeBadRequest, without a field, for a forbidden URL: it cannot be parsed, is not absolute, not http or
	// https, or has no host or a private address. It does not resolve names. The URL may contain {{variables}} in its path and
	// query.
	CheckURL(url string) error
	// Do sends a request and reads the answer. The URL, the header values and the body are sent unchanged, the body with its
	// Content-Length; a User-Agent is added, and no cookies. Do does not connect to private addresses, which it checks after
	// resolving names: including loopback, unspecified, link-local and IPv4-mapped ones. It does not follow redirects: an answer of
	// any status from 200 on is returned, with any bytes. CodeUnavailable: no connection, or no complete answer within r.Timeout;
	// the answer is truncated or not HTTP, has more than MaxAnswer bytes, decompressed, or an endless header, or switches protocols
	// (101). The message is human-readable, and contains neither the host nor any other part of the URL. Do returns an error when
	// ctx ends, and is safe for concurrent use.
	Do(ctx context.Context, r Request) (Response, error)
}

// The limits of a request.
const (
	MaxAnswer      = 1 << 20   // bytes of an answer
	MaxBody        = 256 << 10 // bytes of a request's body
	DefaultTimeout = 10 * time.Second
	LongestTimeout = 15 * time.Second // less than the 20 s of silence after which a conversation fails
)

// Request is a request with its variables filled in.
type Request struct {
	Org     callwright.OrgID
	Method  string
	URL     string
	Header  []Pair // values without line breaks
	Body    []byte
	Timeout time.Duration // from connecting to the last byte of the answer

	// Node is the id of the pathway's node that sends the request; empty: none. Place counts the requests of a turn from 0, in the
	// order of their logs, including concurrently called tools.
	Node  string
	Place int
}

// Response is an answer.
type Response struct {
	Status int
	Body   []byte
}

// Pair is a name and a value of a header or a query.
type Pair struct{ Name, Value string }

// Source is a request in the clients' form, with {{variables}} in its texts.
type Source struct {
	Method    string        // empty: GET
	URL       string        // variables only in the path and the query
	Headers   []Pair        // at most 32
	Query     []Pair        // at most 32
	Body      string        // variables in JSON are encoded as JSON
	Timeout   time.Duration // 0: DefaultTimeout; at most LongestTimeout counts
	Variables []Mapping     // variables to set from the answer, at most 32
}

// Mapping sets a variable from an answer.
type Mapping struct {
	Name    string // the variable's
	Path    string // JSONPath (RFC 9535) into the answer, for example $.user.id
	Context string // meaning of the variable, for the model; may contain {{variables}}
}

// Log records a request for the log of a conversation. It contains no values of headers and no query.
type Log struct {
	Name      string // of the node or the tool
	Method    string
	URL       string          // without its query
	Status    int             // 0: no answer
	Body      json.RawMessage // the beginning of the answer
	Duration  time.Duration
	Variables map[string]any // variables from the answer
	Error     string         // human-readable; empty: none
}
