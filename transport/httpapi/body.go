package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright"
)

// Bounds of a request's body, in bytes.
const (
	maxJSON   = 1 << 20
	maxUpload = 10<<20 + 64<<10 // a file and its form
)

// maxDepth bounds the levels of objects and lists within each other in a body of JSON. What reads it calls itself for each.
const maxDepth = 64

// guard bounds a request's body and, unless it is an upload, has it checked as a text. Both happen when the body is
// read, so that a request without a valid key is refused for that.
func guard(w http.ResponseWriter, r *http.Request) io.ReadCloser {
	contentType := strings.ToLower(r.Header.Get("Content-Type"))
	if strings.HasPrefix(contentType, "multipart/") {
		return http.MaxBytesReader(w, r.Body, maxUpload)
	}
	return &textBody{
		source: http.MaxBytesReader(w, r.Body, maxJSON), json: !strings.HasPrefix(contentType, "application/x-www-form-urlencoded"),
	}
}

// textBody reads its source whole at the first Read, and gives an error in place of a text that may not pass.
type textBody struct {
	source io.ReadCloser
	json   bool
	text   *bytes.Reader
	err    error
}

// Read reads the checked text.
func (b *textBody) Read(p []byte) (int, error) {
	if b.text == nil && b.err == nil {
		b.fill()
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.text.Read(p)
}

// Close closes the source.
func (b *textBody) Close() error { return b.source.Close() }

func (b *textBody) fill() {
	text, err := io.ReadAll(b.source)
	if err == nil {
		err = checkText(text)
	}
	if err == nil && b.json && depth(text) > maxDepth {
		err = callwright.Invalid("", "the body is nested deeper than %d levels", maxDepth)
	}
	b.text, b.err = bytes.NewReader(text), err
}

// checkText refuses what no database takes: text that is not UTF-8, and NUL, as a byte or as a JSON escape.
func checkText(text []byte) error {
	switch {
	case !utf8.Valid(text):
		return callwright.Invalid("", "the body is not valid UTF-8")
	case bytes.IndexByte(text, 0) >= 0 || hasEscapedNUL(text):
		return callwright.Invalid("", "the body holds a NUL character")
	}
	return nil
}

// hasEscapedNUL reports whether JSON text holds \u0000 whose backslash is not itself escaped.
func hasEscapedNUL(text []byte) bool {
	escape := []byte(`\u0000`)
	for {
		i := bytes.Index(text, escape)
		if i < 0 {
			return false
		}
		backslashes := len(text[:i]) - len(bytes.TrimRight(text[:i], `\`))
		if backslashes%2 == 0 {
			return true
		}
		text = text[i+len(escape):]
	}
}

// depth returns how many objects and lists of JSON text lie within each other at most. It takes text that is no JSON, too.
func depth(text []byte) (deepest int) {
	level, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}

// checkURL refuses NUL and invalid UTF-8 in the path and the query.
func checkURL(u *url.URL) error {
	texts := []string{u.Path}
	for name, values := range u.Query() {
		texts = append(append(texts, name), values...)
	}
	for _, text := range texts {
		if strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text) {
			return callwright.Invalid("", "the URL holds a NUL character or is not valid UTF-8")
		}
	}
	return nil
}
