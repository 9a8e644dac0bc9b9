package httpapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/callwright/callwright"
)

// route serves an operational page or an operation of the contract.
func (a *API) route(w *answerWriter, r *http.Request) {
	if r.Method == http.MethodConnect { // this is no proxy
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

// Serves reports whether a path is of the contract, or of an operational page: a program that serves other things on the same port gives
// those to an API.
func Serves(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/loa/") || operational(path)
}

// FromProgram reports whether a program makes a request, and no browser that shows pages: it asks for JSON or sends a key, and
// does not ask for pages.
func FromProgram(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return !strings.Contains(accept, "text/html") && (r.Header.Get("Authorization") != "" || strings.Contains(accept, "application/json"))
}

// operational reports whether a path is of an operational page.
func operational(path string) bool {
	switch path {
	case "/healthz", "/readyz", "/metrics", "/openapi.yaml", "/docs":
		return true
	}
	return strings.HasPrefix(path, "/docs/")
}

// page returns the handler of an operational page; nil for any other path.
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

// ErrStopping is the cause of an error of Config.Ready (callwright.Error.Because) that the node is being stopped in order: no
// action is needed, and it is not logged.
var ErrStopping = errors.New("httpapi: the node is being stopped")

// serveReady reports whether this node takes requests.
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
	_, _ = w.Write([]byte(text)) // the client has gone if this fails
}
