// Package reference serves the contract, openapi.yaml, as text and as pages to read and try it. It is a package of its own
// because the pages' script is several megabytes.
package reference

import (
	"net/http"
	"strconv"
	"strings"

	swagger "github.com/swaggo/files/v2"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
)

// The page is ours; it loads the viewer's script and style sheet.
const (
	page = `<!doctype html>
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
	start = `SwaggerUIBundle({url: "openapi.yaml", dom_id: "#reference", deepLinking: true});
`
	policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// Handler returns a handler of /openapi.yaml, /docs and paths below /docs/: see httpapi.Config.Reference. publicURL is the
// public URL of the API, such as "https://voice.example.com", for the servers of the contract; when it is empty,
// the contract names the address that it is read at. The pages send their requests to the address that they are opened at.
func Handler(publicURL string) http.Handler {
	served, ofPage := withServer(callwright.OpenAPI, publicURL), withServer(callwright.OpenAPI, "..")
	if publicURL == "" {
		served = withServer(callwright.OpenAPI, "/")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/docs" {
			w.Header().Set("Location", "docs/") // relative, so that it holds behind a proxy that adds a prefix
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		switch name := strings.TrimPrefix(r.URL.Path, "/docs/"); name {
		case "/openapi.yaml":
			writeText(w, "application/yaml", served)
		case "openapi.yaml":
			writeText(w, "application/yaml", ofPage)
		case "":
			w.Header().Set("Content-Security-Policy", policy)
			writeText(w, "text/html", page)
		case "start.js":
			writeText(w, "text/javascript", start)
		case "swagger-ui.css", "swagger-ui-bundle.js":
			http.ServeFileFS(w, r, swagger.FS, name) //nolint:gosec // one of two names
		default:
			httpapi.NotFound(w, r)
		}
	})
}

// withServer returns the contract with one server in place of its own.
func withServer(contract, url string) string {
	before, rest, _ := strings.Cut(contract, "\nservers:\n")
	_, after, _ := strings.Cut(rest, "\ntags:\n")
	return before + "\nservers:\n  - url: " + strconv.Quote(url) + "\ntags:\n" + after
}

func writeText(w http.ResponseWriter, contentType, text string) {
	w.Header().Set("Content-Type", contentType+"; charset=utf-8")
	_, _ = w.Write([]byte(text)) // the client has gone if this fails
}
