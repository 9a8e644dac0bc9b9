package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The limits of a model's answer.
const (
	maxAnswer = 1 << 20 // in bytes
	maxDepth  = 100     // nesting of arrays and objects
)

// errSeveral refuses an answer of several values, because one of them may be a quotation instead of the answer.
var errSeveral = errors.New("write one JSON value and nothing before or after it")

// parse parses an answer, which must be one JSON value, optionally in one code fence. Numbers become json.Number. It refuses duplicate
// names in an object, because parsers differ in which of the values they use.
func parse(answer []byte) (json.RawMessage, any, error) {
	if len(answer) > maxAnswer {
		return nil, nil, fmt.Errorf("the answer must have at most %d bytes", maxAnswer)
	}
	raw, err := trimFence(bytes.TrimSpace(answer))
	if err != nil {
		return nil, nil, err
	}
	if !json.Valid(raw) {
		return nil, nil, fault(raw)
	}
	r := reader{rest: raw}
	value, err := r.value(0)
	return raw, value, err
}

// fault returns the reason why a text is not one JSON value.
func fault(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	var first json.RawMessage
	switch err := d.Decode(&first); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the answer is empty or truncated")
	case err != nil:
		return fmt.Errorf("the answer is not JSON: %w", err)
	default:
		return errSeveral
	}
}

// trimFence deletes the code fence around a text, if any. It returns errSeveral if the fence does not end the text, or names another
// language than JSON.
func trimFence(text []byte) ([]byte, error) {
	const fence = "```"
	inside, fenced := bytes.CutPrefix(text, []byte(fence))
	if !fenced {
		return text, nil
	}
	language, inside, _ := bytes.Cut(inside, []byte("\n"))
	inside, closed := bytes.CutSuffix(inside, []byte(fence))
	if name := string(bytes.TrimSpace(language)); !closed || name != "" && !strings.EqualFold(name, "json") {
		return nil, errSeveral
	}
	return bytes.TrimSpace(inside), nil
}

// reader reads valid JSON. It exists because it detects duplicate names several times faster than a json.Decoder.
type reader struct{ rest []byte }

// next skips white space and returns the next byte, without consuming it.
func (r *reader) next() byte {
	r.rest = bytes.TrimLeft(r.rest, " \t\r\n")
	return r.rest[0]
}

// skip reports whether b is the next byte after white space, and consumes it if so.
func (r *reader) skip(b byte) bool {
	found := r.next() == b
	if found {
		r.rest = r.rest[1:]
	}
	return found
}

// value reads one value. It returns an error for duplicate names, and if the value is nested deeper than maxDepth.
func (r *reader) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("the answer must have at most %d nested levels", maxDepth)
	}
	switch r.next() {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	case '"':
		return r.text()
	default:
		return r.word(), nil
	}
}

func (r *reader) object(depth int) (any, error) {
	object := map[string]any{}
	for first := true; ; first = false {
		r.rest = r.rest[1:] // skips the brace or a comma
		if first && r.skip('}') {
			return object, nil
		}
		r.next()
		name, err := r.text()
		if err != nil {
			return nil, err
		}
		if _, twice := object[name]; twice {
			return nil, fmt.Errorf("an object has the name %q twice", name)
		}
		r.skip(':')
		if object[name], err = r.value(depth + 1); err != nil {
			return nil, err
		}
		if r.skip('}') {
			return object, nil
		}
	}
}

func (r *reader) list(depth int) (any, error) {
	list := []any{}
	for first := true; ; first = false {
		r.rest = r.rest[1:] // skips the bracket or a comma
		if first && r.skip(']') {
			return list, nil
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if list = append(list, v); r.skip(']') {
			return list, nil
		}
	}
}

// text reads a string.
func (r *reader) text() (string, error) {
	end, escaped := 1, false
	for ; r.rest[end] != '"'; end++ {
		if r.rest[end] == '\\' {
			escaped = true
			end++
		}
	}
	raw := r.rest[:end+1]
	r.rest = r.rest[end+1:]
	if !escaped && utf8.Valid(raw) {
		return string(raw[1:end]), nil
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err
}

// word reads a number, true, false or null. A number becomes a json.Number.
func (r *reader) word() any {
	end := bytes.IndexAny(r.rest, ",]} \t\r\n")
	if end < 0 {
		end = len(r.rest)
	}
	word := string(r.rest[:end])
	r.rest = r.rest[end:]
	switch word {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	default:
		return json.Number(word)
	}
}

// nowhere is a loader that loads no schemas, so that a schema that refers to another document is refused.
type nowhere struct{}

// Load always returns an error.
func (nowhere) Load(string) (any, error) {
	return nil, errors.New("a schema must not refer to another document")
}

// The limits of the cache of compiled schemas. The cache exists because compiling takes several times as long as the rest of a question.
const (
	maxSchemas = 200
	maxSchema  = 16 << 10 // bytes of a schema that is cached
)

// schemas caches compiled schemas by their text. Compiled schemas are immutable, so several questions can share one concurrently.
type schemas struct {
	mu   sync.Mutex
	kept map[string]*jsonschema.Schema
}

var compiled schemas

// compile returns the cached schema, or compiles the schema and caches it, unless it is longer than maxSchema. A full cache is emptied
// first.
func compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	compiled.mu.Lock()
	known := compiled.kept[string(schema)]
	compiled.mu.Unlock()
	if known != nil {
		return known, nil
	}
	fresh, err := compileNew(schema)
	if err != nil || len(schema) > maxSchema {
		return fresh, err
	}
	compiled.mu.Lock()
	defer compiled.mu.Unlock()
	if compiled.kept == nil || len(compiled.kept) >= maxSchemas {
		compiled.kept = map[string]*jsonschema.Schema{}
	}
	compiled.kept[string(schema)] = fresh
	return fresh, nil
}

func compileNew(schema json.RawMessage) (*jsonschema.Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	const name = "callwright://answer/schema"
	c := jsonschema.NewCompiler()
	c.UseLoader(nowhere{})
	if err := c.AddResource(name, document); err != nil {
		return nil, fmt.Errorf("adding the schema: %w", err)
	}
	return c.Compile(name)
}

// Clean deletes control and format characters, such as zero-width characters, and the separators of lines and paragraphs (U+2028, U+2029)
// from a text, except line feeds and tabs. Data for models must be cleaned.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, text)
}

// clip truncates a text to at most the given number of bytes, without splitting a character.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
