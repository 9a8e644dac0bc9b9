package httpapi

import (
	"net/http"
	"strings"

	"github.com/callwright/callwright"
)

// route serves an operational page or an operation of the contract.
func (a *API) route(w *answerWriter, r *http.Request) {
	page := a.page(r.URL.Path)
	if page == nil {
		a.serveContract(w, r)
		return
	}
	infoOf(r.Context()).route = r.URL.Path
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		MethodNotAllowed(w, r, http.MethodGet)
		return
	}
	page(w, r)
}

// page returns the handler of an operational page; nil for any other path.
func (a *API) page(path string) http.HandlerFunc {
	switch path {
	case "/healthz":
		return func(w http.ResponseWriter, _ *http.Request) { writeText(w, "text/plain", "ok\n") }
	case "/readyz":
		return a.serveReady
	case "/metrics":
		return a.cfg.Metrics.ServeHTTP
	}
	if path == "/openapi.yaml" || path == "/docs" || strings.HasPrefix(path, "/docs/") {
		return a.cfg.Reference.ServeHTTP
	}
	return nil
}

// serveReady reports whether this node takes requests.
func (a *API) serveReady(w http.ResponseWriter, r *http.Request) {
	if err := a.cfg.Ready(r.Context()); err != nil {
		fail(w, r, callwright.Errorf(callwright.CodeUnavailable, "not ready: %s", callwright.MessageOf(err)).Because(err))
		return
	}
	writeText(w, "text/plain", "ready\n")
}

func writeText(w http.ResponseWriter, contentType, text string) {
	w.Header().Set("Content-Type", contentType+"; charset=utf-8")
	_, _ = w.Write([]byte(text)) // the client has gone if this fails
}
