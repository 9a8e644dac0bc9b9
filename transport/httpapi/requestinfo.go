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

// requestInfo holds the state of a request. The outermost handler puts it into the context, and inner handlers fill it in.
type requestInfo struct {
	api       *API
	id        string
	head      bool   // the method is HEAD: the answer has no body
	area      *Area  // nil if no operation matches
	operation string // generated name of the operation; empty if none matches
	route     string // path with parameter names; logged in place of the path, which may contain a secret
	principal callwright.Principal
	client    Client
	ids       []slog.Attr // ids of changed objects, for the log
	failure   error       // cause of the answer, for the log
	ignored   []Ignored   // members of the body without effect

	authorize func(ctx context.Context) error // repeats the authorization; nil before the first one
}

type requestInfoKey struct{}

// infoOf returns the requestInfo of a context, or an empty one if the context belongs to no request.
func infoOf(ctx context.Context) *requestInfo {
	if info, ok := ctx.Value(requestInfoKey{}).(*requestInfo); ok {
		return info
	}
	return new(requestInfo)
}

// Principal returns the authenticated principal of ctx's request. It is zero for a request without a valid key.
func Principal(ctx context.Context) callwright.Principal { return infoOf(ctx).principal }

// Org returns the organization of the principal of ctx's request.
func Org(ctx context.Context) callwright.OrgID { return infoOf(ctx).principal.Org }

// Client identifies the program that makes a request.
type Client struct {
	Address   string // address of the client, or of the last untrusted hop
	UserAgent string // as sent by the client
}

// ClientOf returns the client of ctx's request.
func ClientOf(ctx context.Context) Client { return infoOf(ctx).client }

// Head reports whether the method of ctx's request is HEAD, which is served as GET. Handlers that write the body themselves use it to send
// only the header.
func Head(ctx context.Context) bool { return infoOf(ctx).head }

// LogFailure adds an error to the log line of ctx's request. Streams use it, because they cannot answer with an error after they have
// begun.
func LogFailure(ctx context.Context, err error) { infoOf(ctx).failure = err }

// LogID adds the id of a changed object to the log line of ctx's request, under a name. The ids in the path of a change are logged anyway.
// Ids beyond maxIDs are omitted. If the request is refused, all ids are omitted, because it may name any object.
func LogID(ctx context.Context, name, id string) {
	if info := infoOf(ctx); id != "" && len(info.ids) < maxIDs {
		info.ids = append(info.ids, slog.String(name, callwright.Clip(strings.ToValidUTF8(id, ""), maxLoggedID)))
	}
}

// Limits of the ids in a log line.
const (
	maxIDs      = 20
	maxLoggedID = 128 // length of an id, in bytes
)

// StillAuthorized returns an error if ctx's request would now be refused, because its key was revoked or has expired or its organization
// has lost an entitlement. Long answers, such as streams, must call it regularly.
func StillAuthorized(ctx context.Context) error {
	if again := infoOf(ctx).authorize; again != nil {
		return again(ctx)
	}
	return nil
}

// requestIDHeader contains the request's id, in requests and in answers.
const requestIDHeader = "X-Request-ID"

// goodID matches the request ids that are accepted from clients. Any other id is replaced, because ids appear in headers and logs.
var goodID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// ServeHTTP serves a request to an area or an operational page. It assigns a request id, recovers panics and writes the log line.
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
		// The request may also have had a Content-Length, which net/http removes. A proxy that uses that length would read the following
		// bytes as another request, so the connection must close (RFC 9112, section 6.1).
		w.Header().Set("Connection", "close")
	}
	ctx := context.WithValue(r.Context(), requestInfoKey{}, info)
	answer := &answerWriter{ResponseWriter: w}
	answer.mustBeTaken(time.Time{}) // removes the deadline of the previous answer on the connection
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
		if aborted { // net/http then aborts the connection
			panic(cause)
		}
	}()
	a.route(answer, r)
}

// statusClientGone is the logged status of a request whose client disconnected before the answer. It is never sent.
const statusClientGone = 499

// log writes the log line of a request. Except for server errors and probes, requests without a valid key or link are logged only once per
// address and period.
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

// unauthenticated reports whether a request has neither a valid key nor a valid link.
func (i *requestInfo) unauthenticated(status int) bool {
	return i.principal.Org == "" && (i.area == nil || status >= http.StatusBadRequest)
}

// probe reports whether a path is polled by the operator's monitoring, and is therefore logged at debug level.
func probe(path string) bool { return path == "/healthz" || path == "/readyz" || path == "/metrics" }

// clientOf returns the address that a request came from, without its port.
func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// answerWriter records the status of an answer, and limits how long the client may take to read it.
type answerWriter struct {
	http.ResponseWriter
	asked  *timedBody // body of the request; nil without one
	status int
}

// takeTimeout is the time in which a client must read one write: a JSON answer, which stays in memory until then, or a part of a file.
// Event streams have their own limit.
const takeTimeout = time.Minute

// mustBeTaken sets the time by which the client must have read the written bytes. It has no effect on a writer without deadlines.
func (w *answerWriter) mustBeTaken(until time.Time) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(until)
}

// WriteHeader sends the header and records the first final status. A 401 names the authentication scheme (RFC 9110, section 15.5.2).
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

// Write writes a part of the body. The client must read it within takeTimeout, unless the answer is an event stream, which has its own
// limit. The first Write sends a header with status 200 unless WriteHeader was called.
func (w *answerWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		w.mustBeTaken(time.Now().Add(takeTimeout))
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
