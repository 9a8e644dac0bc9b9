// Package reference serves the contract, openapi.yaml, as text, and pages for reading it and trying requests. It is a separate package
// because the pages' script has several megabytes.
package reference

import (
	"net/http"
	"strconv"
	"strings"

	swagger "github.com/swaggo/files/v2"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
)

// The page is part of this project. It loads the script and the style sheet of Swagger UI, the viewer.
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

// Handler returns a handler for /openapi.yaml, /docs and the paths below /docs/: see httpapi.Config.Reference. The contract names
// publicURL, such as "https://voice.example.com", as its server. If publicURL is empty, the contract names the server from which it is
// read. The pages send their requests to the server from which they are loaded.
func Handler(publicURL string) http.Handler {
	served, ofPage := withServer(callwright.OpenAPI, publicURL), withServer(callwright.OpenAPI, "..")
	if publicURL == "" {
		served = withServer(callwright.OpenAPI, "/")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/docs" {
			w.Header().Set("Location", "docs/") // relative, so that it is valid behind a proxy that adds a prefix
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

// withServer returns the contract with url as its only server.
func withServer(contract, url string) string {
	before, rest, _ := strings.Cut(contract, "\nservers:\n")
	_, after, _ := strings.Cut(rest, "\ntags:\n")
	return before + "\nservers:\n  - url: " + strconv.Quote(url) + "\ntags:\n" + after
}

func writeText(w http.ResponseWriter, contentType, text string) {
	w.Header().Set("Content-Type", contentType+"; charset=utf-8")
	_, _ = w.Write([]byte(text)) // fails only if the client has disconnected
}
