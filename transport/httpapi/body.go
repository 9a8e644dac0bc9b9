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

// Bounds of a request's body, in bytes.
const (
	maxJSON   = 1 << 20
	maxUpload = 10<<20 + 64<<10 // a file and its form
	smallBody = 16 << 10        // up to this, bodies come and are decoded apart from larger ones
)

// maxDepth bounds the nesting of objects and lists in a body of JSON. Its readers are recursive.
const maxDepth = 64

// maxValues bounds the objects, lists, texts, numbers and constants in a body of JSON: decoded, each takes much more memory
// than its text, and lists are counted only when they are decoded. A pathway with 500 nodes of 80 values, and 2,000 edges of
// 20, has less.
const maxValues = 100_000

// guard bounds a request's body and, unless it is an upload, has it checked as a text. Both happen when the body is
// read, so that a request without a valid key is refused for that. An upload to an operation that is not built is not
// read. The caller calls release when the request is answered.
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

// checkCoding refuses a body that is compressed or coded otherwise, and names the accepted coding (RFC 9110, section 15.5.16).
func checkCoding(w http.ResponseWriter, r *http.Request) error {
	for _, value := range r.Header.Values("Content-Encoding") {
		for coding := range strings.SplitSeq(value, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
				w.Header().Set("Accept-Encoding", "identity")
				return callwright.Errorf(callwright.CodeUnsupportedMedia, "the body must have no Content-Encoding")
			}
		}
	}
	return nil
}

// checkUpload makes the checks that need no reading of the upload.
func checkUpload(r *http.Request) error {
	if r.ContentLength > maxUpload {
		return &http.MaxBytesError{Limit: maxUpload}
	}
	return checkURL(r.URL)
}

// sizeOf returns the size of a body as its request announces it: limit, if it announces more or nothing.
func sizeOf(r *http.Request, limit int64) int64 {
	if r.ContentLength < 0 || r.ContentLength > limit {
		return limit
	}
	return r.ContentLength
}

// guardedBody calls begin at the first Read, and gives its error in place of the body.
type guardedBody struct {
	io.ReadCloser
	begin func() error
	begun bool
	err   error
}

// Read reads the body.
func (b *guardedBody) Read(p []byte) (int, error) {
	if !b.begun {
		b.begun, b.err = true, b.begin()
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.ReadCloser.Read(p)
}

// textBody reads its source whole at the first Read, and gives an error in place of a text that may not pass.
type textBody struct {
	coding  func() error // its error refuses the body unread
	source  io.ReadCloser
	json    bool
	members members
	size    int64 // as announced, or the largest
	room    *room
	text    *bytes.Reader
	err     error
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
	if b.err = b.coding(); b.err != nil {
		return
	}
	text, err := b.readAll()
	if err == nil {
		err = checkText(text)
	}
	values := 1 + bytes.Count(text, []byte("&")) // of a form
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

// readAll reads the source. A body that is not small waits for room.
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

// checkText refuses text that no database stores: text that is not UTF-8, and NUL, as a byte or as a JSON escape.
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

// shape describes the structure of a JSON text.
type shape struct {
	depth  int // of objects and lists within each other
	values int // all of them, names of members not counted
}

// shapeOf returns the shape of JSON text. It takes text that is no JSON, too.
func shapeOf(text []byte) (s shape) {
	level, quoted, empty := 0, false, false // empty: an object or a list has begun, and nothing within it
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
			s.values++ // the first within it
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
		return callwright.Invalid("", "the body is nested deeper than %d levels", maxDepth)
	case s.values > maxValues:
		return callwright.Invalid("", "the body holds more than %d JSON values", maxValues)
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
			return callwright.Invalid("", "the URL holds a NUL character or is not valid UTF-8")
		}
	}
	return nil
}
