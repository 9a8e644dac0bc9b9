package httpapi

import (
	"net/http"
	"strings"

	swagger "github.com/swaggo/files/v2"

	"github.com/callwright/callwright"
)

// route chooses between the operational pages and the contract.
func (a *api) route(w http.ResponseWriter, r *http.Request) {
	x := exchangeOf(r.Context())
	page := a.page(r.URL.Path)
	if page == nil {
		a.serveContract(w, r)
		return
	}
	x.route = r.URL.Path
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		a.methodNotAllowed(w, r, "GET, HEAD")
		return
	}
	page(w, r)
}

// page is the handler of an operational page, nil for any other path.
func (a *api) page(path string) http.HandlerFunc {
	switch path {
	case "/healthz":
		return func(w http.ResponseWriter, _ *http.Request) { writeText(w, "text/plain", "ok\n") }
	case "/readyz":
		return a.serveReady
	case "/metrics":
		return a.Metrics.ServeHTTP
	case "/openapi.yaml":
		return func(w http.ResponseWriter, _ *http.Request) { writeText(w, "application/yaml", callwright.OpenAPI) }
	case "/docs":
		return func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/docs/", http.StatusMovedPermanently)
		}
	}
	if name, ok := strings.CutPrefix(path, "/docs/"); ok {
		return a.reference(name)
	}
	return nil
}

// serveReady says whether this node wants requests.
func (a *api) serveReady(w http.ResponseWriter, r *http.Request) {
	if err := a.Ready(r.Context()); err != nil {
		a.fail(w, r, callwright.Errorf(callwright.CodeUnavailable, "not ready").Because(err))
		return
	}
	writeText(w, "text/plain", "ready\n")
}

// serveContract hands the request to the generated server.
func (a *api) serveContract(w http.ResponseWriter, r *http.Request) {
	x := exchangeOf(r.Context())
	if found, ok := a.contract.FindPath(r.Method, r.URL); ok {
		x.operation, x.area, x.route = found.Name(), found.OperationGroup(), found.PathPattern()
	}
	if len(r.Header.Values("Authorization")) > 1 {
		r.Header.Del("Authorization") // which of them counts is not for us to guess
	}
	r.Body = guard(w, r)
	a.contract.ServeHTTP(w, r)
}

// The API reference: a page of ours around the viewer's script and style sheet.
const (
	referencePage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Callwright API reference</title>
<link rel="stylesheet" href="swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="swagger-ui-bundle.js"></script>
<script src="start.js"></script>
</body>
</html>
`
	referenceStart = `SwaggerUIBundle({url: "/openapi.yaml", dom_id: "#reference", deepLinking: true});
`
	referencePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// reference is the handler of one file of the API reference, nil for a name that it has not.
func (a *api) reference(name string) http.HandlerFunc {
	switch name {
	case "":
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Security-Policy", referencePolicy)
			writeText(w, "text/html", referencePage)
		}
	case "start.js":
		return func(w http.ResponseWriter, _ *http.Request) { writeText(w, "text/javascript", referenceStart) }
	case "swagger-ui.css", "swagger-ui-bundle.js":
		return func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, swagger.FS, name) } //nolint:gosec // one of two names
	}
	return nil
}

func writeText(w http.ResponseWriter, contentType, text string) {
	w.Header().Set("Content-Type", contentType+"; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write([]byte(text)) // the client has gone if this fails
}
