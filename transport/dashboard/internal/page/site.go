package page

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// Authenticator returns the principal of a request. It equals httpapi.Authenticator: see there.
type Authenticator interface {
	Authenticate(r *http.Request) (callwright.Principal, error)
}

// Sessions signs people in by their API keys. access.Service does.
type Sessions interface {
	// SignIn begins a session; CodeAuthFailure when the key is not in force. The token is known to the browser alone.
	SignIn(ctx context.Context, key string) (token string, s callwright.Session, err error)
	// Session returns a session and its principal; CodeAuthFailure when the session has ended.
	Session(ctx context.Context, token string) (callwright.Principal, callwright.Session, error)
	// SignOut ends a session, if there is one.
	SignOut(ctx context.Context, token string) error
	// Watch returns a channel that holds a value as soon as this server has ended a session or its key, for any reason. It may
	// also hold one while both are still valid: call Session for the current state. The caller calls stop, once.
	Watch(s callwright.Session) (ended <-chan struct{}, stop func())
}

// Config configures a Site.
type Config struct {
	Areas         []Area
	Sessions      Sessions      `required:"without Authenticator"` // signs people in at /login; nil: Authenticator authenticates them
	SignInHint    string        // where people find their keys, for the sign-in; empty: nothing is said
	Authenticator Authenticator // of the embedding program; nil: Sessions
	Prefix        string        // below which the pages are, such as "/ops"; empty: at the root
	Secure        bool          // browsers reach the site over TLS, if only through a proxy: cookies are Secure
	Streams       int           // live pages that may be open concurrently; 0: 2000
	OrgStreams    int           // of one organization; 0: 1000

	callwright.Runtime // its IDs are of requests
}

// Site serves the pages of areas.
type Site struct {
	cfg      Config
	mux      *http.ServeMux
	cross    *http.CrossOriginProtection
	themes   *templates
	watchers *watchers
	room     *room

	strangers callwright.UnauthenticatedLog
}

// Limits of requests, in addition to the ones in room.go.
const (
	answerTimeout = 30 * time.Second // for a browser to take a page
	maxAddress    = 4 << 10          // bytes of a path with its query
	maxNext       = 1 << 10          // and of one to which the sign-in leads: each may become three there
	maxSignIn     = 4 << 10          // bytes of a form from a browser without a session
)

// goodPrefix matches prefixes.
var goodPrefix = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*$`)

// New checks the configuration and parses the templates.
func New(c Config) (*Site, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	switch {
	case c.Sessions != nil && c.Authenticator != nil:
		return nil, errors.New("dashboard: Config.Sessions and Config.Authenticator exclude each other")
	case !goodPrefix.MatchString(c.Prefix):
		return nil, errors.New(`dashboard: Config.Prefix must be empty, or like "/ops"`)
	}
	if c.Streams == 0 {
		c.Streams = 2000
	}
	if c.OrgStreams == 0 {
		c.OrgStreams = 1000
	}
	themes, err := parse(c)
	if err != nil {
		return nil, err
	}
	s := &Site{
		cfg: c, mux: http.NewServeMux(), cross: http.NewCrossOriginProtection(), themes: themes,
		room: newRoom(),
	}
	s.strangers.Logger = c.Logger
	s.watchers = newWatchers(s)
	s.routes()
	return s, nil
}

// Close ends the live pages and waits until nothing is rendered for them any more, or until the context ends. Browsers reconnect.
func (s *Site) Close(ctx context.Context) error { return s.watchers.close(ctx) }

// routes mounts the pages of the areas, and this package's own.
func (s *Site) routes() {
	s.mux.HandleFunc("GET /static/{hash}/{name}", serveStatic)
	var own []Route
	if s.cfg.Sessions != nil {
		own = []Route{
			{Pattern: "GET /login", Serve: s.showLogin}, {Pattern: "POST /login", MaxBody: maxSignIn, Serve: s.signIn},
			{Pattern: "POST /logout", MaxBody: maxSignIn, Serve: s.signOut},
		}
	}
	for _, route := range own {
		s.mux.HandleFunc(route.Pattern, s.page(route, nil))
	}
	for i := range s.cfg.Areas {
		for _, route := range s.cfg.Areas[i].Routes {
			s.mux.HandleFunc(route.Pattern, s.page(route, &s.cfg.Areas[i]))
		}
	}
	s.mux.HandleFunc(absent, s.page(Route{Pattern: absent, Serve: func(context.Context, *Request) (Answer, error) {
		return nil, callwright.NotFound("page")
	}}, new(Area)))
}

// Serves reports whether there is a page, or something else than the page that says that there is none, for a request.
func (s *Site) Serves(r *http.Request) bool {
	path, ok := strings.CutPrefix(r.URL.Path, s.cfg.Prefix)
	if !ok || path == "" {
		return ok
	}
	below := *r
	below.URL = &url.URL{Path: path}
	_, pattern := s.mux.Handler(&below)
	return pattern != "" && pattern != absent
}

// absent is the pattern of every path that no page has.
const absent = "/"

// ServeHTTP answers every request below the prefix.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.secure(w, r)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout)) // a writer without deadlines has none
	path, ok := strings.CutPrefix(r.URL.Path, s.cfg.Prefix)
	if path == "" && ok {
		http.Redirect(w, r, s.cfg.Prefix+"/", http.StatusMovedPermanently)
		return
	}
	if !ok || !strings.HasPrefix(path, "/") {
		http.NotFound(w, r)
		return
	}
	if len(r.RequestURI) > maxAddress {
		http.Error(w, "the address is too long", http.StatusRequestURITooLong)
		return
	}
	http.StripPrefix(s.cfg.Prefix, s.mux).ServeHTTP(w, r)
}
