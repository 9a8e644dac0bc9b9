// Package request is what a conversation asks of other systems over HTTP: requests with variables in them, limits on
// what comes back, and variables taken from the answer. Webhook nodes, tools and dynamic data are all made of it.
package request

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
)

// Client sends requests; adapters/webhook has it.
type Client interface {
	// CheckURL refuses an address to which nothing may be sent; CodeBadRequest without a field. Names are not resolved.
	CheckURL(url string) error
	// Do sends a request and reads the answer. It goes to no private address, checked when the connection is made, and
	// follows no redirect: an answer 3xx is an answer. An answer with more than MaxAnswer bytes, none within the
	// request's Timeout, and no connection are CodeUnavailable; the message is for people and names no address. It ends
	// when ctx ends.
	Do(ctx context.Context, r Request) (Response, error)
}

// Bounds of every request.
const (
	MaxAnswer      = 1 << 20 // bytes
	MaxBody        = 64 << 10
	DefaultTimeout = 10 * time.Second
	LongestTimeout = 15 * time.Second // a caller who hears nothing for 20 s is taken for lost
)

// Request is one request with its variables filled in.
type Request struct {
	Org     callwright.OrgID
	Method  string
	URL     string
	Header  []Pair // no line breaks
	Body    []byte
	Timeout time.Duration // from the connection to the last byte of the answer
}

// Response is what came back.
type Response struct {
	Status int
	Body   []byte
}

// Pair is a name and a value, of a header, a query or a form of a body.
type Pair struct{ Name, Value string }

// Source is a request as clients write it, with {{variables}} in its texts.
type Source struct {
	Method    string // empty: GET
	URL       string // no variable in what comes before the path
	Headers   []Pair
	Query     []Pair
	Body      string        // text; of JSON, variables are written as JSON wants them
	Timeout   time.Duration // 0: DefaultTimeout
	Variables []Mapping     // from the answer
}

// Mapping takes a value from an answer.
type Mapping struct {
	Name    string // of the variable
	Path    string // JSONPath (RFC 9535) into the answer, such as $.user.id
	Context string // what the value means, for the model; may hold {{variables}}
}

// Log is a request that was made, for the log of a conversation. It holds no header's value and no query.
type Log struct {
	Name      string // of the node or the tool
	Method    string
	URL       string // without query
	Status    int    // 0 without an answer
	Body      json.RawMessage
	Took      time.Duration
	Variables map[string]any // that the answer gave
	Error     string         // for people; empty when all went well
}
