package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/go-faster/jx"
	ht "github.com/ogen-go/ogen/http"
	"github.com/ogen-go/ogen/ogenerrors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/oas"
)

// codeMethodNotAllowed is the one code that HTTP adds to those of the root package.
const codeMethodNotAllowed callwright.Code = "METHOD_NOT_ALLOWED"

// statuses is the HTTP status of every code. An error without one of these codes is internal.
var statuses = map[callwright.Code]int{
	callwright.CodeAuthFailure:         http.StatusUnauthorized,
	callwright.CodeFeatureNotEnabled:   http.StatusForbidden,
	callwright.CodeForbidden:           http.StatusForbidden,
	callwright.CodeBadRequest:          http.StatusBadRequest,
	callwright.CodeNotFound:            http.StatusNotFound,
	callwright.CodeConflict:            http.StatusConflict,
	callwright.CodeInvalidState:        http.StatusConflict,
	callwright.CodeIdempotencyConflict: http.StatusConflict,
	callwright.CodeDiscoveryInProgress: http.StatusConflict,
	callwright.CodePromotionGateFailed: http.StatusConflict,
	callwright.CodeCallNotAttached:     http.StatusConflict,
	callwright.CodePayloadTooLarge:     http.StatusRequestEntityTooLarge,
	callwright.CodeUnsupportedMedia:    http.StatusUnsupportedMediaType,
	callwright.CodeTooManyRequests:     http.StatusTooManyRequests,
	callwright.CodeNotImplemented:      http.StatusNotImplemented,
	callwright.CodeUnavailable:         http.StatusServiceUnavailable,
	callwright.CodeInternal:            http.StatusInternalServerError,
	codeMethodNotAllowed:               http.StatusMethodNotAllowed,
}

// wireNames are the codes that an operation has another name for.
var wireNames = map[string]map[callwright.Code]string{
	oas.GetRecordingOperation: {callwright.CodeNotFound: "CALL_RECORDING_NOT_FOUND"},
}

// areaTriage is the area whose codes are in lower case.
const areaTriage = "Triage"

// alike are the codes that every area writes alike.
var alike = map[callwright.Code]bool{
	callwright.CodeAuthFailure: true, callwright.CodeFeatureNotEnabled: true, callwright.CodeTooManyRequests: true,
}

// envelopeB are the operations whose errors have the form {status, message, code, errors}. It says what
// x-callwright-envelope says in the contract.
var envelopeB = map[string]bool{
	oas.CreateCallOperation: true, oas.ListCallsOperation: true, oas.GetCallOperation: true, oas.StopCallOperation: true,
	oas.UpdateInboundNumberOperation: true,
	oas.CreateAgentOperation:         true, oas.UpdateAgentOperation: true, oas.DeleteAgentOperation: true,
	oas.CreatePathwayOperation: true, oas.UpdatePathwayOperation: true, oas.DeletePathwayOperation: true,
	oas.DeletePathwayVersionOperation: true,
}

// failure is an error as a client sees it.
type failure struct {
	code       callwright.Code
	lines      []line // at least one
	retryAfter time.Duration
}

// line is one thing that is wrong. The path is empty when it is not about one member of the request.
type line struct{ path, text string }

func (l line) String() string {
	if l.path == "" {
		return l.text
	}
	return l.path + ": " + l.text
}

// failureOf is what a client is told of an error: all of a coded one, what the generated code found wrong with the
// request, and nothing of anything else.
func failureOf(err error) failure {
	var errs callwright.FieldErrors
	var coded *callwright.Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &errs) && len(errs) > 0:
		return several(errs)
	case errors.As(err, &coded):
		if _, known := statuses[coded.Code]; !known || coded.Code == callwright.CodeInternal {
			return plain(callwright.ErrInternal)
		}
		return plain(coded)
	case errors.Is(err, ogenerrors.ErrSecurityRequirementIsNotSatisfied):
		return plain(callwright.ErrAuthFailure)
	case errors.Is(err, ht.ErrNotImplemented):
		return plain(callwright.ErrNotImplemented)
	case errors.As(err, &tooLarge):
		return plain(callwright.ErrPayloadTooLarge)
	}
	if refused, ok := refusal(err); ok {
		return refused
	}
	return plain(callwright.ErrInternal)
}

func plain(e *callwright.Error) failure {
	return failure{code: e.Code, lines: []line{{e.Field, e.Message}}, retryAfter: e.RetryAfter}
}

// maxShown bounds what a client is told of many errors, in lines and in bytes: see ErrorEnvelope in the contract.
const (
	maxShownLines = 50
	maxShownBytes = 3500
)

// several is a failure with a line for each fault, and the code of the first.
func several(errs callwright.FieldErrors) failure {
	f := failure{code: errs[0].Code}
	size := 0
	for i, e := range errs {
		l := line{e.Field, e.Message}
		size += len(l.String()) + 1
		if i > 0 && (i == maxShownLines || size > maxShownBytes) {
			f.lines = append(f.lines, line{text: fmt.Sprintf("and %d more", len(errs)-i)})
			break
		}
		f.lines = append(f.lines, l)
	}
	return f
}

// NewError is the answer to a request that failed. The generated server calls it.
func (a *api) NewError(ctx context.Context, err error) *oas.ErrorStatusCodeWithHeaders {
	f := failureOf(err)
	x := exchangeOf(ctx)
	status := statuses[f.code]
	if status >= http.StatusInternalServerError && status != http.StatusNotImplemented {
		x.failure = err
	}
	answer := &oas.ErrorStatusCodeWithHeaders{StatusCode: status, Response: f.envelope(x)}
	switch {
	case f.retryAfter > 0:
		answer.RetryAfter.SetTo(int(math.Ceil(f.retryAfter.Seconds())))
	case f.code == callwright.CodeTooManyRequests:
		answer.RetryAfter.SetTo(1)
	}
	return answer
}

// envelope is the body of the answer, in the form that the operation's errors have. 401 and 429 are the same everywhere.
func (f failure) envelope(x *exchange) oas.ErrorEnvelope {
	texts := make([]string, len(f.lines))
	for i, l := range f.lines {
		texts[i] = l.String()
	}
	if x.area == areaTriage && f.code == callwright.CodeNotFound && f.lines[0].path == "" { // "Issue not found", as the contract has it
		texts[0] = strings.ToUpper(texts[0][:1]) + texts[0][1:]
	}
	message, code := strings.Join(texts, "\n"), f.wireName(x)
	everywhere := f.code == callwright.CodeAuthFailure || f.code == callwright.CodeTooManyRequests
	if envelopeB[x.operation] && !everywhere {
		b := oas.ErrorEnvelope{
			Status:  oas.NewOptErrorEnvelopeStatus(oas.ErrorEnvelopeStatusError),
			Message: oas.NewOptString(message), Code: oas.NewOptString(code),
		}
		for _, text := range texts {
			b.Errors = append(b.Errors, oas.NewStringErrorEntry(text))
		}
		return b
	}
	detail := oas.ErrorDetail{Error: code, Message: message}
	if f.lines[0].path != "" {
		detail.Path.SetTo(f.lines[0].path)
	}
	return oas.ErrorEnvelope{
		Data: oas.NewOptNull(struct{}{}), Errors: []oas.ErrorEntry{oas.NewErrorDetailErrorEntry(detail)},
	}
}

// wireName is the code as this operation names it.
func (f failure) wireName(x *exchange) string {
	if name, ok := wireNames[x.operation][f.code]; ok {
		return name
	}
	if x.area == areaTriage && !alike[f.code] {
		return strings.ToLower(string(f.code))
	}
	return string(f.code)
}

// fail answers with an error outside of the generated server's own way to do that.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	answer := a.NewError(r.Context(), err)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if seconds, ok := answer.RetryAfter.Get(); ok {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	w.WriteHeader(answer.StatusCode)
	var e jx.Encoder
	answer.Response.Encode(&e)
	_, _ = w.Write(e.Bytes()) // the client has gone if this fails
}

// handleError answers what the generated server could not decode, has no method for, or failed to encode.
func (a *api) handleError(_ context.Context, w http.ResponseWriter, r *http.Request, err error) {
	a.fail(w, r, err)
}

// notFound answers a path that the contract has not.
func (a *api) notFound(w http.ResponseWriter, r *http.Request) {
	a.fail(w, r, callwright.NotFound("path"))
}

// methodNotAllowed answers a path that the contract has with other methods.
func (a *api) methodNotAllowed(w http.ResponseWriter, r *http.Request, allowed string) {
	w.Header().Set("Allow", allowed)
	a.fail(w, r, &callwright.Error{Code: codeMethodNotAllowed, Message: "this path takes " + allowed})
}

// recovered answers a request whose handler panicked, if it has not begun to answer.
func (a *api) recovered(ctx context.Context, w *answerWriter, cause any) {
	if cause == http.ErrAbortHandler { //nolint:errorlint // a sentinel that is thrown, not wrapped
		panic(cause)
	}
	a.Logger.ErrorContext(ctx, "a handler panicked", "request_id", exchangeOf(ctx).id, "panic", cause,
		"stack", string(debug.Stack()))
	if w.status == 0 {
		a.fail(w, new(http.Request).WithContext(ctx), callwright.ErrInternal)
	}
}

// describe is an error with its causes, for the log.
func describe(err error) string {
	text := err.Error()
	var coded *callwright.Error
	if errors.As(err, &coded) && coded.Unwrap() != nil {
		text += ": " + describe(coded.Unwrap())
	}
	return text
}
