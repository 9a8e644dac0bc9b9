package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/callwright/callwright"
)

// These constants limit the depth of a document and its size with all aliases expanded, and are the texts of its errors.
const (
	maxDepth    = 100         // nested lists and objects
	maxExpanded = 8 * MaxFile // bytes of a document whose aliases are expanded
	valueCost   = 8           // bytes that each value counts in addition to its text
	manyAliases = "must have at most %d bytes with its aliases written out"
	tooDeep     = "must have at most %d nested lists and objects"
	twice       = "is given twice"
)

// document is the content of a file as JSON, with the position of each value in the file.
type document struct {
	json json.RawMessage
	root *place
}

// place is the position of a value's first byte.
type place struct {
	line, column int      // from 1; column 0 means unknown
	names        []string // member names of an object
	inner        []*place // positions of an object's member values, or of a list's items
}

// String returns the position as line:column, or as the line if the column is unknown.
func (p *place) String() string {
	if p.column == 0 {
		return strconv.Itoa(p.line)
	}
	return fmt.Sprintf("%d:%d", p.line, p.column)
}

// find returns the position of a field such as scenarios[1].assertions[0].config. If the field does not exist, find returns the position of
// the innermost existing value on the field's path.
func (p *place) find(field string) *place {
	field = strings.TrimPrefix(field, ".")
	if rest, ok := strings.CutPrefix(field, "["); ok {
		index, rest, _ := strings.Cut(rest, "]")
		if i, err := strconv.Atoi(index); err == nil && p.names == nil && i >= 0 && i < len(p.inner) {
			return p.inner[i].find(rest)
		}
		return p
	}
	for i, name := range p.names {
		if rest, ok := strings.CutPrefix(field, name); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return p.inner[i].find(rest)
		}
	}
	return p
}

// placed is an error with its position in the file. Its text begins with the position.
type placed struct {
	at  *place
	err error
}

// Error returns the position and the text of the error.
func (e placed) Error() string { return e.at.String() + ": " + e.err.Error() }

// Unwrap returns the error without its position.
func (e placed) Unwrap() error { return e.err }

// faults are FieldErrors with their positions.
type faults struct {
	list []placed
	callwright.FieldErrors
}

// Error returns all errors, one per line.
func (f faults) Error() string {
	lines := make([]string, len(f.list))
	for i, one := range f.list {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the FieldErrors without their positions.
func (f faults) Unwrap() error { return f.FieldErrors }

// locate returns the errors with their positions in the document, or nil if the list is empty.
func (d document) locate(list callwright.FieldErrors) error {
	if len(list) == 0 {
		return nil
	}
	found := faults{FieldErrors: list}
	for _, one := range list {
		found.list = append(found.list, placed{d.root.find(one.Field), one})
	}
	return found
}

// readDocument reads a document in YAML or JSON.
func readDocument(text []byte) (document, error) {
	if json.Valid(text) {
		r := jsonReader{text: text, Decoder: json.NewDecoder(bytes.NewReader(text))}
		root, err := r.value(0)
		return document{bytes.TrimSpace(text), root}, err
	}
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil {
		return document{}, syntaxError(err)
	}
	value, root, err := new(yamlReader).value(&node, 0)
	if err != nil {
		return document{}, err
	}
	raw, err := json.Marshal(value)
	return document{raw, root}, err
}

// syntaxError returns an error of the YAML parser. If the error names a line, the line becomes its position.
func syntaxError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	rest, hasLine := strings.CutPrefix(text, "line ")
	number, rest, _ := strings.Cut(rest, ": ")
	if line, err := strconv.Atoi(number); hasLine && err == nil {
		return placed{&place{line: line}, errors.New("invalid YAML: " + rest)}
	}
	return errors.New("invalid YAML: " + text)
}

// jsonReader reads the positions of the values in a valid JSON text.
type jsonReader struct {
	*json.Decoder
	text []byte
	at   int // offset up to which lines are counted
	line int
	from int // offset of the first byte of the current line
}

func (r *jsonReader) value(depth int) (*place, error) {
	p := r.next()
	token, err := r.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, placed{p, fmt.Errorf(tooDeep, maxDepth)}
	}
	delimiter, _ := token.(json.Delim)
	if delimiter == 0 {
		return p, nil
	}
	known := map[string]bool{}
	for r.More() {
		if delimiter == '{' {
			at := r.next()
			name, err := r.Token()
			if err != nil {
				return nil, err
			}
			text, _ := name.(string)
			if known[text] {
				return nil, placed{at, callwright.Invalid(text, twice)}
			}
			known[text] = true
			p.names = append(p.names, text)
		}
		inner, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.inner = append(p.inner, inner)
	}
	_, err = r.Token() // the end of the list or object
	return p, err
}

// next returns the position of the next token.
func (r *jsonReader) next() *place {
	start := int(r.InputOffset())
	start += len(r.text[start:]) - len(bytes.TrimLeft(r.text[start:], " \t\r\n,:"))
	if lines := bytes.Count(r.text[r.at:start], []byte("\n")); lines > 0 {
		r.line += lines
		r.from = bytes.LastIndexByte(r.text[:start], '\n') + 1
	}
	r.at = start
	return &place{line: r.line + 1, column: utf8.RuneCount(r.text[r.from:start]) + 1}
}

// yamlReader reads the values of a YAML document and their positions. The field bytes is the size of the values read so far, which
// maxExpanded limits.
type yamlReader struct{ bytes int }

func (r *yamlReader) value(n *yaml.Node, depth int) (any, *place, error) {
	p := &place{line: n.Line, column: n.Column}
	r.bytes += len(n.Value) + valueCost
	switch {
	case depth > maxDepth: // also stops at an alias within its own anchor
		return nil, nil, placed{p, fmt.Errorf(tooDeep, maxDepth)}
	case r.bytes > maxExpanded:
		return nil, nil, placed{p, fmt.Errorf(manyAliases, maxExpanded)}
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return r.value(n.Content[0], depth)
	case yaml.AliasNode:
		value, target, err := r.value(n.Alias, depth+1)
		if err == nil {
			p.names, p.inner = target.names, target.inner
		}
		return value, p, err
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			value, at, err := r.value(item, depth+1)
			if err != nil {
				return nil, nil, err
			}
			list[i] = value
			p.inner = append(p.inner, at)
		}
		return list, p, nil
	case yaml.MappingNode:
		object := map[string]any{}
		return object, p, r.object(n, object, p, depth)
	case yaml.ScalarNode:
		value, err := scalar(n)
		if err != nil {
			err = placed{p, err}
		}
		return value, p, err
	default: // the document is empty
		return nil, &place{line: 1, column: 1}, nil
	}
}

// scalar returns the value of a node that is neither a list nor an object. It returns an error for a number that JSON cannot represent.
func scalar(n *yaml.Node) (value any, err error) {
	if n.ShortTag() == "!!timestamp" { // JSON has no timestamps, so 2001-01-01 is a text
		return n.Value, nil
	}
	if err := n.Decode(&value); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if f, ok := value.(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
		return nil, errors.New("must be a finite number: JSON has no infinity and no NaN")
	}
	return value, nil
}

// object reads the members of a mapping into object and p. The mapping's own members precede merged members, and replace merged members of
// the same name.
func (r *yamlReader) object(n *yaml.Node, object map[string]any, p *place, depth int) error {
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, inner := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Tag == "!!merge" {
			merged = append(merged, inner)
			continue
		}
		of := &place{line: n.Content[i].Line, column: n.Content[i].Column}
		if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
			return placed{of, errors.New("must be a string, because it names a member: write another key in quotes")}
		}
		if _, known := object[key.Value]; known {
			return placed{of, callwright.Invalid(key.Value, twice)}
		}
		value, at, err := r.value(inner, depth+1)
		if err != nil {
			return err
		}
		object[key.Value] = value
		p.names, p.inner = append(p.names, key.Value), append(p.inner, at)
	}
	for _, inner := range merged {
		if err := r.merge(inner, object, p, depth); err != nil {
			return err
		}
	}
	return nil
}

// merge adds the members of another object, or of each object in a list, unless object already has a member of the name.
func (r *yamlReader) merge(n *yaml.Node, object map[string]any, p *place, depth int) error {
	value, at, err := r.value(n, depth+1)
	if err != nil {
		return err
	}
	add := func(from map[string]any, at *place) {
		for i, name := range at.names {
			if _, known := object[name]; !known {
				object[name] = from[name]
				p.names, p.inner = append(p.names, name), append(p.inner, at.inner[i])
			}
		}
	}
	switch value := value.(type) {
	case map[string]any:
		add(value, at)
		return nil
	case []any:
		for i, item := range value {
			from, ok := item.(map[string]any)
			if !ok {
				return placed{at.inner[i], errors.New("every item that << merges must be an object")}
			}
			add(from, at.inner[i])
		}
		return nil
	}
	return placed{at, errors.New("the value that << merges must be an object or a list of objects")}
}
