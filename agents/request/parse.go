package request

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/template"
)

// Call is a parsed Source. It is immutable, and safe for concurrent use.
type Call struct {
	source  Source
	url     *template.Template
	headers []field
	query   []field
	body    *body // nil if the request sends no body
	paths   []path
}

// field is a header or a query pair whose value may contain variables.
type field struct {
	name  string
	value *template.Template
}

// methods lists the allowed methods.
var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// Parse checks and parses a source. It returns CodeBadRequest for the first invalid field, with the field's name, for example "url",
// "headers[0].value" or "variables[1].path". It does not check that requests to the URL are permitted: see Client.CheckURL.
func (s Source) Parse() (*Call, error) {
	s.Method = strings.ToUpper(s.Method)
	if s.Method == "" {
		s.Method = "GET"
	}
	if !slices.Contains(methods, s.Method) {
		return nil, callwright.Invalid("method", "must be one of %s", strings.Join(methods, ", "))
	}
	if s.Timeout < 0 {
		return nil, callwright.Invalid("timeout", "must not be negative")
	}
	if s.Timeout == 0 {
		s.Timeout = DefaultTimeout
	}
	s.Timeout = min(s.Timeout, LongestTimeout)
	c := &Call{source: s, url: template.Parse(s.URL)}
	for _, part := range []func() error{c.checkURL, c.parseHeaders, c.parseQuery, c.parseBody, c.parsePaths} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Source returns the parsed source with defaults filled in.
func (c *Call) Source() Source { return c.source }

// Templates returns all texts of the request that may contain variables.
func (c *Call) Templates() []*template.Template {
	all := []*template.Template{c.url}
	for _, f := range slices.Concat(c.headers, c.query) {
		all = append(all, f.value)
	}
	if c.body != nil {
		all = append(all, c.body.text)
	}
	return all
}

// checkURL checks that the URL is valid, and that its scheme and host contain no variables.
func (c *Call) checkURL() error {
	const field = "url"
	if callwright.Longer(c.source.URL, maxURL) {
		return callwright.Invalid(field, "must have at most %d characters", maxURL)
	}
	scheme, rest, _ := strings.Cut(c.url.Literals()[0], "://")
	if scheme = strings.ToLower(scheme); scheme != "http" && scheme != "https" {
		return callwright.Invalid(field, "must begin with https:// or http://")
	}
	if len(c.url.Literals()) > 1 && !strings.ContainsAny(rest, "/?#") {
		return callwright.Invalid(field, "must contain variables only in its path and query")
	}
	if _, err := c.address(strings.Join(c.url.Literals(), "x"), nil); err != nil {
		return callwright.Invalid(field, "must be an absolute URL such as https://example.com/path, without the path segments . and ..")
	}
	return nil
}

// parseHeaders parses the headers, and refuses reserved ones.
func (c *Call) parseHeaders() error {
	if err := atMost("headers", len(c.source.Headers)); err != nil {
		return err
	}
	for i, h := range c.source.Headers {
		if !token(h.Name) {
			return callwright.Invalid(fmt.Sprintf("headers[%d].name", i), "must be a header name: 1 to %d letters, digits and characters of !#$%%&'*+-.^_`|~", maxName)
		}
		if slices.Contains(reserved, strings.ToLower(h.Name)) {
			return callwright.Invalid(fmt.Sprintf("headers[%d].name", i), "must not be %s, which the server sets itself", h.Name)
		}
		if h.Value != printable(h.Value) {
			return callwright.Invalid(fmt.Sprintf("headers[%d].value", i), "must not have control characters")
		}
		c.headers = append(c.headers, field{h.Name, template.Parse(h.Value)})
	}
	return nil
}

// reserved lists, in lower case, the headers that concern the connection (RFC 9110, section 7.6.1) and that only the program sets.
var reserved = []string{
	"host", "content-length", "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
	"te", "trailer", "transfer-encoding", "upgrade", "expect",
}

// token reports whether a text is a token (RFC 9110, section 5.6.2) of at most maxName characters.
func token(text string) bool {
	if text == "" || len(text) > maxName {
		return false
	}
	for _, r := range text {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r) {
			return false
		}
	}
	return true
}

// printable replaces each control character, including line breaks, by a space.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// parseQuery checks and parses the query pairs.
func (c *Call) parseQuery() error {
	if err := atMost("query", len(c.source.Query)); err != nil {
		return err
	}
	for i, q := range c.source.Query {
		if q.Name == "" || callwright.Longer(q.Name, maxName) {
			return callwright.Invalid(fmt.Sprintf("query[%d].name", i), "must have 1 to %d characters", maxName)
		}
		c.query = append(c.query, field{q.Name, template.Parse(q.Value)})
	}
	return nil
}

// parseBody parses the body in the format that the Content-Type header determines.
func (c *Call) parseBody() (err error) {
	contentType := ""
	for _, h := range c.headers {
		if strings.EqualFold(h.name, "Content-Type") {
			contentType = h.value.Text()
		}
	}
	c.body, err = parseBody(c.source.Body, contentType)
	return err
}

// parsePaths checks and parses the mappings.
func (c *Call) parsePaths() (err error) {
	c.paths, err = parsePaths(c.source.Variables)
	return err
}

// filled returns the URL with its variables filled in. The values are escaped for the path or the query, so that they cannot change the
// rest of the URL.
func (c *Call) filled(variables map[string]any) string {
	looked, inQuery := 0, false
	return c.url.RenderWith(variables, beyond(maxFilled), func(before string, value any) string {
		inQuery = inQuery || strings.ContainsAny(before[looked:], "?#")
		looked = len(before)
		if inQuery {
			return url.QueryEscape(template.Spoken(value))
		}
		return url.PathEscape(template.Spoken(value))
	})
}

// address parses a URL whose variables are filled in, and adds the query pairs. It returns errAddress if the URL is invalid or too long, or
// contains the path segment "." or "..".
func (c *Call) address(text string, values *template.Values) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return nil, errAddress
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." {
			return nil, errAddress // the URL would leave its path
		}
	}
	u.Fragment = ""
	for _, q := range c.query {
		if u.RawQuery != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += url.QueryEscape(q.name) + "=" + url.QueryEscape(values.Render(q.value, template.MaxValues))
	}
	if len(u.String()) > maxFilled {
		return nil, errAddress
	}
	return u, nil
}

var errAddress = callwright.Invalid("", "the URL with the values of its variables must be valid, have at most %d bytes, and not contain the path segments . and ..", maxFilled)
