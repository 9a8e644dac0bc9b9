package httpapi

import (
	"net/http"
	"net/url"
	"strings"
)

// otherPaths are paths under which clients of other servers know operations. docs/compatibility.md lists them.
var otherPaths = []struct{ method, path, known string }{
	{"", "/v1/convo_pathway", "/v1/pathway"},
	{http.MethodPost, "/v1/agent-testing/scenarios/generate", "/v1/agent-testing/scenarios/generate-from-call"},
}

// withKnownPath returns a URL with the path of the contract in place of another one. A path without a method stands for all that
// begin with it.
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
