package httpapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/callwright/callwright"
)

// route serves an operational page or an operation of the contract.
func (a *API) route(w *answerWriter, r *http.Request) {
	if r.Method == http.MethodConnect { // the API is not a proxy
		methodNotAllowed(w, r, strings.Join(methods, ","))
		return
	}
	page := a.page(r.URL.Path)
	if page == nil {
		a.serveContract(w, r)
		return
	}
	infoOf(r.Context()).route = r.URL.Path
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		methodNotAllowed(w, r, http.MethodGet)
		return
	}
	page(w, r)
}

// Serves reports whether a path belongs to the contract or to an operational page. A program that serves other pages on the same port
// passes requests for these paths to an API.
func Serves(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/loa/") || operational(path)
}

// FromProgram reports whether a program makes a request, rather than a browser that shows pages. Such a request accepts JSON or sends a
// key, and does not accept HTML.
func FromProgram(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return !strings.Contains(accept, "text/html") && (r.Header.Get("Authorization") != "" || strings.Contains(accept, "application/json"))
}

// operational reports whether a path belongs to an operational page.
func operational(path string) bool {
	switch path {
	case "/healthz", "/readyz", "/metrics", "/openapi.yaml", "/docs":
		return true
	}
	return strings.HasPrefix(path, "/docs/")
}

// page returns the handler of an operational page, or nil for any other path.
func (a *API) page(path string) http.HandlerFunc {
	if !operational(path) {
		return nil
	}
	switch path {
	case "/healthz":
		return func(w http.ResponseWriter, _ *http.Request) { writeText(w, "text/plain", "ok\n") }
	case "/readyz":
		return a.serveReady
	case "/metrics":
		return a.cfg.Metrics.ServeHTTP
	}
	return a.cfg.Reference.ServeHTTP
}

// ErrStopping is the cause (callwright.Error.Because) of an error of Config.Ready while the node is being stopped on purpose. The API does
// not log such an error, because no action is required.
var ErrStopping = errors.New("httpapi: the node is being stopped")

// serveReady answers whether this node is ready, with its warnings. It logs when the node becomes unready, unless the cause is ErrStopping.
func (a *API) serveReady(w http.ResponseWriter, r *http.Request) {
	err := a.cfg.Ready(r.Context())
	if !errors.Is(err, ErrStopping) {
		a.notReady.Note(r.Context(), a.cfg.Logger, "the node is not ready", err)
	}
	if err != nil {
		fail(w, r, callwright.Errorf(callwright.CodeUnavailable, "not ready: %s", callwright.MessageOf(err)).Because(err))
		return
	}
	var text strings.Builder
	text.WriteString("ready\n")
	for _, warning := range a.cfg.Warnings() {
		text.WriteString("warning: " + warning + "\n")
	}
	writeText(w, "text/plain", text.String())
}

func writeText(w http.ResponseWriter, contentType, text string) {
	w.Header().Set("Content-Type", contentType+"; charset=utf-8")
	_, _ = w.Write([]byte(text)) // fails only if the client has disconnected
}
