package httpapi

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	ht "github.com/ogen-go/ogen/http"

	"github.com/callwright/callwright"
)

// Limits of a request's body, in bytes.
const (
	maxJSON   = 1 << 20
	maxUpload = 10<<20 + 64<<10 // a file with the rest of its form
	smallBody = 16 << 10        // up to this size, bodies do not count toward the room of larger ones
)

// maxDepth is the maximum nesting of objects and lists in a JSON body. It exists because the functions that read a body are recursive.
const maxDepth = 64

// maxValues is the maximum number of objects, lists, strings, numbers and constants in a JSON body. A decoded value uses much more memory
// than its text, and the decoder checks the lengths of lists too late. A pathway with 500 nodes of 80 values and 2,000 edges of 20 values
// is within the limit.
const maxValues = 100_000

// guard limits a request's body and, if the body is not an upload, checks its text. Both happen when the body is read, so that a request
// without a valid key is refused first. If noUploads is set, an upload is refused without being read. The caller must call the function
// release when the request is answered.
func (a *API) guard(w http.ResponseWriter, r *http.Request, noUploads bool, members members) (body io.ReadCloser, release func()) {
	room := &room{request: r, of: a.bodies}
	contentType := strings.ToLower(r.Header.Get("Content-Type"))
	switch {
	case strings.HasPrefix(contentType, "multipart/"):
		body = &guardedBody{ReadCloser: http.MaxBytesReader(w, r.Body, maxUpload), begin: func() error {
			if err := checkCoding(w, r); err != nil {
				return err
			}
			if noUploads {
				return cmp.Or(checkUpload(r), ht.ErrNotImplemented)
			}
			return room.toUpload(sizeOf(r, maxUpload))
		}}
	default:
		body = &textBody{
			coding: func() error { return checkCoding(w, r) },
			source: http.MaxBytesReader(w, r.Body, maxJSON), size: sizeOf(r, maxJSON), room: room,
			json: !strings.HasPrefix(contentType, "application/x-www-form-urlencoded"), members: members,
		}
	}
	return body, room.release
}

// checkCoding refuses a body with a Content-Encoding other than identity, and names the accepted coding in a header (RFC 9110, section
// 15.5.16).
func checkCoding(w http.ResponseWriter, r *http.Request) error {
	for _, value := range r.Header.Values("Content-Encoding") {
		for coding := range strings.SplitSeq(value, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
				w.Header().Set("Accept-Encoding", "identity")
				return callwright.Errorf(callwright.CodeUnsupportedMedia, "the body must not be compressed: Content-Encoding must be absent or identity")
			}
		}
	}
	return nil
}

// checkUpload checks the announced size of an upload and the URL of its request, without reading the upload.
func checkUpload(r *http.Request) error {
	if r.ContentLength > maxUpload {
		return &http.MaxBytesError{Limit: maxUpload}
	}
	return checkURL(r.URL)
}

// sizeOf returns the Content-Length of a request, or limit if the length is unknown or larger.
func sizeOf(r *http.Request, limit int64) int64 {
	if r.ContentLength < 0 || r.ContentLength > limit {
		return limit
	}
	return r.ContentLength
}

// guardedBody calls the function begin at the first Read. If begin returns an error, every Read returns this error.
type guardedBody struct {
	io.ReadCloser
	begin func() error
	begun bool
	err   error
}

// Read reads the body. Before the first byte is read, it calls the function begin once; if begin fails, Read returns its error.
func (b *guardedBody) Read(p []byte) (int, error) {
	if !b.begun {
		b.begun, b.err = true, b.begin()
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.ReadCloser.Read(p)
}

// textBody reads its whole source at the first Read. If the text is refused, every Read returns the error.
type textBody struct {
	coding  func() error // runs before the source is read; its error refuses the body
	source  io.ReadCloser
	json    bool
	members members
	size    int64 // as announced, or the limit
	room    *room
	text    *bytes.Reader
	err     error
}

// Read reads from the checked text. The first Read checks it.
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
	if b.err = b.coding(); b.err != nil {
		return
	}
	text, err := b.readAll()
	if err == nil {
		err = checkText(text)
	}
	values := 1 + bytes.Count(text, []byte("&")) // number of fields of a form
	if err == nil && b.json {
		shape := shapeOf(text)
		values, err = shape.values, shape.check()
	}
	if err == nil {
		err = b.room.toDecode(len(text), values)
	}
	if err == nil && b.json {
		err = checkNames(text)
	}
	if err == nil && b.json {
		text, err = b.members.prepare(text)
	}
	b.text, b.err = bytes.NewReader(text), err
}

// readAll reads the whole source. Before it reads more than smallBody bytes, it reserves room.
func (b *textBody) readAll() ([]byte, error) {
	begin, err := io.ReadAll(io.LimitReader(b.source, smallBody+1))
	if err != nil || len(begin) <= smallBody {
		return begin, err
	}
	if err := b.room.toReceive(b.size); err != nil {
		return nil, err
	}
	text := bytes.NewBuffer(make([]byte, 0, b.size+bytes.MinRead))
	_, _ = text.Write(begin)
	_, err = text.ReadFrom(b.source)
	return text.Bytes(), err
}

// checkText refuses text that the databases cannot store: invalid UTF-8, and NUL as a byte or as a JSON escape.
func checkText(text []byte) error {
	switch {
	case !utf8.Valid(text):
		return callwright.Invalid("", "the body must be valid UTF-8")
	case bytes.IndexByte(text, 0) >= 0 || hasEscapedNUL(text):
		return callwright.Invalid("", "the body must not contain NUL characters")
	}
	return nil
}

// hasEscapedNUL reports whether JSON text contains \u0000 whose backslash is not itself escaped.
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

// shape describes the structure of a JSON text.
type shape struct {
	depth  int // maximum nesting of objects and lists
	values int // number of values, without the names of members
}

// shapeOf returns the shape of a JSON text. For invalid JSON, the result is an estimate.
func shapeOf(text []byte) (s shape) {
	level, quoted, empty := 0, false, false // empty: nothing follows the last opening bracket yet
	s.values = 1
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case quoted:
			quoted = c != '"'
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case c == '{' || c == '[':
			level++
			s.depth = max(s.depth, level)
			s.values++ // its first element
			empty = true
		case c == '}' || c == ']':
			level--
			if empty {
				s.values--
			}
			empty = false
		default:
			if c == ',' {
				s.values++
			}
			quoted, empty = c == '"', false
		}
	}
	return s
}

func (s shape) check() error {
	switch {
	case s.depth > maxDepth:
		return callwright.Invalid("", "the body must have at most %d nested levels", maxDepth)
	case s.values > maxValues:
		return callwright.Invalid("", "the body must have at most %d JSON values", maxValues)
	}
	return nil
}

// checkURL refuses NUL and invalid UTF-8 in the path and the query.
func checkURL(u *url.URL) error {
	texts := []string{u.Path}
	for name, values := range u.Query() {
		texts = append(append(texts, name), values...)
	}
	for _, text := range texts {
		if strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text) {
			return callwright.Invalid("", "the URL must be valid UTF-8 without NUL characters")
		}
	}
	return nil
}
