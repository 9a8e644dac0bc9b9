package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
)

// serviceError is an error that the service reports. Error does not include the service's message, which can quote the prompt or the key.
type serviceError struct {
	status      int         // HTTP status; for an error inside a successful response the code, if it is a number, or 0
	header      http.Header // of the response; nil for an error inside a successful response
	code, param string      // code is the error's type if the service sends no code
	message     string
	delay       string // wait before a retry, such as "45.8s"; empty if the service names none
}

// Error returns the HTTP status, the code and the parameter, which contain no text of a request.
func (e *serviceError) Error() string {
	text := "the service reported an error"
	if e.status > 0 {
		text = fmt.Sprintf("the service answered with the status %d", e.status)
	}
	if plain.MatchString(e.code) {
		text += ", code " + e.code
	}
	if plain.MatchString(e.param) {
		text += ", parameter " + e.param
	}
	return text
}

// plain matches codes and names of parameters.
var plain = regexp.MustCompile(`^[\w.\[\]-]{1,64}$`)

// newServiceError parses the body of an error response, an event, or the given value of its member "error". Services send the members of an
// error in an object, in the member "error" of an object, or in an array around either, or send only a text.
func newServiceError(body []byte, member ...json.RawMessage) *serviceError {
	e := &serviceError{}
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(body, &outer)
	switch {
	case len(member) > 0:
		body = member[0]
	case present(outer.Error):
		body = outer.Error
	}
	if json.Unmarshal(body, &e.message) == nil {
		return e
	}
	var detail struct {
		Code    word            `json:"code"`
		Type    word            `json:"type"`
		Status  word            `json:"status"`
		Param   word            `json:"param"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Details []struct {
			RetryDelay word `json:"retryDelay"` // google.rpc.RetryInfo
		} `json:"details"`
	}
	_ = json.Unmarshal(body, &detail)
	e.message = string(detail.Message) + string(detail.Detail)
	var text string
	if json.Unmarshal(detail.Message, &text) == nil {
		e.message = text
	}
	e.code, e.param = string(detail.Code), string(detail.Param)
	if number, err := strconv.Atoi(e.code); err == nil {
		e.status, e.code = number, ""
	}
	for _, other := range []word{detail.Status, detail.Type} {
		if e.code == "" {
			e.code = string(other)
		}
	}
	for _, d := range detail.Details {
		e.delay += string(d.RetryDelay)
	}
	return e
}

// isError reports whether a body without an answer is an error whose members stand at the top.
func isError(body []byte) bool {
	var top struct {
		Object  word            `json:"object"`
		Message json.RawMessage `json:"message"`
	}
	return json.Unmarshal(body, &top) == nil && (top.Object == "error" || present(top.Message)) && !bytes.Contains(body, []byte(`"choices"`))
}

// failure converts the error of a request to an *llm.Failure. Errors that the service did not report are transient.
func failure(err error) *llm.Failure {
	if f, ok := errors.AsType[*llm.Failure](err); ok {
		return f
	}
	f := &llm.Failure{Class: llm.ClassTransient, Cause: err}
	if refused, ok := errors.AsType[*serviceError](err); ok {
		f.Class, f.RetryAfter = classOf(refused), retryAfter(refused)
	}
	f.Message = llm.Reason(f) // not the service's message, which can quote the prompt or the key
	return f
}

// codes maps the codes of services to classes. Other codes say less than the status.
var codes = map[string]llm.Class{
	"insufficient_quota":        llm.ClassQuota,
	"billing_not_active":        llm.ClassQuota,
	"insufficient_credits":      llm.ClassQuota,
	"context_length_exceeded":   llm.ClassTooLong,
	"exceed_context_size_error": llm.ClassTooLong,
	"string_above_max_length":   llm.ClassTooLong,
	"rate_limit_exceeded":       llm.ClassRateLimited,
	"RESOURCE_EXHAUSTED":        llm.ClassRateLimited,
	"capacity_exceeded":         llm.ClassTransient,
	"overloaded_error":          llm.ClassTransient,
}

// tooLong matches messages about a conversation that is too long, for services that send no code of their own.
var tooLong = regexp.MustCompile(`(?i)context (length|size|window)|token count .*exceeds|maximum (number of )?tokens|(prompt|input) is too long|too many tokens`)

func classOf(err *serviceError) llm.Class {
	if class, known := codes[err.code]; known {
		return class
	}
	switch status := err.status; {
	case (status == http.StatusBadRequest || status == http.StatusUnprocessableEntity || status == 0) && tooLong.MatchString(err.message):
		return llm.ClassTooLong
	case status == http.StatusTooManyRequests:
		return llm.ClassRateLimited
	case status == http.StatusRequestEntityTooLarge:
		return llm.ClassTooLong
	case status == http.StatusPaymentRequired:
		return llm.ClassQuota
	case status == 0, status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status == statusCapacity, status >= 500:
		return llm.ClassTransient
	default:
		return llm.ClassPermanent
	}
}

// statusCapacity is the status with which Groq reports that its capacity is exceeded.
const statusCapacity = 498

// longestDelay bounds the wait that a service may demand. Longer ones count as none.
const longestDelay = time.Hour

// retryAfter returns the wait that a service demands before a retry, or 0: in the header Retry-After-Ms or Retry-After (RFC 9110, section
// 10.2.3, seconds or a date), or in the body of the error.
func retryAfter(err *serviceError) time.Duration {
	if ms, e := strconv.ParseFloat(err.header.Get("Retry-After-Ms"), 64); e == nil {
		return bounded(ms / 1000)
	}
	after := err.header.Get("Retry-After")
	if seconds, e := strconv.ParseFloat(after, 64); e == nil {
		return bounded(seconds)
	}
	if date, e := http.ParseTime(after); e == nil {
		now, e := http.ParseTime(err.header.Get("Date"))
		if e != nil {
			now = time.Now()
		}
		return bounded(date.Sub(now).Seconds())
	}
	delay := err.delay
	if m := retryIn.FindStringSubmatch(err.message); delay == "" && m != nil {
		delay = m[1]
	}
	d, _ := time.ParseDuration(delay)
	return bounded(d.Seconds())
}

// retryIn matches the wait in a message, such as "Please try again in 1m2.5s."
var retryIn = regexp.MustCompile(`(?i)(?:retry|try again) in ((?:\d+(?:\.\d+)?(?:ms|s|m|h))+)`)

// bounded converts seconds, and returns 0 for a number that is negative, too large or none.
func bounded(seconds float64) time.Duration {
	if !(seconds >= 0 && seconds <= longestDelay.Seconds()) { // rejects NaN, too
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

// speechError converts the error of a speech request to an error with a code. It returns the error of an ended context unchanged.
func speechError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if refused, ok := errors.AsType[*serviceError](err); ok && aboutVoice(refused) {
		return callwright.Invalid("voice", "must be a voice that the speech service offers: see its documentation").Because(err)
	}
	f := failure(err)
	code := callwright.CodeUnavailable
	if f.Class == llm.ClassRateLimited {
		code = callwright.CodeTooManyRequests
	}
	return (&callwright.Error{Code: code, Message: "speech: " + strings.Replace(f.Message, "the language model", "the service", 1), RetryAfter: f.RetryAfter}).Because(f.Cause)
}

// aboutVoice reports whether a service has refused an unknown voice. Servers report that in different ways.
func aboutVoice(err *serviceError) bool {
	if err.status != http.StatusBadRequest && err.status != http.StatusUnprocessableEntity && err.status != http.StatusNotFound {
		return false
	}
	return err.param == "voice" || voiceWord.MatchString(err.message)
}

// voiceWord matches messages about a voice, but not about an invoice.
var voiceWord = regexp.MustCompile(`(?i)\bvoices?\b`)
