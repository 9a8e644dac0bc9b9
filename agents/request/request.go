// Package request sends the HTTP requests of conversations to other systems. It fills variables into a request, and sets variables from the
// response, within limits. Webhook nodes, tools and dynamic data use it.
//
// A Source is a request as API clients write it. Source.Parse checks it and returns a Call, whose Do sends it with a Client.
package request

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
)

// Client sends requests. adapters/webhook implements it. agentstest.RunRequests tests implementations.
type Client interface {
	// CheckURL returns CodeBadRequest, without a field, for a forbidden URL: a URL that cannot be parsed or is not absolute, a scheme other
	// than http and https, no host, or a private address. An implementation may refuse further URLs, and may be configured to permit
	// private addresses. CheckURL does not resolve names. The URL may contain {{variables}} in its path and query.
	CheckURL(url string) error
	// Do sends a request and reads the response. It sends the URL, the header values and the body unchanged, and adds Content-Length and
	// User-Agent, but no cookies. Unless private addresses are permitted, it does not connect to them, including loopback, unspecified,
	// link-local and IPv4-mapped ones, which it checks after resolving names. It does not follow redirects: a response with any status from
	// 200 on is returned, with any bytes.
	//
	// Do returns CodeUnavailable if it cannot connect, or if no complete response arrives within r.Timeout. It also returns CodeUnavailable
	// if the response is truncated or not HTTP, exceeds MaxAnswer bytes after decompression, has an endless header, or switches protocols
	// (101). The message is human-readable, and contains neither the host nor any other part of the URL. Do returns an error when ctx is
	// done. It is safe for concurrent use.
	Do(ctx context.Context, r Request) (Response, error)
}

// These constants limit a request and its response.
const (
	MaxAnswer      = 1 << 20   // bytes of a response
	MaxBody        = 256 << 10 // bytes of a request's body
	DefaultTimeout = 10 * time.Second
	LongestTimeout = 15 * time.Second // less than the 20 s of silence after which a conversation fails
)

// Request is a request whose variables are filled in.
type Request struct {
	Org     callwright.OrgID
	Method  string
	URL     string
	Header  []Pair // values contain no line breaks
	Body    []byte
	Timeout time.Duration // from connecting to the last byte of the response

	// Node is the id of the pathway's node that sends the request, or empty if none does. Place counts the requests of a turn from 0 in the
	// order of their logs, including concurrently called tools.
	Node  string
	Place int
}

// Response is the HTTP response to a Request. Its Status is 200 or higher.
type Response struct {
	Status int
	Body   []byte
}

// Pair is a header field or a query parameter.
type Pair struct{ Name, Value string }

// Source is a request as API clients write it, with {{variables}} in its texts.
type Source struct {
	Method    string        // empty means GET
	URL       string        // may contain variables only in the path and the query
	Headers   []Pair        // at most 32
	Query     []Pair        // at most 32
	Body      string        // variables in JSON are encoded as JSON
	Timeout   time.Duration // 0 means DefaultTimeout; more than LongestTimeout counts as LongestTimeout
	Variables []Mapping     // variables to set from the response, at most 32
}

// Mapping sets a variable from a response.
type Mapping struct {
	Name    string // of the variable
	Path    string // JSONPath (RFC 9535) into the response, for example $.user.id
	Context string // meaning of the variable, for the model; may contain {{variables}}
}

// Log describes a request in the log of a conversation. It contains neither header values nor the query.
type Log struct {
	Name      string // name of the node or the tool, or of the dynamic data, such as "dynamic_data[0]"
	Method    string
	URL       string          // without its query
	Status    int             // 0 means no response
	Body      json.RawMessage // the response if it is short JSON; otherwise its beginning as a JSON string
	Duration  time.Duration
	Variables map[string]any // variables set from the response
	Error     string         // human-readable; empty means no error
}
