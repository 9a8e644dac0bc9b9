package openai

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
)

// speechError converts the error of a speech request to an error with a code. It returns the error of an ended context unchanged.
func speechError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if refused, ok := errors.AsType[*chat.ServiceError](err); ok && aboutVoice(refused) {
		return callwright.Invalid("voice", "must be a voice that the speech service offers: see its documentation").Because(err)
	}
	f := chat.Failure(err)
	code := callwright.CodeUnavailable
	if f.Class == llm.ClassRateLimited {
		code = callwright.CodeTooManyRequests
	}
	return (&callwright.Error{Code: code, Message: "speech: " + strings.Replace(f.Message, "the language model", "the service", 1), RetryAfter: f.RetryAfter}).Because(f.Cause)
}

// aboutVoice reports whether a service has refused an unknown voice. Servers report that in different ways.
func aboutVoice(err *chat.ServiceError) bool {
	if err.Status != http.StatusBadRequest && err.Status != http.StatusUnprocessableEntity && err.Status != http.StatusNotFound {
		return false
	}
	return err.Param == "voice" || voiceWord.MatchString(err.Message)
}

// voiceWord matches messages about a voice, but not about an invoice.
var voiceWord = regexp.MustCompile(`(?i)\bvoices?\b`)
