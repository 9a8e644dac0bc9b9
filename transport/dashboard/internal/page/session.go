package page

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// cookieName returns the name of a cookie. Where there is TLS, browsers keep other hosts and other paths from setting it (RFC 6265bis,
// section 4.1.3.2).
func (s *Site) cookieName(name string) string {
	if s.cfg.Secure {
		return "__Host-callwright_" + name
	}
	return "callwright_" + name
}

// setCookie sets a cookie for as long as the browser runs, or for maxAge seconds; one less than 0 deletes it.
func (s *Site) setCookie(w http.ResponseWriter, name, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where there is TLS: Config.Secure
		Name: s.cookieName(name), Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: s.cfg.Secure, SameSite: http.SameSiteStrictMode,
	})
}

// authenticate sets the principal of a request.
func (s *Site) authenticate(r *Request) (err error) {
	if s.cfg.Authenticator != nil {
		r.Principal, err = s.cfg.Authenticator.Authenticate(r.Request)
	} else {
		r.Principal, err = s.session(r)
	}
	if err == nil && (r.Principal.Org == "" || r.Principal.KeyID == "") {
		return errors.New("dashboard: the Authenticator has named no organization or no key")
	}
	return err
}

// session returns the principal of the session of a request.
func (s *Site) session(r *Request) (callwright.Principal, error) {
	if r.token == "" {
		return callwright.Principal{}, callwright.ErrAuthFailure
	}
	p, session, err := s.cfg.Sessions.Session(r.Context(), r.token)
	r.SessionID = session.ID
	return p, err
}

// watch returns a channel that holds a value when the session of a request or its key may have ended; nil without Sessions.
func (s *Site) watch(r *Request) (ended <-chan struct{}, stop func()) {
	if s.cfg.Sessions == nil {
		return nil, func() {}
	}
	return s.cfg.Sessions.Watch(callwright.Session{ID: r.SessionID, Org: r.Principal.Org, KeyID: r.Principal.KeyID})
}

// login is the page on which people sign in.
type login struct {
	Next   string // where to go afterwards
	Hint   string
	Faults Faults
}

func (s *Site) showLogin(_ context.Context, r *Request) (Answer, error) {
	return &View{Page: "login", Title: "Sign in", Data: login{Next: local(r.Query("next")), Hint: s.cfg.SignInHint}}, nil
}

// signIn begins a session.
func (s *Site) signIn(ctx context.Context, r *Request) (Answer, error) {
	next := local(r.Field("next"))
	token, session, err := s.cfg.Sessions.SignIn(ctx, r.Field("key"))
	if errors.Is(err, callwright.ErrAuthFailure) {
		return &View{Page: "login", Title: "Sign in", Status: http.StatusUnauthorized, Data: login{
			Next: next, Hint: s.cfg.SignInHint, Faults: Faults{"key": "This key is unknown, revoked or expired."},
		}}, nil
	}
	if err != nil {
		return nil, err
	}
	if r.token != "" { // the former session is not used any more
		if err := s.cfg.Sessions.SignOut(ctx, r.token); err != nil {
			return nil, err
		}
	}
	r.Principal.Org, r.Principal.KeyID = session.Org, session.KeyID // for the log
	return cookied{name: "session", value: token, to: next}, nil
}

// signOut ends the session of the browser.
func (s *Site) signOut(ctx context.Context, r *Request) (Answer, error) {
	if err := s.cfg.Sessions.SignOut(ctx, r.token); err != nil {
		return nil, err
	}
	return cookied{name: "session", maxAge: -1, to: "/login"}, nil
}

// cookied is a SeeOther that sets a cookie.
type cookied struct {
	name, value string
	maxAge      int
	to          string
}

func (c cookied) answer(s *Site, w http.ResponseWriter, r *Request) error {
	s.setCookie(w, c.name, c.value, c.maxAge)
	return SeeOther{To: c.to}.answer(s, w, r)
}

// local returns an address of this site, and "/" in place of any other.
func local(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") ||
		strings.ContainsAny(address, "\\\r\n\t") {
		return "/"
	}
	return address
}

// maxNotice is the most characters of a notice.
const maxNotice = 500

func (a SeeOther) answer(s *Site, w http.ResponseWriter, r *Request) error {
	if a.Notice != "" {
		s.setCookie(w, "notice", url.QueryEscape(callwright.Clip(a.Notice, maxNotice)), 60)
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r.Request, s.cfg.Prefix+a.To, http.StatusSeeOther)
	return nil
}

// popNotice returns the notice of the form before, once.
func (s *Site) popNotice(w http.ResponseWriter, r *Request) string {
	c, err := r.Cookie(s.cookieName("notice"))
	if err != nil {
		return ""
	}
	s.setCookie(w, "notice", "", -1)
	text, err := url.QueryUnescape(c.Value)
	if err != nil {
		return ""
	}
	return callwright.Clip(text, maxNotice)
}

func (c Content) answer(_ *Site, w http.ResponseWriter, r *Request) error {
	defer c.close()
	if r.leaveOrg != nil {
		r.leaveOrg() // a player takes a recording as slowly as it plays it
	}
	w.Header().Set("Cache-Control", "private, no-store")
	c.Send(paced{w, http.NewResponseController(w)}, r.Request)
	return nil
}

func (c Content) close() {
	if c.Close != nil {
		_ = c.Close() // it was only read
	}
}

// paced is an answer of which the browser must take each piece in time, however long it takes the whole.
type paced struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (w paced) Write(b []byte) (int, error) {
	_ = w.control.SetWriteDeadline(time.Now().Add(answerTimeout)) // a writer without deadlines has none
	return w.ResponseWriter.Write(b)
}

// Unwrap returns the writer below, for http.ResponseController.
func (w paced) Unwrap() http.ResponseWriter { return w.ResponseWriter }
