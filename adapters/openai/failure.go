package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
)

// The error codes of the service.
const (
	codeQuota   = "insufficient_quota"
	codeTooLong = "context_length_exceeded"
	codeRate    = "rate_limit_exceeded"
)

// tooLong matches the error messages of local servers that send no code when a conversation is too long.
var tooLong = regexp.MustCompile(`(?i)context (length|size|window)`)

// failure converts the error of a request to an *llm.Failure. Errors that the service did not report are transient.
func failure(err error) *llm.Failure {
	f := &llm.Failure{Class: llm.ClassTransient, Cause: err}
	if refused, ok := errors.AsType[*serviceError](err); ok {
		f.Class = classOf(refused)
		f.RetryAfter = retryAfter(refused.retryAfter)
	} else if broken, ok := errors.AsType[*streamError](err); ok {
		f.Class = classOfCode(codeOf(broken.event))
	}
	f.Message = llm.Reason(f) // not the service's message, which can quote the prompt or the key
	return f
}

// codeOf returns the code of an error event inside a stream. It is empty if the event contains no code or has another form.
func codeOf(event []byte) string {
	var body struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(event, &body)
	return body.Error.Code
}

func classOf(err *serviceError) llm.Class {
	if class := classOfCode(err.code); class != llm.ClassTransient {
		return class
	}
	switch status := err.status; {
	case status == http.StatusBadRequest && tooLong.MatchString(err.message):
		return llm.ClassTooLong
	case status == http.StatusTooManyRequests:
		return llm.ClassRateLimited
	case status == http.StatusRequestEntityTooLarge:
		return llm.ClassTooLong
	case status == http.StatusPaymentRequired:
		return llm.ClassQuota
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status >= 500:
		return llm.ClassTransient
	default:
		return llm.ClassPermanent
	}
}

func classOfCode(code string) llm.Class {
	switch code {
	case codeQuota:
		return llm.ClassQuota
	case codeTooLong:
		return llm.ClassTooLong
	case codeRate:
		return llm.ClassRateLimited
	default:
		return llm.ClassTransient
	}
}

// retryAfter parses a Retry-After header (RFC 9110, section 10.2.3). It supports only seconds, up to an hour, and returns 0 for anything
// else.
func retryAfter(header string) time.Duration {
	seconds, err := strconv.ParseFloat(header, 64)
	if err != nil || !(seconds >= 0 && seconds <= 3600) { // rejects NaN, too
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
	return err.param == "voice" || strings.Contains(strings.ToLower(err.message), "voice")
}
