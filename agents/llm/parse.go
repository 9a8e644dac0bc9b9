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

// The limits of an answer.
const (
	maxAnswer = 1 << 20 // bytes
	maxDepth  = 100     // of arrays and objects
)

// errSeveral refuses several values. To take one of them could take a text that the model quotes for its answer.
var errSeveral = errors.New("write one JSON value and nothing before or after it")

// parse parses an answer: one JSON value, with at most one code fence around it. Numbers are json.Number. Duplicate names
// in an object are refused, because parsers differ about which one counts.
func parse(answer []byte) (json.RawMessage, any, error) {
	if len(answer) > maxAnswer {
		return nil, nil, fmt.Errorf("it is longer than %d bytes", maxAnswer)
	}
	raw, err := unfence(bytes.TrimSpace(answer))
	if err != nil {
		return nil, nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	value, err := read(d, 0)
	if err != nil {
		return nil, nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, errSeveral
	}
	return raw, value, nil
}

// unfence removes a code fence.
func unfence(text []byte) ([]byte, error) {
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

// read parses one value.
func read(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty or not complete")
	}
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("it is nested deeper than %d", maxDepth)
	}
	switch token {
	case json.Delim('{'):
		return readObject(d, depth)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := read(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, closing(d)
	default:
		return token, nil
	}
}

func readObject(d *json.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for d.More() {
		name, err := read(d, depth+1)
		if err != nil {
			return nil, err
		}
		key, ok := name.(string)
		if _, twice := object[key]; twice || !ok {
			return nil, fmt.Errorf("an object has the name %q twice", key)
		}
		if object[key], err = read(d, depth+1); err != nil {
			return nil, err
		}
	}
	return object, closing(d)
}

// closing parses the end of an object or an array.
func closing(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return errors.New("it is not complete")
	}
	return nil
}

// nowhere loads no schemas, so that a schema that refers to another document is refused.
type nowhere struct{}

// Load returns an error.
func (nowhere) Load(string) (any, error) {
	return nil, errors.New("a schema may not refer to another document")
}

// Compiled schemas that are kept: to compile one takes several times as long as all else that asking does.
const (
	maxSchemas = 200
	maxSchema  = 16 << 10 // bytes of a schema that is kept
)

// schemas keeps compiled schemas by their text. They don't change, so that several questions may use one at once.
type schemas struct {
	mu   sync.Mutex
	kept map[string]*jsonschema.Schema
}

var compiled schemas

// compile compiles a schema, or returns the one that it has compiled before.
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

// Clean removes control and format characters, such as those of no width, except line feeds and tabs. Models read all data so.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, text)
}

// clip cuts a text to at most a number of bytes, between characters.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
