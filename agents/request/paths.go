package request

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/ohler55/ojg/jp"

	"github.com/callwright/callwright"
)

// maxTaken bounds the variables of one answer together, in bytes of JSON.
const maxTaken = 32 << 10

// path takes a variable from an answer.
type path struct {
	name string // the variable's
	expr jp.Expr
}

// parsePaths parses the mappings of a source.
func parsePaths(mappings []Mapping) ([]path, error) {
	if err := atMost("variables", len(mappings)); err != nil {
		return nil, err
	}
	var paths []path
	for i, m := range mappings {
		if m.Name == "" || len(m.Name) > maxText || strings.Contains(m.Name, "}}") {
			return nil, callwright.Invalid(fmt.Sprintf("variables[%d].name", i), "must be a variable name of at most %d bytes", maxText)
		}
		expr, err := parsePath(m.Path)
		if err != nil {
			return nil, callwright.InField(fmt.Sprintf("variables[%d].path", i), err)
		}
		paths = append(paths, path{m.Name, expr})
	}
	return paths, nil
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
func take(paths []path, answer any, problems []string) (map[string]any, []string) {
	variables := map[string]any{}
	left := maxTaken
	for _, p := range paths {
		found, err := get(p.expr, answer)
		if err != nil {
			problems = append(problems, p.name+": the path failed")
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
			problems = append(problems, p.name+": the value is too large")
			continue
		}
		left -= size
		variables[p.name] = value
	}
	return variables, problems
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
