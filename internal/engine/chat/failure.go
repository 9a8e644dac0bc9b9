package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright/agents/llm"
)

// ServiceError is an error that the service reports. Error does not include the service's message, which can quote the prompt or the key.
type ServiceError struct {
	Status      int         // HTTP status; for an error inside a successful response the code, if it is a number, or 0
	Header      http.Header // of the response; nil for an error inside a successful response
	Code, Param string      // Code is the error's type if the service sends no code
	Message     string
	Daily       bool   // whether a quota of a day is used up
	Delay       string // wait before a retry, such as "45.8s"; empty if the service names none
}

// Error returns the HTTP status, the code and the parameter, which contain no text of a request.
func (e *ServiceError) Error() string {
	text := "the service reported an error"
	if e.Status > 0 {
		text = fmt.Sprintf("the service answered with the status %d", e.Status)
	}
	if plain.MatchString(e.Code) {
		text += ", code " + e.Code
	}
	if plain.MatchString(e.Param) {
		text += ", parameter " + e.Param
	}
	return text
}

// plain matches codes and names of parameters.
var plain = regexp.MustCompile(`^[\w.\[\]-]{1,64}$`)

// memberOf matches the member that a message names, such as "thinking.type: ..." and "Unknown name "responseJsonSchema" at ...".
var memberOf = regexp.MustCompile(`^([a-z]+(?:[._][a-z0-9_]+)+): |\bUnknown name "(\w+)"`)

// NewServiceError parses the body of an error response, an event, or the given value of its member "error". Services send the members of an
// error in an object, in the member "error" of an object, or in an array around either, or send only a text.
func NewServiceError(body []byte, member ...json.RawMessage) *ServiceError {
	e := &ServiceError{}
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
	case Present(outer.Error):
		body = outer.Error
	}
	if json.Unmarshal(body, &e.Message) == nil {
		return e
	}
	var detail struct {
		Code    Word            `json:"code"`
		Type    Word            `json:"type"`
		Status  Word            `json:"status"`
		Param   Word            `json:"param"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Details []struct {
			RetryDelay      Word `json:"retryDelay"` // google.rpc.RetryInfo
			FieldViolations []struct {
				Field Word `json:"field"`
			} `json:"fieldViolations"` // google.rpc.BadRequest
			Violations []struct {
				QuotaID Word `json:"quotaId"`
			} `json:"violations"` // google.rpc.QuotaFailure
		} `json:"details"`
	}
	_ = json.Unmarshal(body, &detail)
	e.Message = string(detail.Message) + string(detail.Detail)
	var text string
	if json.Unmarshal(detail.Message, &text) == nil {
		e.Message = text
	}
	e.Code, e.Param = string(detail.Code), string(detail.Param)
	if number, err := strconv.Atoi(e.Code); err == nil {
		e.Status, e.Code = number, ""
	}
	for _, other := range []Word{detail.Status, detail.Type} {
		if e.Code == "" {
			e.Code = string(other)
		}
	}
	if m := memberOf.FindStringSubmatch(e.Message); m != nil && e.Param == "" {
		e.Param = m[1] + m[2]
	}
	for _, d := range detail.Details {
		e.Delay += string(d.RetryDelay)
		if len(d.FieldViolations) > 0 && e.Param == "" {
			e.Param = string(d.FieldViolations[0].Field)
		}
		for _, v := range d.Violations {
			e.Daily = e.Daily || strings.Contains(string(v.QuotaID), "PerDay")
		}
	}
	return e
}

// IsError reports whether a body without an answer is an error whose members stand at the top.
func IsError(body []byte) bool {
	var top struct {
		Object  Word            `json:"object"`
		Message json.RawMessage `json:"message"`
	}
	return json.Unmarshal(body, &top) == nil && (top.Object == "error" || Present(top.Message)) && !bytes.Contains(body, []byte(`"choices"`))
}

// Failure converts the error of a request to an *llm.Failure. Errors that the service did not report are transient.
func Failure(err error) *llm.Failure {
	if f, ok := errors.AsType[*llm.Failure](err); ok {
		return f
	}
	f := &llm.Failure{Class: llm.ClassTransient, Cause: err}
	if refused, ok := errors.AsType[*ServiceError](err); ok {
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
	"billing_error":             llm.ClassQuota,
	"request_too_large":         llm.ClassTooLong,
	"authentication_error":      llm.ClassPermanent,
	"permission_error":          llm.ClassPermanent,
	"not_found_error":           llm.ClassPermanent,
	"rate_limit_error":          llm.ClassRateLimited,
	"rate_limit_exceeded":       llm.ClassRateLimited,
	"RESOURCE_EXHAUSTED":        llm.ClassRateLimited,
	"capacity_exceeded":         llm.ClassTransient,
	"overloaded_error":          llm.ClassTransient,
}

// tooLong matches messages about a conversation that is too long, for services that send no code of their own.
var tooLong = regexp.MustCompile(`(?i)context (length|size|window)|token count .*exceeds|maximum (number of )?tokens|exceed context limit|(prompt|input) is too long|too many tokens`)

// unpaid matches messages about an account without credit, for services that send no code of their own.
var unpaid = regexp.MustCompile(`(?i)credit balance is too low`)

func classOf(err *ServiceError) llm.Class {
	if err.Daily || unpaid.MatchString(err.Message) {
		return llm.ClassQuota
	}
	if class, known := codes[err.Code]; known {
		return class
	}
	switch status := err.Status; {
	case (status == http.StatusBadRequest || status == http.StatusUnprocessableEntity || status == 0) && tooLong.MatchString(err.Message):
		return llm.ClassTooLong
	case status == http.StatusTooManyRequests:
		return llm.ClassRateLimited
	case status == http.StatusRequestEntityTooLarge:
		return llm.ClassTooLong
	case status == 0 && err.Code == "invalid_request_error":
		return llm.ClassPermanent
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
func retryAfter(err *ServiceError) time.Duration {
	if ms, e := strconv.ParseFloat(err.Header.Get("Retry-After-Ms"), 64); e == nil {
		return bounded(ms / 1000)
	}
	after := err.Header.Get("Retry-After")
	if seconds, e := strconv.ParseFloat(after, 64); e == nil {
		return bounded(seconds)
	}
	if date, e := http.ParseTime(after); e == nil {
		now, e := http.ParseTime(err.Header.Get("Date"))
		if e != nil {
			now = time.Now()
		}
		return bounded(date.Sub(now).Seconds())
	}
	delay := err.Delay
	if m := retryIn.FindStringSubmatch(err.Message); delay == "" && m != nil {
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
