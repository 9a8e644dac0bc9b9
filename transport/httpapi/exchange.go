package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// exchange is what is known of one request on its way. The outermost handler puts it into the context; those further in
// fill it.
type exchange struct {
	id        string
	operation string // name in package oas; empty when no operation fits
	area      string // its operation group
	route     string // its path with the parameters' names; log lines have it in place of the path, which may hold a secret
	principal callwright.Principal
	failure   error // what the answer could not say
}

type exchangeKey struct{}

// exchangeOf is the exchange of a request's context.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return new(exchange) // a context that no request made; there is nothing to know
}

// orgOf is the organization on whose behalf the request is made.
func orgOf(ctx context.Context) callwright.OrgID { return exchangeOf(ctx).principal.Org }

// requestIDHeader carries the request's id both ways.
const requestIDHeader = "X-Request-ID"

// goodID is a request id of the caller's that may stand in headers and logs.
var goodID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// ServeHTTP answers every request.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{id: r.Header.Get(requestIDHeader)}
	if !goodID.MatchString(x.id) {
		x.id = a.IDs.New()
	}
	w.Header().Set(requestIDHeader, x.id)
	ctx := context.WithValue(r.Context(), exchangeKey{}, x)
	answer := &answerWriter{ResponseWriter: w}
	answer.mustBeTaken(time.Time{}) // not by when the one before had to be, over the same connection
	begin := time.Now()
	defer func() {
		if cause := recover(); cause != nil {
			a.recovered(ctx, answer, cause)
		}
		a.log(ctx, r, answer.status, time.Since(begin))
	}()
	a.route(answer, r.WithContext(ctx))
}

// log writes the line of one request.
func (a *api) log(ctx context.Context, r *http.Request, status int, took time.Duration) {
	x := exchangeOf(ctx)
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError && status != http.StatusNotImplemented {
		level = slog.LevelError
	}
	attrs := []slog.Attr{
		slog.String("request_id", x.id), slog.String("method", r.Method), slog.String("route", x.route),
		slog.String("operation", x.operation), slog.Int("status", status), slog.Duration("took", took),
	}
	if x.principal.Org != "" {
		attrs = append(attrs, slog.String("org", string(x.principal.Org)), slog.String("key", x.principal.KeyID))
	}
	if x.failure != nil {
		attrs = append(attrs, slog.String("error", describe(x.failure)))
	}
	a.Logger.LogAttrs(ctx, level, "request", attrs...)
}

// answerWriter remembers the status.
type answerWriter struct {
	http.ResponseWriter
	status int
}

// takeTimeout is how long a client may take for an answer of JSON: as long, it is kept in memory. Streams and recordings are
// not.
const takeTimeout = time.Minute

// mustBeTaken says by when a client must have taken what is written. A writer that knows no deadlines has none.
func (w *answerWriter) mustBeTaken(until time.Time) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(until)
}

// WriteHeader remembers the first final status. A 401 says how to do better (RFC 9110, section 15.5.2).
func (w *answerWriter) WriteHeader(status int) {
	if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		w.mustBeTaken(time.Now().Add(takeTimeout))
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends the header with 200 when nothing else did.
func (w *answerWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
