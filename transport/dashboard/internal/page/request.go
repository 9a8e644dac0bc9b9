package page

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// Request is a request for a page. On the pages of an area, Principal is authenticated and has the area's entitlement.
type Request struct {
	*http.Request
	Principal callwright.Principal
	SessionID string // id of the session; empty with an Authenticator

	area   *Area  // nil for a page of this package
	prefix string // Config.Prefix
	id     string // request id: in the response header, on error pages and in the log
	token  string // session token; may be empty
	form   string // secret of this browser's CSRF tokens
	zone   *time.Location

	leaveOrg func() // releases the slot of the organization; may be nil
}

// Org returns the principal's organization.
func (r *Request) Org() callwright.OrgID { return r.Principal.Org }

// Query returns a query parameter without surrounding white space. It returns "" if the parameter is missing.
func (r *Request) Query(name string) string { return strings.TrimSpace(r.URL.Query().Get(name)) }

// Field returns a field of the form without surrounding white space. It returns "" if the field is missing.
func (r *Request) Field(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }

// Streams reports whether the browser requests the live parts of the page as server-sent events.
func (r *Request) Streams() bool { return strings.Contains(r.Header.Get("Accept"), eventStream) }

// After returns the keyset position after which the list begins, from the query parameter "after". An invalid value causes CodeBadRequest.
func (r *Request) After() (callwright.Keyset, error) {
	k, err := callwright.ParseCursor(r.Query("after"))
	return k, callwright.InField("after", err)
}

// Next returns the query of the next page of a list, with the same filters. It returns "" if k is zero, at the end of the list.
func (r *Request) Next(k callwright.Keyset) string {
	if k.IsZero() {
		return ""
	}
	return r.With("after", k.Cursor())
}

// Below adds Config.Prefix to a path, for links that are not made in a template.
func (r *Request) Below(path string) string { return r.prefix + path }

// With returns the current query with changed parameters, beginning with "?". pairs alternates names and values; an empty value deletes the
// parameter. The parameter "after" is always deleted unless pairs sets it, so that the list begins with its first page.
func (r *Request) With(pairs ...string) string {
	q := r.URL.Query()
	q.Del("after")
	for i := 0; i+1 < len(pairs); i += 2 {
		if q.Del(pairs[i]); pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return "?" + q.Encode()
}

// Sort contains the link of a column heading and the current order, for the template "sorted".
type Sort struct{ Query, Aria, Mark string }

// Sort returns the link that sorts a list by a column. The order is descending, or ascending if the list is already sorted by the column in
// descending order. The link leads to the first page of the list. current reports whether the list is sorted by the column.
func (r *Request) Sort(by string, current, ascending bool) Sort {
	s, order := Sort{}, ""
	switch {
	case current && ascending:
		s = Sort{Aria: "ascending", Mark: "▲"}
	case current:
		s, order = Sort{Aria: "descending", Mark: "▼"}, "asc"
	}
	s.Query = r.With("cursor", "", "sort", by, "order", order)
	return s
}

// page returns the handler of a route. If area is nil, the page needs no session.
func (s *Site) page(route Route, area *Area) http.HandlerFunc {
	return func(w http.ResponseWriter, plain *http.Request) {
		begin := time.Now()
		sent := &recorder{ResponseWriter: w}
		r := &Request{Request: plain, area: area, prefix: s.cfg.Prefix, id: s.cfg.IDs.New(), zone: s.zoneOf(plain)}
		w.Header().Set("X-Request-ID", r.id)
		defer func() {
			if r.leaveOrg != nil {
				r.leaveOrg()
			}
		}()
		err := s.serve(sent, r, route)
		if err != nil {
			s.answerError(sent, r, err)
		}
		s.log(r, route, sent.status, time.Since(begin), err)
	}
}

// serve checks a request and sends the response. If it returns an error, it has sent nothing.
func (s *Site) serve(w *recorder, r *Request, route Route) error {
	if err := s.cross.Check(r.Request); err != nil {
		return callwright.Errorf(callwright.CodeForbidden, "the form was sent by another site: open this page again").Because(err)
	}
	if isNoText(r.URL.Path) {
		return callwright.NotFound("page")
	}
	if err := checkTexts(r.URL.Query()); err != nil {
		return err
	}
	s.knowBrowser(w, r)
	if r.area != nil {
		if err := s.admit(r); err != nil {
			return s.refuse(w, r, err)
		}
		if r.Streams() {
			return s.watchers.serve(w, r, route)
		}
		var err error
		if r.leaveOrg, err = s.room.enterOrg(r.Context(), r.Principal.Org); err != nil {
			return err
		}
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		if err := s.readForm(w, r, route); err != nil {
			return err
		}
		if r.MultipartForm != nil {
			defer func() { _ = r.MultipartForm.RemoveAll() }()
		}
	}
	leave, err := s.room.enter(r.Context(), r.area)
	if err != nil {
		return err
	}
	defer leave()
	w.begin = leave // so that a slow browser does not occupy the slot
	answer, err := route.Serve(r.Context(), r)
	if err != nil {
		return err
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout)) // Serve may have exceeded the first deadline
	return answer.answer(s, w, r)
}

// admit authenticates a request. It returns CodeFeatureNotEnabled if the principal lacks the area's entitlement.
func (s *Site) admit(r *Request) error {
	if err := s.authenticate(r); err != nil {
		return err
	}
	if e := r.area.Entitlement; e != "" && !r.Principal.Entitled(e) {
		return &callwright.Error{
			Code: callwright.CodeFeatureNotEnabled, Message: string(e) + " is not enabled for this organization: ask the operator to enable it",
		}
	}
	return nil
}

// refuse redirects a browser without a session to the sign-in page, which leads back to the URL of a GET request. It returns err if the
// site has no Sessions, if err is not CodeAuthFailure, or for a stream.
func (s *Site) refuse(w http.ResponseWriter, r *Request, err error) error {
	if s.cfg.Sessions == nil || !errors.Is(err, callwright.ErrAuthFailure) {
		return err
	}
	if r.Streams() {
		return err
	}
	next := "/"
	if address := r.URL.RequestURI(); r.Method == http.MethodGet && len(address) <= maxNext {
		next = address
	}
	to := "/login"
	if next != "/" {
		to += "?next=" + url.QueryEscape(next)
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r.Request, s.cfg.Prefix+to, http.StatusSeeOther)
	return nil
}

// log writes the log entry of a request. It contains the pattern of the route, not the URL, whose query may contain personal data. For
// requests without a principal, callwright.UnauthenticatedLog limits the number of entries, except of server errors.
func (s *Site) log(r *Request, route Route, status int, took time.Duration, err error) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("request_id", r.id), slog.String("method", r.Method), slog.String("route", route.Pattern), slog.Int("status", status),
		slog.Duration("took", took), slog.String("client", client(r.Request)),
		slog.String("org", string(r.Principal.Org)), slog.String("key", r.Principal.KeyID),
	}
	if err != nil {
		attrs = append(attrs, slog.Any("error", err), slog.Any("cause", errors.Unwrap(err)))
	}
	switch {
	case status >= http.StatusInternalServerError:
		level = slog.LevelError
	case status == http.StatusUnauthorized && r.Method == http.MethodPost: // may be an attempt to guess keys
		level = slog.LevelWarn
	}
	write := func() { s.cfg.Logger.LogAttrs(context.WithoutCancel(r.Context()), level, "page", attrs...) }
	if level < slog.LevelError && r.Principal.Org == "" {
		s.strangers.Visit(client(r.Request), write)
		return
	}
	write()
}

// client returns the IP address from which a request was sent.
func client(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// recorder records the status of a response.
type recorder struct {
	http.ResponseWriter
	status int
	begin  func() // called before the response is sent; may be nil
}

// note records the first status and then calls the function begin, if set.
func (w *recorder) note(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	if w.begin != nil {
		w.begin()
	}
}

func (w *recorder) WriteHeader(status int) {
	w.note(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	w.note(http.StatusOK)
	return w.ResponseWriter.Write(b)
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
