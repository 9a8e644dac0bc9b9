package chat

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright/agents/llm"
)

// Member is a member of requests that some services or models refuse, and that may be left out or replaced.
type Member[R any] struct {
	Name    string
	Meaning *regexp.Regexp // matches parameters and messages of errors that mean the member
	Omit    func(*R) bool  // leaves it out or replaces it, and reports whether the request had it
}

// Refusals contains what a model of a service has refused, so that it is not requested again. It is safe for concurrent use. R is the body
// of a request.
type Refusals[R any] struct {
	Members []Member[R] // in the order in which they are tried

	mu      sync.Mutex
	refused []string             // names of members
	mode    time.Time            // time until which the JSON schema mode counts as refused
	schemas map[string]time.Time // refused schemas, with the times until which they count as refused
}

const (
	maxSchemas   = 1000      // maximum number of refused schemas; the next one deletes all
	refusedWhile = time.Hour // how long a refusal of the JSON schema mode or of a schema counts
)

// Post sends a request without the members that were refused. If the service refuses another member that may be left out, Post repeats the
// request. post sends a request, and returns a *ServiceError for a refusal.
func (r *Refusals[R]) Post(body R, post func(R) (*http.Response, error)) (*http.Response, error) {
	for {
		r.apply(&body)
		response, err := post(body)
		refused, ok := errors.AsType[*ServiceError](err)
		if !ok || !r.learn(&body, refused) {
			return response, err
		}
	}
}

// apply leaves out the members that were refused.
func (r *Refusals[R]) apply(body *R) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.Members {
		if slices.Contains(r.refused, m.Name) {
			m.Omit(body)
		}
	}
}

// learn stores the member that an error refuses and leaves it out of the request. It returns false if the error refuses no member that the
// request has.
func (r *Refusals[R]) learn(body *R, err *ServiceError) bool {
	if err.Status != http.StatusBadRequest && err.Status != http.StatusUnprocessableEntity || classOf(err) == llm.ClassTooLong {
		return false
	}
	about := err.Param
	if about == "" {
		about = err.Message
	}
	for _, m := range r.Members {
		if m.Meaning.MatchString(about) && m.Omit(body) {
			r.Store(m.Name)
			return true
		}
	}
	return false
}

// Store stores the refusal of a member.
func (r *Refusals[R]) Store(member string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.refused, member) {
		r.refused = append(r.refused, member)
	}
}

// Answer answers a question with the schema in the JSON schema mode of the service. If the service refuses that mode or the schema, or the
// model fails in the mode, Answer asks again without it, and only the prompt describes the schema: see llm.Question.Prompt. It does not
// request a refused mode, or the mode with a refused schema, again for an hour. A refusal that does not name the mode concerns only its
// schema, because the schemas of one organization must not change the requests of others. ask returns a *ServiceError in its error's chain for a refusal.
func (r *Refusals[R]) Answer(schema json.RawMessage, ask func(strict bool) (llm.Answer, error)) (llm.Answer, error) {
	if !r.allows(schema) {
		return ask(false)
	}
	a, err := ask(true)
	broken, ok := errors.AsType[*ServiceError](err)
	if !ok {
		return a, err
	}
	scope := refusedBy(broken)
	if scope == refusedNothing {
		return a, err
	}
	if a, err = ask(false); err == nil {
		r.store(scope, schema)
	}
	return a, err
}

// allows reports whether the JSON schema mode may be requested with a schema.
func (r *Refusals[R]) allows(schema json.RawMessage) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	return len(schema) > 0 && !now.Before(r.mode) && !now.Before(r.schemas[string(schema)])
}

// store stores a refusal of the JSON schema mode, or only of a schema.
func (r *Refusals[R]) store(scope refused, schema json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	until := time.Now().Add(refusedWhile)
	switch scope {
	case refusedMode:
		r.mode = until
	case refusedSchema:
		if r.schemas == nil || len(r.schemas) >= maxSchemas {
			r.schemas = map[string]time.Time{}
		}
		r.schemas[string(schema)] = until
	case refusedNothing, refusedAnswer:
	}
}

// refused is what an error means for the JSON schema mode.
type refused int

const (
	refusedNothing refused = iota
	refusedAnswer          // the model failed to write one answer in the mode
	refusedSchema          // the service cannot use the schema, or refuses the request for an unknown reason
	refusedMode            // the service or the model has no such mode
)

// noMode matches the parameters and messages of services and models without the JSON schema mode.
var noMode = regexp.MustCompile(`(?is)(response_?format|json_schema|structured.outputs?|output_(config|format)|response_?(json_?)?schema).*` +
	`(not (yet )?supported|unsupported|not support|not available|unknown|unrecognized|unexpected|not permitted|extra inputs|must be)`)

// refusedBy returns what an error of a request in the JSON schema mode refuses. Services report it in different ways, some without a reason.
func refusedBy(err *ServiceError) refused {
	message := strings.ToLower(err.Message)
	says := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(message, part) })
	}
	unprocessable := err.Status == http.StatusBadRequest || err.Status == http.StatusUnprocessableEntity
	switch {
	case err.Code == "json_validate_failed" || says("failed to generate json", "failed_generation"):
		return refusedAnswer
	case (unprocessable || err.Status == http.StatusInternalServerError) && says("invalid schema", "grammar", "is not permitted", "json schema", "json_schema is invalid", "format.schema", "too many states"):
		return refusedSchema
	case unprocessable && noMode.MatchString(err.Param+" "+err.Message):
		return refusedMode
	case unprocessable && classOf(err) == llm.ClassPermanent:
		return refusedSchema
	default:
		return refusedNothing
	}
}
