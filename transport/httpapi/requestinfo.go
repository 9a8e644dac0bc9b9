package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// requestInfo holds the data about a request. The outermost handler puts it into the context; inner handlers fill it.
type requestInfo struct {
	api       *API
	id        string
	head      bool   // its method is HEAD: the answer has no body
	area      *Area  // nil when no operation fits
	operation string // its generated name; empty when no operation fits
	route     string // its path with the parameters' names; log lines have it in place of the path, which may hold a secret
	principal callwright.Principal
	client    Client
	ids       []slog.Attr // ids of the objects of the request
	failure   error       // for the log: the error behind the answer
	ignored   []Ignored   // members of the body

	authorize func(ctx context.Context) error // whether the request would be allowed now; nil before it was
}

type requestInfoKey struct{}

// infoOf returns the data about the request of a context; empty for a context without a request.
func infoOf(ctx context.Context) *requestInfo {
	if info, ok := ctx.Value(requestInfoKey{}).(*requestInfo); ok {
		return info
	}
	return new(requestInfo)
}

// Principal returns the principal of the request of a context.
func Principal(ctx context.Context) callwright.Principal { return infoOf(ctx).principal }

// Org returns the organization of the principal of a request.
func Org(ctx context.Context) callwright.OrgID { return infoOf(ctx).principal.Org }

// Client is the program that makes a request.
type Client struct {
	Address   string // of it, or of the last proxy
	UserAgent string // as it calls itself
}

// ClientOf returns the client of the request of a context.
func ClientOf(ctx context.Context) Client { return infoOf(ctx).client }

// Head reports whether the request of a context is HEAD, which is served as GET. Only writers of streams need it: they end after
// the header.
func Head(ctx context.Context) bool { return infoOf(ctx).head }

// LogFailure adds an error to the log line of the request: of a stream, which cannot answer with it any more.
func LogFailure(ctx context.Context, err error) { infoOf(ctx).failure = err }

// LogID adds the id of an object that the request has changed to its log line, as name. The ids in the path of a change are written
// anyway. Ids beyond maxIDs are omitted, and all of a request that is refused: it may name anything.
func LogID(ctx context.Context, name, id string) {
	if info := infoOf(ctx); id != "" && len(info.ids) < maxIDs {
		info.ids = append(info.ids, slog.String(name, callwright.Clip(strings.ToValidUTF8(id, ""), maxLoggedID)))
	}
}

// The bounds of the ids in a log line.
const (
	maxIDs      = 20
	maxLoggedID = 128 // bytes
)

// StillAuthorized returns an error when the request of a context would be refused now: its key was revoked or has expired, or
// its organization has lost an entitlement. Long answers, such as streams, call it from time to time.
func StillAuthorized(ctx context.Context) error {
	if again := infoOf(ctx).authorize; again != nil {
		return again(ctx)
	}
	return nil
}

// requestIDHeader carries the request's id both ways.
const requestIDHeader = "X-Request-ID"

// goodID matches the request ids of callers that may stand in headers and logs.
var goodID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// ServeHTTP answers every request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info := &requestInfo{
		api: a, id: r.Header.Get(requestIDHeader), head: r.Method == http.MethodHead, client: Client{clientOf(r), r.UserAgent()},
	}
	if !goodID.MatchString(info.id) {
		info.id = a.cfg.IDs.New()
	}
	w.Header().Set(requestIDHeader, info.id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
		// It may have had a Content-Length as well, which net/http removes. A proxy that goes by that sees other requests in
		// the following bytes, so nothing may follow (RFC 9112, section 6.1).
		w.Header().Set("Connection", "close")
	}
	ctx := context.WithValue(r.Context(), requestInfoKey{}, info)
	answer := &answerWriter{ResponseWriter: w}
	answer.mustBeTaken(time.Time{}) // not by when the one before had to be, over the same connection
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		answer.asked = newTimedBody(w, r)
		r.Body = answer.asked
	}
	begin := time.Now()
	defer func() {
		cause := recover()
		aborted := cause == http.ErrAbortHandler //nolint:errorlint // a sentinel that is thrown, not wrapped
		if cause != nil && !aborted {
			a.answerPanic(ctx, answer, cause)
		}
		a.log(ctx, r, answer.status, time.Since(begin))
		if aborted { // net/http breaks the connection
			panic(cause)
		}
	}()
	a.route(answer, r)
}

// statusClientGone is the logged status of a request whose client went before the answer. It is never sent.
const statusClientGone = 499

// log writes the log line of one request.
func (a *API) log(ctx context.Context, r *http.Request, status int, took time.Duration) {
	info := infoOf(ctx)
	level := slog.LevelInfo
	switch {
	case ctx.Err() != nil && errors.Is(info.failure, context.Canceled):
		status = statusClientGone
	case probe(r.URL.Path):
		level = slog.LevelDebug
	case status >= http.StatusInternalServerError && status != http.StatusNotImplemented:
		level = slog.LevelError
	}
	attrs := []slog.Attr{
		slog.String("request_id", info.id), slog.String("client", info.client.Address), slog.String("method", r.Method), slog.String("route", info.route),
		slog.String("operation", info.operation), slog.Int("status", status), slog.Duration("took", took),
	}
	if info.principal.Org != "" {
		attrs = append(attrs, slog.String("org", string(info.principal.Org)), slog.String("key", info.principal.KeyID))
	}
	if len(info.ids) > 0 && status < http.StatusBadRequest {
		attrs = append(attrs, slog.GroupAttrs("ids", info.ids...))
	}
	if info.failure != nil {
		attrs = append(attrs, slog.String("error", describe(info.failure)))
	}
	write := func() { a.cfg.Logger.LogAttrs(ctx, level, "request", attrs...) }
	if level == slog.LevelInfo && info.unauthenticated(status) {
		a.unauthenticatedLog.Visit(info.client.Address, write)
		return
	}
	write()
}

// unauthenticated reports whether a request was made without a key that is good for something, and not with a link that is.
func (i *requestInfo) unauthenticated(status int) bool {
	return i.principal.Org == "" && (i.area == nil || status >= http.StatusBadRequest)
}

// probe reports whether a path is asked again and again by the machines of the operator.
func probe(path string) bool { return path == "/healthz" || path == "/readyz" || path == "/metrics" }

// clientOf returns the address that a request came from: the client's or the last proxy's.
func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// answerWriter records the status, and limits the time of the client.
type answerWriter struct {
	http.ResponseWriter
	asked  *timedBody // the body of the request; nil without one
	status int
}

// takeTimeout limits the time in which a client must read one write: an answer of JSON, which stays in memory
// meanwhile, or a part of a file. Streams of events have their own limit.
const takeTimeout = time.Minute

// mustBeTaken sets the time by which a client must have read the written bytes. It does nothing for a writer without deadlines.
func (w *answerWriter) mustBeTaken(until time.Time) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(until)
}

// WriteHeader remembers the first final status. A 401 names the authentication scheme (RFC 9110, section 15.5.2).
func (w *answerWriter) WriteHeader(status int) {
	if w.asked != nil {
		w.asked.leave()
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
		w.WriteHeader(http.StatusOK)
	}
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		w.mustBeTaken(time.Now().Add(takeTimeout))
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
