package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/ohler55/ojg/jp"

	"github.com/callwright/callwright"
)

// Bounds of what is kept of an answer, in bytes of JSON.
const (
	maxLogged = 4 << 10  // in a log
	maxTaken  = 32 << 10 // all variables of one answer
)

// parsePaths reads the mappings.
func (c *Call) parsePaths() error {
	if err := few("variables", len(c.source.Variables)); err != nil {
		return err
	}
	for i, m := range c.source.Variables {
		if m.Name == "" || len(m.Name) > maxText || strings.Contains(m.Name, "}}") {
			return callwright.Invalid(fmt.Sprintf("variables[%d].name", i), "must be a variable's name")
		}
		path, err := parsePath(m.Path)
		if err != nil {
			return callwright.InField(fmt.Sprintf("variables[%d].path", i), err)
		}
		c.paths = append(c.paths, path)
	}
	return nil
}

// How often what makes a path expensive may be in it: with more the cost grows with the square of the answer, or worse.
const (
	maxRoots    = 1 // $: where it begins
	maxDescents = 1 // ..
	maxCommas   = 4 // of unions, which may name the same member again and again
)

// dear is what a path must not hold of regular expressions: repetitions and classes of a few letters that become megabytes,
// and expressions that an answer gives, which are compiled again for every value.
var dear = regexp.MustCompile(`(?is)/.*(\{|\\p)|\b(match|search)\s*\(|(=~|~=)\s*([^/\s]|$)`)

// parsePath reads a JSONPath.
func parsePath(text string) (path jp.Expr, err error) {
	bad := callwright.Invalid("", "must be a JSONPath such as $.user.id")
	defer func() {
		if recover() != nil { // the library does, for some texts
			path, err = nil, bad
		}
	}()
	text = strings.TrimSpace(text)
	if len(text) > maxText || !strings.HasPrefix(text, "$") {
		return nil, bad
	}
	parts := strings.ReplaceAll(text, "$/", "/") // the end of a regular expression
	count := func(part string) int { return strings.Count(parts, part) }
	if count("$") > maxRoots || count("..") > maxDescents || count(",") > maxCommas {
		return nil, callwright.Invalid("", "must hold $ and .. once at most, and %d commas", maxCommas)
	}
	if dear.MatchString(text) {
		return nil, callwright.Invalid("", "must hold no match() and search(), and regular expressions only as =~ /x/, without {n} and \\p")
	}
	if path, err = jp.ParseString(text); err != nil {
		return nil, bad
	}
	return path, nil
}

// take gives the variables of an answer, and adds what went wrong. A path that finds one value gives it, one that finds
// several a list of them (those of an object in any order), and one that finds nothing no variable.
func (c *Call) take(answer any, faults []string) (map[string]any, []string) {
	variables := map[string]any{}
	left := maxTaken
	for i, path := range c.paths {
		name := c.source.Variables[i].Name
		found, err := get(path, answer)
		if err != nil {
			faults = append(faults, name+": the path can't be followed")
			continue
		}
		var value any = found
		switch len(found) {
		case 0:
			continue
		case 1:
			value = found[0]
		}
		size := weigh(value, left)
		if size > left {
			faults = append(faults, name+": the value is too large")
			continue
		}
		left -= size
		variables[name] = value
	}
	return variables, faults
}

// get follows a path; the library panics on some.
func get(path jp.Expr, answer any) (found []any, err error) {
	defer func() {
		if recover() != nil {
			found, err = nil, errors.New("request: a path panics")
		}
	}()
	return path.Get(answer), nil
}

// weigh is about the bytes that a value has as JSON, or more than most, where it does not look further.
func weigh(value any, most int) int {
	size := 8
	switch value := value.(type) {
	case string:
		size = len(value) + 2
	case []any:
		for _, v := range value {
			if size > most {
				break
			}
			size += weigh(v, most-size)
		}
	case map[string]any:
		for k, v := range value {
			if size > most {
				break
			}
			size += len(k) + weigh(v, most-size)
		}
	}
	return size
}

// Decode reads one value of JSON that others wrote: whole numbers as int64 where they fit, so that ids keep all their
// digits, others as float64. NUL, which databases refuse, is left out. false: it is no JSON.
func Decode(text []byte) (value any, isJSON bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, false
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	return plain(value), true
}

// plain makes what a decoder gives plain values.
func plain(value any) any {
	switch v := value.(type) {
	case string:
		return strings.ReplaceAll(v, "\x00", "")
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return f
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k, inner := range v {
			if clean := strings.ReplaceAll(k, "\x00", ""); clean != k {
				delete(v, k)
				k = clean
			}
			v[k] = plain(inner)
		}
	}
	return value
}

// excerpt is an answer as a log keeps it: JSON where it is short enough, else its beginning as a string of JSON.
func excerpt(text []byte, value any, isJSON bool) json.RawMessage {
	if len(text) == 0 {
		return nil
	}
	if isJSON && len(text) <= maxLogged {
		if whole := Encode(value); len(whole) <= maxLogged {
			return whole
		}
	}
	for n := maxLogged; ; n /= 2 {
		begin := strings.ToValidUTF8(string(text[:min(n, len(text))]), "")
		if short := Encode(strings.ReplaceAll(begin, "\x00", "")); len(short) <= maxLogged {
			return short
		}
	}
}
