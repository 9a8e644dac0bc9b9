package httpapi

import (
	"net/http"
	"net/url"
	"strings"
)

// otherPaths maps the paths that clients of other servers use to the contract's paths. docs/compatibility.md lists them.
var otherPaths = []struct{ method, path, known string }{
	{"", "/v1/convo_pathway", "/v1/pathway"},
	{http.MethodPost, "/v1/agent-testing/scenarios/generate", "/v1/agent-testing/scenarios/generate-from-call"},
}

// withKnownPath returns the URL with the contract's path in place of another server's path. An entry of otherPaths without a method applies
// to every method, and to all paths below its path.
func withKnownPath(method string, u *url.URL) *url.URL {
	for _, other := range otherPaths {
		rest, ok := strings.CutPrefix(u.Path, other.path)
		if !ok || other.method != "" && (method != other.method || rest != "") || rest != "" && rest[0] != '/' {
			continue
		}
		known := *u
		known.Path = other.known + rest
		if u.RawPath != "" {
			known.RawPath = other.known + strings.TrimPrefix(u.RawPath, other.path)
		}
		return &known
	}
	return u
}
