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

// Request is a request for a page by a principal that may see it.
type Request struct {
	*http.Request
	Principal callwright.Principal
	SessionID string // in which the request is made; empty with an Authenticator

	area   *Area  // nil: a page of this package
	prefix string // of the site
	id     string // in the answer's header, on error pages and in the log
	token  string // of the session; empty: there is none
	form   string // the secret of this browser's forms
	zone   *time.Location

	leaveOrg func() // gives the place in the organization's share back; nil: there is none
}

// Org is the organization whose pages are shown.
func (r *Request) Org() callwright.OrgID { return r.Principal.Org }

// Query returns a parameter of the address, without spaces around it.
func (r *Request) Query(name string) string { return strings.TrimSpace(r.URL.Query().Get(name)) }

// Field returns a field of the form, without spaces around it.
func (r *Request) Field(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }

// Streams reports whether the browser asks for the live parts of the page, as a stream of events.
func (r *Request) Streams() bool { return strings.Contains(r.Header.Get("Accept"), eventStream) }

// After returns the place in a list after which the page begins; CodeBadRequest when the address holds another thing.
func (r *Request) After() (callwright.Keyset, error) {
	k, err := callwright.ParseCursor(r.Query("after"))
	return k, callwright.InField("after", err)
}

// Next returns the address of the next page of a list, with the same filters; empty at the end of the list.
func (r *Request) Next(k callwright.Keyset) string {
	if k.IsZero() {
		return ""
	}
	return r.With("after", k.Cursor())
}

// Below returns a path below the prefix as browsers know it, for links that no template makes.
func (r *Request) Below(path string) string { return r.prefix + path }

// With returns the query of the address with other values of some parameters, given as name, value, name, value; an empty value takes
// a parameter away. Without "after" among them the list begins anew.
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

// Sort is the link in the head of a column, for the template "sorted".
type Sort struct{ Query, Aria, Mark string }

// Sort returns the link that sorts a list by a column, from the greatest on, and the other way round if the list is sorted so already.
// The list begins anew.
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

// page returns the handler of a route. A nil area is of this package: it needs no session.
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

// serve answers a request. It returns an error if it cannot.
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
	w.begin = leave // a browser that is slow to take the page does not make others wait
	answer, err := route.Serve(r.Context(), r)
	if err != nil {
		return err
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout)) // work such as speech may have taken longer
	return answer.answer(s, w, r)
}

// admit authenticates a request and checks that the principal may see the area.
func (s *Site) admit(r *Request) error {
	if err := s.authenticate(r); err != nil {
		return err
	}
	if e := r.area.Entitlement; e != "" && !r.Principal.Entitled(e) {
		return &callwright.Error{
			Code: callwright.CodeFeatureNotEnabled, Message: string(e) + " is not enabled for this organization: its operator can enable it",
		}
	}
	return nil
}

// refuse redirects a browser without a session to the sign-in, and afterwards back to its address.
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

// log writes the line of a request. Paths contain ids at most. The query may be personal and is omitted.
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
	case status == http.StatusUnauthorized && r.Method == http.MethodPost: // a client guesses keys
		level = slog.LevelWarn
	}
	write := func() { s.cfg.Logger.LogAttrs(context.WithoutCancel(r.Context()), level, "page", attrs...) }
	if level < slog.LevelError && r.Principal.Org == "" {
		s.strangers.Visit(client(r.Request), write)
		return
	}
	write()
}

// client returns the address from which a request comes.
func client(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
	begin  func() // is called before the answer goes out; nil: nothing is
}

// note remembers a status, unless the answer has one.
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

// Unwrap returns the writer below, for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
