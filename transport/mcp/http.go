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

// HTTPConfig configures the handler that NewHandler returns.
type HTTPConfig struct {
	Tools Config // the zero value is valid

	// API returns the API that uses a key. The handler calls it for every call of a tool. It need not check the key, because the API checks
	// it.
	API func(key callwright.Secret) (API, error) `required:"always"`

	// Hosts are the names, without ports, under which clients may reach the handler. If empty, only names of this machine are allowed. This
	// refuses pages of another site whose name resolves to this machine (DNS rebinding).
	Hosts []string
	// Origins are the sites, such as https://assistant.example.com, whose pages may call the handler. Pages of the handler's host may
	// always call it.
	Origins []string

	MaxRequests int // concurrent requests; 0 means 32
}

// Limits of the HTTP requests of a handler.
const (
	defaultRequests = 32
	callLimit       = 3 * time.Minute // duration of a request
)

// handler checks requests before the SDK's handler processes them.
type handler struct {
	next    http.Handler
	hosts   []string
	origins []string
	rooms   *rooms
}

// NewHandler returns a handler of streamable HTTP. It holds no key, so each request must carry a key in its Authorization header.
//
// The handler answers 401 for a request without a key, and 403 for other hosts and for pages of other sites. It answers 413 for bodies of
// more than 256 KiB, 408 for bodies that do not arrive within 10 seconds, and 400 for batches of messages. It answers 503 while MaxRequests
// requests are running. A user may occupy at most half of MaxRequests. A user is an address or, for requests from this machine, such as
// those of a proxy, a key.
//
// All concurrent results together contain at most 32 MiB of audio, and the results of a key 8 MiB. Beyond that, a result contains only the
// link.
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
		DisableLocalhostProtection:   true, // allowed is stricter
	})
	return h, nil
}

// ServeHTTP passes a request on if its host and its site are allowed and it carries a key. It does not check whether the key is valid.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case !h.ours(r.Host):
		refuse(w, http.StatusForbidden, callwright.CodeForbidden,
			"the tool server does not serve this host: name the host of its URL, or ask its operator to allow the host (--host)")
		return
	case !h.allowed(r):
		refuse(w, http.StatusForbidden, callwright.CodeForbidden,
			"pages of this site may not call the tool server: ask its operator to allow the site (--origin)")
		return
	case keyOf(r.Header.Get("Authorization")) == "" || len(r.Header.Values("Authorization")) > 1:
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, callwright.CodeAuthFailure, "send the API key in exactly one header Authorization: Bearer KEY")
		return
	}
	h.serve(w, r)
}

// serve receives the body of an allowed request and passes it to the SDK's handler. The request counts toward MaxRequests only after its
// body has been received.
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

// keyOf returns the key in an Authorization header, with or without the scheme Bearer. It returns an empty key for any other scheme.
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

// allowed reports whether a request names an allowed host, and was not sent by a page of a foreign site. Pages of the named host and of the
// allowed sites may send requests.
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

// ours reports whether the handler may be reached under a host, with or without a port.
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

// refuse answers a request that does not reach the SDK's handler, in the envelope of the API's errors.
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
		body = nil // the status suffices
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the client has disconnected
}

// Limits of the connections that Serve accepts.
const (
	headerLimit = 10 * time.Second
	bodyLimit   = 10 * time.Second
	idleLimit   = 2 * time.Minute
	drainLimit  = 5 * time.Second
	maxHeader   = 32 << 10
)

// Serve serves the requests of a listener until ctx ends, and then returns nil. Running requests have 5 more seconds. It closes the
// listener. If the listener fails earlier, it returns the error.
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
		_ = server.Close() // aborts the remaining requests
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
