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

// path finds a variable in an answer.
type path struct {
	name    string // the variable's
	expr    jp.Expr
	filters map[*jp.Filter]script // filters of expr, without filters within them
}

// parsePaths parses the mappings of a source.
func parsePaths(mappings []Mapping) ([]path, error) {
	if err := atMost("variables", len(mappings)); err != nil {
		return nil, err
	}
	var paths []path
	for i, m := range mappings {
		if m.Name == "" || callwright.Longer(m.Name, maxName) || strings.Contains(m.Name, "}}") {
			return nil, callwright.Invalid(fmt.Sprintf("variables[%d].name", i), "must be a variable name of at most %d characters", maxName)
		}
		expr, err := parsePath(m.Path)
		if err != nil {
			return nil, callwright.InField(fmt.Sprintf("variables[%d].path", i), err)
		}
		p := path{m.Name, expr, map[*jp.Filter]script{}}
		for _, part := range expr {
			if filter, ok := part.(*jp.Filter); ok {
				p.filters[filter] = scriptOf(filter)
			}
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// The limits of a path. Beyond them its cost grows with the square of the answer, or worse.
const (
	maxRoots    = 1 // of $
	maxDescents = 1 // of ..
	maxCommas   = 4 // of unions, which may repeat a member
)

// isExpensive matches the expensive parts of regular expressions that a path must not have: short repetitions and classes that compile to
// megabytes, and expressions from the answer, which are compiled for every value.
var isExpensive = regexp.MustCompile(`(?is)/.*(\{|\\p)|\b(match|search)\s*\(|(=~|~=)\s*([^/\s]|$)`)

// parsePath parses a JSONPath.
func parsePath(text string) (path jp.Expr, err error) {
	bad := callwright.Invalid("", "must be a JSONPath such as $.user.id")
	defer func() {
		if recover() != nil { // the library panics on some texts
			path, err = nil, bad
		}
	}()
	text = strings.TrimSpace(text)
	if callwright.Longer(text, maxPath) || !strings.HasPrefix(text, "$") {
		return nil, bad
	}
	parts := strings.ReplaceAll(text, "$/", "/") // the end of a regular expression
	count := func(part string) int { return strings.Count(parts, part) }
	if count("$") > maxRoots || count("..") > maxDescents || count(",") > maxCommas {
		return nil, callwright.Invalid("", "must have at most one $, one .. and %d commas", maxCommas)
	}
	if isExpensive.MatchString(text) {
		return nil, callwright.Invalid("", "must not have match() or search(), and regular expressions only as =~ /x/, without {n} and \\p")
	}
	if path, err = jp.ParseString(text); err != nil {
		return nil, bad
	}
	return path, nil
}

// extract returns the variables of an answer, and appends the problems. A path that finds several values sets an array of them
// (values of an object in any order); a path that finds none sets no variable.
func extract(paths []path, answer any, b *budget, problems []string) (map[string]any, []string) {
	variables := map[string]any{}
	left := maxTaken
	for _, p := range paths {
		found, err := p.get(answer, b)
		if errors.Is(err, errSteps) {
			problems = append(problems, p.name+": the path needs too many steps in this answer")
			continue
		}
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

// get evaluates the path. The library panics on some paths.
func (p path) get(answer any, b *budget) (found []any, err error) {
	defer func() {
		if recover() != nil {
			found, err = nil, errors.New("request: a path panics")
		}
	}()
	f := follower{filters: p.filters, budget: b, free: freeSteps}
	if err := f.follow(p.expr, answer); err != nil {
		return nil, err
	}
	return f.found, nil
}

// weigh estimates the bytes of a value as JSON. It stops above most bytes.
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
