package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callwright/callwright"
)

// HTTPConfig configures a Handler.
type HTTPConfig struct {
	Tools Config // zero: useful

	// API returns the API on behalf of a key, which is checked when it is used. It is called for every call of a tool.
	API func(key callwright.Secret) (API, error) `required:"always"`

	// Hosts are the names, without ports, under which the handler may be reached. None: those of this machine, so that a page of
	// another site, whose name was made to point at this machine, is refused.
	Hosts []string
	// Origins are sites, such as https://assistant.example.com, whose pages may call. A page of the same host may always.
	Origins []string

	MaxRequests int // at the same time; 0: 32
}

// The bounds of HTTP. There are no sessions: every request stands for itself.
const (
	defaultRequests = 32
	callLimit       = 3 * time.Minute // of one request
)

// handler checks requests before the protocol sees them.
type handler struct {
	next    http.Handler
	hosts   []string
	origins []string
	rooms   *rooms
}

// NewHandler returns a handler of streamable HTTP. It has no key of its own: requests without one in their Authorization header
// are answered with 401, names of other hosts and pages of other sites with 403, bodies of more than 256 KiB with 413, bodies that do
// not come within 10 seconds with 408, batches of messages with 400, and with 503 what comes while MaxRequests are under way. Half of
// MaxRequests is for one user: an address or, for requests of this machine, such as those of a proxy, a key. All results at once hold
// at most 32 MiB of audio, those of one key 8 MiB; beyond that a result has the link alone.
func NewHandler(c HTTPConfig) (http.Handler, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.MaxRequests < 0 {
		return nil, errors.New("mcp: HTTPConfig.MaxRequests must not be negative")
	}
	server, err := newServer(c.Tools, func(extra *sdk.RequestExtra) (API, error) {
		key := keyOf(header(extra, "Authorization"))
		if key == "" {
			return nil, callwright.ErrAuthFailure
		}
		return c.API(key)
	})
	if err != nil {
		return nil, err
	}
	if c.MaxRequests == 0 {
		c.MaxRequests = defaultRequests
	}
	h := &handler{rooms: newRooms(c.MaxRequests), origins: slices.Clone(c.Origins)}
	for _, host := range c.Hosts {
		h.hosts = append(h.hosts, strings.ToLower(host))
	}
	h.next = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxLine, Logger: c.Tools.Logger,
		PropagateRequestCancellation: true,
		DisableLocalhostProtection:   true, // allowed checks more
	})
	return h, nil
}

// ServeHTTP answers a request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case !h.allowed(r):
		refuse(w, http.StatusForbidden, callwright.CodeForbidden, "this host or this site may not call the tool server")
		return
	case keyOf(r.Header.Get("Authorization")) == "" || len(r.Header.Values("Authorization")) > 1:
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, callwright.CodeAuthFailure, "send the API key in the header Authorization: Bearer KEY")
		return
	}
	h.serve(w, r)
}

// serve has a message answered that may come. It takes one of MaxRequests only when the message is there.
func (h *handler) serve(w http.ResponseWriter, r *http.Request) {
	user := userOf(r)
	body, release, err := h.rooms.receive(w, r, user)
	if err != nil {
		refuseBody(w, err)
		return
	}
	defer release()
	if isBatch(body) {
		refuseBatch(w)
		return
	}
	leave, err := h.rooms.requests.Claim(r.Context(), user, 1)
	if err != nil {
		refuseBusy(w, h.rooms.requests.Busy)
		return
	}
	defer leave()
	audio := &audioRoom{budget: h.rooms.audio, user: keyUser(keyOf(r.Header.Get("Authorization")))}
	defer audio.free()
	ctx, cancel := context.WithTimeout(r.Context(), callLimit)
	defer cancel()
	r = r.WithContext(context.WithValue(ctx, audioRoomKey{}, audio))
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.next.ServeHTTP(w, r)
}

// keyOf returns the key of an Authorization header, with or without the word Bearer; empty: none.
func keyOf(value string) callwright.Secret {
	scheme, key, found := strings.Cut(value, " ")
	switch {
	case !found:
		key = value
		if strings.EqualFold(value, "Bearer") {
			return ""
		}
	case !strings.EqualFold(scheme, "Bearer"):
		return ""
	}
	return callwright.Secret(strings.TrimSpace(key))
}

// allowed reports whether the host that a request names is one of ours, and the site of its page, if there is one, may call.
func (h *handler) allowed(r *http.Request) bool {
	if !h.ours(r.Host) {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	site, err := url.Parse(origin)
	return err == nil && (strings.EqualFold(site.Host, r.Host) && site.Host != "" || slices.Contains(h.origins, origin))
}

// ours reports whether a host, with or without a port, is one under which the handler may be reached.
func (h *handler) ours(host string) bool {
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if len(h.hosts) > 0 {
		return slices.Contains(h.hosts, name)
	}
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.IsLoopback()
}

// refuse answers a request that does not get to the protocol, in the form of the API's errors.
func refuse(w http.ResponseWriter, status int, code callwright.Code, message string) {
	type problem struct {
		Error   callwright.Code `json:"error"`
		Message string          `json:"message"`
	}
	body, err := json.Marshal(struct {
		Data   any       `json:"data"`
		Errors []problem `json:"errors"`
	}{nil, []problem{{code, message}}})
	if err != nil {
		body = nil // the status says enough
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client has gone if this fails
}

// The bounds of connections that Serve takes.
const (
	headerLimit = 10 * time.Second
	bodyLimit   = 10 * time.Second
	idleLimit   = 2 * time.Minute
	drainLimit  = 5 * time.Second
	maxHeader   = 32 << 10
)

// Serve answers requests of a listener until ctx ends, which is no error. Requests that are under way then have 5 seconds. It closes
// the listener.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerLimit, ReadTimeout: headerLimit + bodyLimit, WriteTimeout: headerLimit + bodyLimit + callLimit, IdleTimeout: idleLimit,
		MaxHeaderBytes: maxHeader,
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
	defer cancel()
	if server.Shutdown(drain) != nil {
		_ = server.Close() // the rest is cut off
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
