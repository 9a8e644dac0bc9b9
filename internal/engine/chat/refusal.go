package chat

import (
	"encoding/json"
	"errors"
	"maps"
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

// Refusals contains what a model of a service has refused, so that it is not requested again for an hour. It is safe for concurrent use. R is
// the body of a request.
type Refusals[R any] struct {
	Members []Member[R] // in the order in which they are tried

	mu      sync.Mutex
	refused map[string]time.Time // names of refused members, with the times until which they count as refused
	mode    time.Time            // time until which the JSON schema mode counts as refused
	schemas map[string]time.Time // refused schemas, with the times until which they count as refused
}

const (
	maxSchemas   = 1000      // maximum number of refused schemas; the next one replaces the oldest
	refusedWhile = time.Hour // how long a refusal counts
)

// Post sends a request without the members that were refused. If the service refuses another member that may be left out, Post repeats the
// request. It stores the refusals only if a repeated request succeeds, because a request that one organization has made invalid must not
// change the requests of others. post sends a request, and returns a *ServiceError for a refusal.
func (r *Refusals[R]) Post(body R, post func(R) (*http.Response, error)) (*http.Response, error) {
	r.apply(&body)
	var omitted []string
	for {
		response, err := post(body)
		if err == nil {
			r.Store(omitted...)
			return response, nil
		}
		refused, ok := errors.AsType[*ServiceError](err)
		if !ok {
			return response, err
		}
		name := r.omit(&body, refused)
		if name == "" {
			return response, err
		}
		omitted = append(omitted, name)
	}
}

// apply leaves out the members that were refused.
func (r *Refusals[R]) apply(body *R) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for _, m := range r.Members {
		if now.Before(r.refused[m.Name]) {
			m.Omit(body)
		}
	}
}

// omit leaves out of the request the member that an error refuses, and returns the member's name. It returns "" if the error refuses no
// member of the request.
func (r *Refusals[R]) omit(body *R, err *ServiceError) string {
	if err.Status != http.StatusBadRequest && err.Status != http.StatusUnprocessableEntity || classOf(err) == llm.ClassTooLong ||
		quotesSchema.MatchString(err.Param+" "+err.Message) {
		return ""
	}
	for _, m := range r.Members {
		if m.meant(err) && m.Omit(body) {
			return m.Name
		}
	}
	return ""
}

// quotesSchema matches the parameters and messages of errors that quote a schema of a tool or an answer, whose names an organization chooses.
var quotesSchema = regexp.MustCompile("(?i)schema|function_?declarations|\\btools?(\\.\\w|\\[)|\\bparameters(\\.\\w|\\[)|properties['\"`]?[.\\[/,]")

// meant reports whether an error means the member: its parameter, or a word of its message if the service names no parameter.
func (m Member[R]) meant(err *ServiceError) bool {
	if err.Param != "" {
		return m.Meaning.MatchString(err.Param)
	}
	return slices.ContainsFunc(words.FindAllString(err.Message, -1), func(word string) bool {
		return m.Meaning.MatchString(word) && around.MatchString(m.Meaning.ReplaceAllString(word, ""))
	})
}

var (
	// words matches the words and the paths of members in a message.
	words = regexp.MustCompile(`[\w.\[\]-]+`)
	// around matches the rest of a path around the name of a member, such as "generation_config." before "temperature". Other names, such as
	// "room_temperature", contain the name of a member by accident.
	around = regexp.MustCompile(`(?i)^(generatecontentrequest|generation|output|config|system|body|level|type|\d|\W|_)*$`)
)

// Store stores the refusals of members.
func (r *Refusals[R]) Store(members ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil {
		r.refused = map[string]time.Time{}
	}
	for _, name := range members {
		r.refused[name] = time.Now().Add(refusedWhile)
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
		if r.schemas == nil {
			r.schemas = map[string]time.Time{}
		}
		r.schemas[string(schema)] = until
		if len(r.schemas) > maxSchemas {
			delete(r.schemas, r.oldest())
		}
	case refusedNothing, refusedAnswer:
	}
}

// oldest returns the schema whose refusal expires first.
func (r *Refusals[R]) oldest() string {
	return slices.MinFunc(slices.Collect(maps.Keys(r.schemas)), func(a, b string) int { return r.schemas[a].Compare(r.schemas[b]) })
}

// refused is what an error means for the JSON schema mode.
type refused int

const (
	refusedNothing refused = iota
	refusedAnswer          // the model failed to write one answer in the mode
	refusedSchema          // the service cannot use the schema, or refuses the request for an unknown reason
	refusedMode            // the service or the model has no such mode
)

// modeName matches the names of the JSON schema mode and of the members that request it.
const modeName = `(response[_ ]?format(\.type)?|json_schema|structured.outputs?|output_(config|format)(\.format)?(\.type)?|response_?(json_?)?schema|response_?mime_?type)`

// noMode matches the parameters and messages of services and models without the JSON schema mode. Between a name of the mode and the refusal,
// it permits no other names, because an organization can choose them.
var noMode = regexp.MustCompile(`(?i)\b` + modeName + `\b(\W+(` + modeName + `|of|as|type|value|parameter|mode|msg|extra|inputs?|fields?|is|are|currently|this|the|model|does))*\W+` +
	`(not (yet |currently )?(supported|available|permitted|allowed|support\b)|unsupported|unavailable|enabled only|unknown|unrecognized|unexpected|extra inputs|must be (one of |either )?\W*(text|json_object)\b)|` +
	`\b(unknown|unrecognized|unsupported|unexpected|invalid value|not support)(\W+(name|parameter|field|keyword|request|argument|supplied|value|type|the|` + modeName + `))*\W+` + modeName + `\b`)

// inSchema matches the parameters and messages of errors that name a place inside the schema of an answer.
var inSchema = regexp.MustCompile("(?i)schema['\"`]?(\\.\\w|\\[)|\\.schema\\b|properties['\"`]?[.\\[/,]")

// refusedBy returns what an error of a request in the JSON schema mode refuses. Services report it in different ways, some without a reason.
func refusedBy(err *ServiceError) refused {
	about, message := err.Param+" "+err.Message, strings.ToLower(err.Message)
	says := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(message, part) })
	}
	unprocessable := err.Status == http.StatusBadRequest || err.Status == http.StatusUnprocessableEntity
	switch {
	case err.Code == "json_validate_failed" || says("failed to generate json", "failed_generation"):
		return refusedAnswer
	case (unprocessable || err.Status == http.StatusInternalServerError) && says("invalid schema", "grammar", "is not permitted", "json schema", "json_schema is invalid", "format.schema", "too many states"):
		return refusedSchema
	case unprocessable && noMode.MatchString(about) && !inSchema.MatchString(about):
		return refusedMode
	case unprocessable && classOf(err) == llm.ClassPermanent:
		return refusedSchema
	default:
		return refusedNothing
	}
}
