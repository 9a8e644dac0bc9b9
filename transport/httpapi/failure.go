package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-faster/jx"
	ht "github.com/ogen-go/ogen/http"
	"github.com/ogen-go/ogen/ogenerrors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	"github.com/callwright/callwright/transport/oas"
)

// statuses maps every code to its HTTP status. An error without one of these codes is internal.
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
	callwright.CodeMethodNotAllowed:    http.StatusMethodNotAllowed,
}

// alike is the set of codes that every area writes in upper case.
var alike = map[callwright.Code]bool{
	callwright.CodeAuthFailure: true, callwright.CodeFeatureNotEnabled: true, callwright.CodeTooManyRequests: true,
}

// failure is the part of an error that a client sees.
type failure struct {
	code       callwright.Code
	lines      []line // at least one
	retryAfter time.Duration
	batch      string // id of a batch; see callwright.Error
}

// line is one error of an answer. The path is empty if the error does not concern one member of the request.
type line struct{ path, text string }

func (l line) String() string {
	if l.path == "" {
		return l.text
	}
	return l.path + ": " + l.text
}

// failureOf translates an error for a client of an area. It keeps errors with a known code, and translates the errors that the generated
// code found in the request. For CodeInternal and any other error, it returns an internal error without details.
func failureOf(err error, area *Area) failure {
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
	if refused, ok := refusal(err, area); ok {
		return refused
	}
	return plain(callwright.ErrInternal)
}

func plain(e *callwright.Error) failure {
	return failure{code: e.Code, lines: shorten([]line{{e.Field, e.Message}}), retryAfter: e.RetryAfter, batch: e.Batch}
}

// Limits of the errors in one answer; see ErrorEnvelope in the contract.
const (
	maxShownLines = 50
	maxShownBytes = 3500
	maxShownText  = 500 // characters of a line's path or text; either may repeat the client's input
)

// several returns a failure with a line for each error, and the code of the first error.
func several(errs callwright.FieldErrors) failure {
	lines := make([]line, len(errs))
	for i, e := range errs {
		lines[i] = line{e.Field, e.Message}
	}
	return failure{code: errs[0].Code, lines: shorten(lines)}
}

// shorten keeps the first lines that are within the limits, but at least one. A last line counts the omitted ones.
func shorten(lines []line) []line {
	size := 0
	for i, l := range lines {
		l = line{cut(l.path), cut(l.text)}
		lines[i] = l
		size += len(l.String()) + 1
		if i > 0 && (i == maxShownLines || size > maxShownBytes) {
			return append(lines[:i:i], line{text: fmt.Sprintf("and %d more", len(lines)-i)})
		}
	}
	return lines
}

// cut clips a text to maxShownText characters, including an ellipsis.
func cut(text string) string {
	if characters := []rune(text); len(characters) > maxShownText {
		return string(characters[:maxShownText-3]) + "..."
	}
	return text
}

// NewFailure translates an error into an answer for the client, in the envelope of the operation. If the status is 5xx except 501, it keeps
// the error for the log.
func NewFailure(ctx context.Context, err error) oas.Failure {
	info := infoOf(ctx)
	f := failureOf(err, info.area)
	status := statuses[f.code]
	if status >= http.StatusInternalServerError && status != http.StatusNotImplemented {
		info.failure = err
	}
	answer := oas.Failure{Status: status, Body: f.envelope(info)}
	switch {
	case f.retryAfter > 0:
		answer.RetryAfter = wire.Opt[int]{Value: int(math.Ceil(f.retryAfter.Seconds())), Set: true}
	case f.code == callwright.CodeTooManyRequests:
		answer.RetryAfter = wire.Opt[int]{Value: 1, Set: true}
	}
	return answer
}

// Explain translates an error for a client within a successful answer. It returns the code, the path of the member that is wrong, if any,
// and a text. If there are several errors, it explains the first one.
func Explain(err error) (code callwright.Code, path, text string) {
	f := failureOf(err, nil)
	return f.code, f.lines[0].path, f.lines[0].text
}

// envelope returns the body of an answer, in the envelope of the operation's errors. Errors with status 401 or 429 use the same envelope
// everywhere.
func (f failure) envelope(info *requestInfo) []byte {
	form := info.area
	if form == nil {
		form = new(Area)
	}
	everywhere := f.code == callwright.CodeAuthFailure || f.code == callwright.CodeTooManyRequests
	flat := form.Flat[info.operation] && !everywhere
	code := form.nameOf(f.code, info.operation)
	texts := make([]string, len(f.lines))
	for i, l := range f.lines {
		texts[i] = l.String()
	}
	if form.LowerCase && f.code == callwright.CodeNotFound && f.lines[0].path == "" { // "Issue not found", as in the contract
		texts[0] = strings.ToUpper(texts[0][:1]) + texts[0][1:]
	}
	var e jx.Encoder
	e.Obj(func(e *jx.Encoder) {
		if flat {
			e.Field("status", func(e *jx.Encoder) { e.Str("error") })
			e.Field("message", func(e *jx.Encoder) { e.Str(strings.Join(texts, "\n")) })
		} else {
			e.Field("data", func(e *jx.Encoder) { e.Null() })
		}
		e.Field("errors", func(e *jx.Encoder) {
			e.Arr(func(e *jx.Encoder) {
				for i, text := range texts {
					writeEntry(e, entry{code, text, f.lines[i].path, f.batch}, flat)
				}
			})
		})
	})
	return e.Bytes()
}

// entry is an element of an envelope's errors. Empty fields are omitted.
type entry struct{ code, message, path, batch string }

// writeEntry writes an entry as {error, message, path, batch_id}. If flat is set, it repeats the path as the member "field", the path's
// name in envelope B.
func writeEntry(e *jx.Encoder, w entry, flat bool) {
	e.Obj(func(e *jx.Encoder) {
		e.Field("error", func(e *jx.Encoder) { e.Str(w.code) })
		e.Field("message", func(e *jx.Encoder) { e.Str(w.message) })
		if w.path != "" {
			e.Field("path", func(e *jx.Encoder) { e.Str(w.path) })
		}
		if w.path != "" && flat {
			e.Field("field", func(e *jx.Encoder) { e.Str(w.path) })
		}
		if w.batch != "" {
			e.Field("batch_id", func(e *jx.Encoder) { e.Str(w.batch) })
		}
	})
}

// nameOf returns the name with which an operation sends an error code: its own name from Names, or else the code, in lower case if
// LowerCase requires it.
func (a *Area) nameOf(code callwright.Code, operation string) string {
	if name, ok := a.Names[operation][code]; ok {
		return name
	}
	if a.LowerCase && !alike[code] {
		return strings.ToLower(string(code))
	}
	return string(code)
}

// fail writes an error as the answer, for requests that no generated server answers.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	answer := NewFailure(r.Context(), err)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if answer.RetryAfter.Set {
		w.Header().Set("Retry-After", strconv.Itoa(answer.RetryAfter.Value))
	}
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body) // fails only if the client has disconnected
}

// HandleError answers a request that a generated server could not decode or does not implement, or whose answer it could not encode.
func HandleError(_ context.Context, w http.ResponseWriter, r *http.Request, err error) {
	fail(w, r, err)
}

// refuse calls the area's Refuse, or HandleError if it is nil.
func refuse(ctx context.Context, w http.ResponseWriter, r *http.Request, err error) {
	if area := infoOf(ctx).area; area.Refuse != nil {
		area.Refuse(ctx, w, r, err)
		return
	}
	HandleError(ctx, w, r, err)
}

// methodNotAllowed answers 405 with the allowed methods of the path. allowed separates them by commas. HEAD is allowed if GET is.
func methodNotAllowed(w http.ResponseWriter, r *http.Request, allowed string) {
	methods := strings.Split(allowed, ",")
	if slices.Contains(methods, http.MethodGet) {
		methods = append(methods, http.MethodHead)
		slices.Sort(methods)
	}
	allowed = strings.Join(methods, ", ")
	w.Header().Set("Allow", allowed)
	fail(w, r, &callwright.Error{Code: callwright.CodeMethodNotAllowed, Message: "this path allows only " + allowed})
}

// NotFound answers 404 for a path that is not served.
func NotFound(w http.ResponseWriter, r *http.Request) { fail(w, r, callwright.NotFound("path")) }

// answerPanic logs the panic of a handler with its stack. It answers 500 unless the handler has already begun its answer.
func (a *API) answerPanic(ctx context.Context, w *answerWriter, cause any) {
	a.cfg.Logger.ErrorContext(ctx, "a handler panicked", "request_id", infoOf(ctx).id, "panic", cause,
		"stack", string(debug.Stack()))
	if w.status == 0 {
		fail(w, new(http.Request).WithContext(ctx), callwright.ErrInternal)
	}
}

// describe returns the text of an error followed by the texts of its causes, for the log.
func describe(err error) string {
	text := err.Error()
	var coded *callwright.Error
	if errors.As(err, &coded) && coded.Unwrap() != nil {
		text += ": " + describe(coded.Unwrap())
	}
	return text
}
