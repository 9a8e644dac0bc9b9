package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/callwright/callwright/agents/llm"
)

// member is a member of chat requests that some services or models refuse, and that may be left out.
type member struct {
	name    string
	meaning *regexp.Regexp          // matches parameters and messages of errors that mean the member
	omit    func(*chatRequest) bool // leaves it out, and reports whether the request had it
}

var members = []member{
	{"stream_options", regexp.MustCompile(`(?i)stream_?options|include_usage`), func(r *chatRequest) bool {
		had := r.StreamOptions != nil
		r.StreamOptions = nil
		return had
	}},
	{"temperature", regexp.MustCompile(`(?i)temperature`), func(r *chatRequest) bool {
		had := r.Temperature != nil
		r.Temperature = nil
		return had
	}},
}

// refusals contains what the service has refused. A client does not request it again.
type refusals struct {
	mu      sync.Mutex
	members []string // names of members
	mode    bool     // whether it refused the JSON schema mode
	schemas map[string]bool
}

// maxSchemas is the maximum number of refused schemas that are remembered. All are forgotten when there are more.
const maxSchemas = 1000

// postChat sends a request for a chat completion without the members that the service refuses. If the service refuses another member that
// may be left out, it repeats the request. See post.
func (c *Client) postChat(ctx context.Context, body chatRequest) (*http.Response, error) {
	for {
		c.refused.apply(&body)
		response, err := c.postJSON(ctx, "/chat/completions", body)
		refused, ok := errors.AsType[*serviceError](err)
		if !ok || !c.refused.learn(&body, refused) {
			return response, err
		}
	}
}

// apply leaves out the members that were refused.
func (r *refusals) apply(body *chatRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range members {
		if slices.Contains(r.members, m.name) {
			m.omit(body)
		}
	}
}

// learn stores the member that an error refuses and leaves it out of the request. It returns false if the error refuses no member that the
// request has.
func (r *refusals) learn(body *chatRequest, err *serviceError) bool {
	if err.status != http.StatusBadRequest && err.status != http.StatusUnprocessableEntity {
		return false
	}
	about := err.param
	if about == "" {
		about = err.message
	}
	for _, m := range members {
		if m.meaning.MatchString(about) && m.omit(body) {
			r.mu.Lock()
			if !slices.Contains(r.members, m.name) {
				r.members = append(r.members, m.name)
			}
			r.mu.Unlock()
			return true
		}
	}
	return false
}

// allows reports whether the JSON schema mode may be requested with a schema.
func (r *refusals) allows(schema json.RawMessage) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(schema) > 0 && !r.mode && !r.schemas[string(schema)]
}

// store stores a refusal of the JSON schema mode, or only of a schema.
func (r *refusals) store(scope refused, schema json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch scope {
	case refusedMode:
		r.mode = true
	case refusedSchema:
		if r.schemas == nil || len(r.schemas) >= maxSchemas {
			r.schemas = map[string]bool{}
		}
		r.schemas[string(schema)] = true
	case refusedNothing, refusedAnswer:
	}
}

// refused is what an error means for the JSON schema mode.
type refused int

const (
	refusedNothing refused = iota
	refusedAnswer          // the model failed to write one answer in the mode
	refusedSchema          // the service cannot use the schema
	refusedMode            // the service or the model has no such mode, or refuses the request for an unknown reason
)

// refusedBy returns what an error of a request in the JSON schema mode refuses. Services report it in different ways, some without a reason.
func refusedBy(err *serviceError) refused {
	message := strings.ToLower(err.message)
	says := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(message, part) })
	}
	unprocessable := err.status == http.StatusBadRequest || err.status == http.StatusUnprocessableEntity
	switch {
	case err.code == "json_validate_failed" || says("failed to generate json", "failed_generation"):
		return refusedAnswer
	case (unprocessable || err.status == http.StatusInternalServerError) && says("invalid schema", "grammar", "is not permitted", "json schema", "json_schema is invalid"):
		return refusedSchema
	case unprocessable && classOf(err) == llm.ClassPermanent:
		return refusedMode
	default:
		return refusedNothing
	}
}
