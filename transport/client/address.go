package client

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/callwright/callwright"
)

// baseField is the Field of errors about Config.BaseURL.
const baseField = "base_url"

// parseBase parses and validates the address of a server, and removes slashes at its end. It refuses http to another machine unless
// allowHTTP is set.
func parseBase(text string, allowHTTP bool) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "" {
		return nil, callwright.Invalid(baseField, "must be an address such as https://api.example.com: check %s", BaseVariable)
	}
	switch {
	case u.User != nil:
		return nil, callwright.Invalid(baseField, "must not contain a user name or password")
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return nil, callwright.Invalid(baseField, "must not contain a query or a fragment")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, callwright.Invalid(baseField, "must begin with https:// or http://")
	case u.Scheme == "http" && !loopback(u.Hostname()) && !allowHTTP:
		return nil, callwright.Invalid(baseField, "http would send the API key unencrypted to %s: use https, or allow http explicitly", u.Hostname())
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// loopback reports whether a host is localhost or a loopback address.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// Path joins segments to the path of a request. It escapes them, so that an id cannot change the path: Path("v1", "voices", "a/b") is
// /v1/voices/a%2Fb.
func Path(segments ...string) string {
	var path strings.Builder
	for _, s := range segments {
		path.WriteString("/" + url.PathEscape(s))
	}
	return path.String()
}

// maxPath is the maximum length of a request's path, in bytes.
const maxPath = 4096

// checkPath refuses a path that a server may interpret as another path, such as a path with "..".
func checkPath(path string) error {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?#\\") || len(path) > maxPath {
		return callwright.Invalid("path", "must be an escaped path such as /v1/voices, without a query, of at most %d bytes", maxPath)
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		plain, err := url.PathUnescape(segment)
		switch {
		case err != nil:
			return callwright.Invalid("path", "must be escaped: a %% must be followed by two hexadecimal digits")
		case plain == "" || plain == "." || plain == "..":
			return callwright.Invalid("path", "must not have an empty segment, nor the segments . and ..: an id may be missing")
		}
	}
	return nil
}

// maxID is the maximum length of an id or a name in a path, in characters.
const maxID = 128

// checkID returns CodeBadRequest with the given field if an id cannot be a segment of a path.
func checkID(field, id string) error {
	if id == "" || id == "." || id == ".." || callwright.Longer(id, maxID) {
		return callwright.Invalid(field, "must be an id or a name of 1 to %d characters, other than . and ..", maxID)
	}
	return nil
}

// maxRedirects is the maximum number of redirects of a download.
const maxRedirects = 5

// httpClients returns a client for the API and a client for downloads, which share connections. Downloads follow redirects, and send no
// cookies.
func httpClients(given *http.Client, base *url.URL) (api, loader *http.Client) {
	var own http.Client
	if given != nil {
		own = *given
	} else if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.MaxIdleConnsPerHost = 16
		t.MaxResponseHeaderBytes = 64 << 10
		own.Transport = t
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	download := own
	download.Jar = nil
	download.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return callwright.Errorf(callwright.CodeUnavailable, "the audio's address redirects more than %d times", maxRedirects)
		}
		return checkLink(r.URL, base)
	}
	return &own, &download
}

// checkLink refuses a link to audio that is not http or https, contains a user, or uses http although the server uses https.
func checkLink(link, base *url.URL) error {
	switch {
	case link.Host == "" || link.Scheme != "https" && link.Scheme != "http":
		return callwright.Invalid("url", "must be an address that begins with https:// or http://")
	case link.User != nil:
		return callwright.Invalid("url", "must not contain a user name or password: the audio is not downloaded")
	case link.Scheme == "http" && base.Scheme == "https":
		return callwright.Invalid("url", "must begin with https://, because the server's address does: the audio is not downloaded")
	}
	return nil
}
