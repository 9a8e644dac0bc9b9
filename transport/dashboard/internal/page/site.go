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

// Authenticator returns the principal of a request. See httpapi.Authenticator, which has the same method.
type Authenticator interface {
	Authenticate(r *http.Request) (callwright.Principal, error)
}

// Sessions signs users in by their API keys. access.Service implements it.
type Sessions interface {
	// SignIn begins a session. It returns CodeAuthFailure if the key is unknown, revoked or expired. Site stores the token only in the
	// browser.
	SignIn(ctx context.Context, key string) (token string, s callwright.Session, err error)
	// Session returns the session of a token and its principal. It returns CodeAuthFailure if the session has ended.
	Session(ctx context.Context, token string) (callwright.Principal, callwright.Session, error)
	// SignOut ends the session of a token. An unknown token is no error.
	SignOut(ctx context.Context, token string) error
	// Watch returns a channel that receives a value as soon as this server has ended the session or its key, for any reason. The channel
	// may also receive a value while both are still valid: call Session for the current state. The caller must call the function stop once.
	Watch(s callwright.Session) (ended <-chan struct{}, stop func())
}

// Config configures a Site. Exactly one of Sessions and Authenticator is required.
type Config struct {
	Areas         []Area
	Sessions      Sessions      `required:"without Authenticator"` // signs users in at /login
	SignInHint    string        // tells users on the sign-in page where to find their keys; may be empty
	Authenticator Authenticator // replaces Sessions in an embedding program
	Prefix        string        // path of the site, such as "/ops"; empty for the root
	Secure        bool          // browsers use TLS, at least to a proxy: sets Secure cookies and HSTS
	Streams       int           // maximum concurrent streams of live pages; default 2000
	OrgStreams    int           // maximum per organization; default 1000

	callwright.Runtime // IDs creates request ids
}

// Site serves the pages of areas, the sign-in and the static files. It is safe for concurrent use. The caller must call Close.
type Site struct {
	cfg      Config
	mux      *http.ServeMux
	cross    *http.CrossOriginProtection
	themes   *templates
	watchers *watchers
	room     *room

	strangers callwright.UnauthenticatedLog
}

// Limits of requests. room.go contains further limits.
const (
	answerTimeout = 30 * time.Second // time limit for sending a page
	maxAddress    = 4 << 10          // bytes of a path and its query
	maxNext       = 1 << 10          // bytes of the URL to return to after the sign-in; escaping may triple them
	maxSignIn     = 4 << 10          // bytes of a sign-in or sign-out form
)

// goodPrefix matches the valid values of Config.Prefix.
var goodPrefix = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*$`)

// New returns a Site. It returns an error if the configuration is invalid or a template cannot be parsed.
func New(c Config) (*Site, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	switch {
	case c.Sessions != nil && c.Authenticator != nil:
		return nil, errors.New("dashboard: Config.Sessions and Config.Authenticator exclude each other: set only one of them")
	case !goodPrefix.MatchString(c.Prefix):
		return nil, errors.New(`dashboard: Config.Prefix must be empty or an unescaped path such as "/ops", without a slash at its end`)
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

// Close ends all streams and waits until their renderings have ended, or until ctx ends. Browsers then try to reconnect.
func (s *Site) Close(ctx context.Context) error { return s.watchers.close(ctx) }

// routes registers the pages of the areas and of this package.
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

// Serves reports whether the site has a page, an action or a file for the method and path of a request. If not, ServeHTTP responds with an
// error.
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

// absent is the pattern of the error page for unknown paths.
const absent = "/"

// ServeHTTP serves every path below Config.Prefix. It redirects Config.Prefix itself to the first page, and answers any other path with
// 404. A path and query of more than maxAddress bytes causes 414.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.secure(w, r)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout)) // not every ResponseWriter supports deadlines
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
