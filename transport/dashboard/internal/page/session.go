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

// cookieName returns the full name of a cookie. With Config.Secure, the prefix "__Host-" prevents other hosts from setting the cookie (RFC
// 6265bis, section 4.1.3.2).
func (s *Site) cookieName(name string) string {
	if s.cfg.Secure {
		return "__Host-callwright_" + name
	}
	return "callwright_" + name
}

// setCookie sets a cookie that expires after maxAge seconds, or when the browser closes if maxAge is 0. A negative maxAge deletes the
// cookie.
func (s *Site) setCookie(w http.ResponseWriter, name, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where there is TLS: Config.Secure
		Name: s.cookieName(name), Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: s.cfg.Secure, SameSite: http.SameSiteStrictMode,
	})
}

// authenticate authenticates a request and sets its principal. A principal without an organization or a key is also an error.
func (s *Site) authenticate(r *Request) (err error) {
	if s.cfg.Authenticator != nil {
		r.Principal, err = s.cfg.Authenticator.Authenticate(r.Request)
	} else {
		r.Principal, err = s.session(r)
	}
	if err == nil && (r.Principal.Org == "" || r.Principal.KeyID == "") {
		return errors.New("dashboard: the Authenticator must name an organization and a key")
	}
	return err
}

// session returns the principal of the request's session and sets r.SessionID. Without a session token it returns CodeAuthFailure.
func (s *Site) session(r *Request) (callwright.Principal, error) {
	if r.token == "" {
		return callwright.Principal{}, callwright.ErrAuthFailure
	}
	p, session, err := s.cfg.Sessions.Session(r.Context(), r.token)
	r.SessionID = session.ID
	return p, err
}

// watch returns a channel that receives a value when the request's session or its key may have ended: see Sessions.Watch. The channel is
// nil without Sessions. The caller must call the function stop.
func (s *Site) watch(r *Request) (ended <-chan struct{}, stop func()) {
	if s.cfg.Sessions == nil {
		return nil, func() {}
	}
	return s.cfg.Sessions.Watch(callwright.Session{ID: r.SessionID, Org: r.Principal.Org, KeyID: r.Principal.KeyID})
}

// login contains the data of the sign-in page.
type login struct {
	Next   string // path to open after the sign-in
	Hint   string
	Faults Faults
}

func (s *Site) showLogin(_ context.Context, r *Request) (Answer, error) {
	return &View{Page: "login", Title: "Sign in", Data: login{Next: local(r.Query("next")), Hint: s.cfg.SignInHint}}, nil
}

// signIn begins a session with an API key and ends the browser's former session. If the key is refused, it shows the form again.
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
	if r.token != "" { // the browser replaces this token by the new one
		if err := s.cfg.Sessions.SignOut(ctx, r.token); err != nil {
			return nil, err
		}
	}
	r.Principal.Org, r.Principal.KeyID = session.Org, session.KeyID // for Site.log
	return cookied{name: "session", value: token, to: next}, nil
}

// signOut ends the browser's session and deletes its cookie.
func (s *Site) signOut(ctx context.Context, r *Request) (Answer, error) {
	if err := s.cfg.Sessions.SignOut(ctx, r.token); err != nil {
		return nil, err
	}
	return cookied{name: "session", maxAge: -1, to: "/login"}, nil
}

// cookied is a redirect that also sets or deletes a cookie.
type cookied struct {
	name, value string
	maxAge      int
	to          string
}

func (c cookied) answer(s *Site, w http.ResponseWriter, r *Request) error {
	s.setCookie(w, c.name, c.value, c.maxAge)
	return SeeOther{To: c.to}.answer(s, w, r)
}

// local returns address if it is an absolute path of this site, and "/" otherwise, so that the sign-in never redirects to another site.
func local(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") ||
		strings.ContainsAny(address, "\\\r\n\t") {
		return "/"
	}
	return address
}

// maxNotice is the maximum size of a notice in bytes.
const maxNotice = 500

func (a SeeOther) answer(s *Site, w http.ResponseWriter, r *Request) error {
	if a.Notice != "" {
		s.setCookie(w, "notice", url.QueryEscape(callwright.Clip(a.Notice, maxNotice)), 60)
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r.Request, s.cfg.Prefix+a.To, http.StatusSeeOther)
	return nil
}

// popNotice returns the notice of a SeeOther and deletes its cookie. It returns "" if there is none.
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
		r.leaveOrg() // a player may read a recording only as fast as it plays
	}
	w.Header().Set("Cache-Control", "private, no-store")
	c.Send(paced{w, http.NewResponseController(w)}, r.Request)
	return nil
}

func (c Content) close() {
	if c.Close != nil {
		_ = c.Close() // ignored, because nothing was written
	}
}

// paced is a ResponseWriter that extends the write deadline to answerTimeout at each Write, so that a long response does not time out.
type paced struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (w paced) Write(b []byte) (int, error) {
	_ = w.control.SetWriteDeadline(time.Now().Add(answerTimeout)) // not every ResponseWriter supports deadlines
	return w.ResponseWriter.Write(b)
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (w paced) Unwrap() http.ResponseWriter { return w.ResponseWriter }
