package request

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/ohler55/ojg/jp"

	"github.com/callwright/callwright"
)

// maxTaken is the maximum total size of the variables set from one response, in bytes of JSON.
const maxTaken = 32 << 10

// path finds the value of a variable in a response.
type path struct {
	name    string // of the variable
	expr    jp.Expr
	filters map[*jp.Filter]script // filters of expr, without nested filters
}

// parsePaths checks and parses the mappings of a source.
func parsePaths(mappings []Mapping) ([]path, error) {
	if err := atMost("variables", len(mappings)); err != nil {
		return nil, err
	}
	var paths []path
	for i, m := range mappings {
		if m.Name == "" || callwright.Longer(m.Name, maxName) || strings.Contains(m.Name, "}}") {
			return nil, callwright.Invalid(fmt.Sprintf("variables[%d].name", i), "must be a variable name of 1 to %d characters, without }}", maxName)
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

// These constants limit a path. Beyond them, the cost of a path grows with the square of the response's size, or worse.
const (
	maxRoots    = 1 // number of $
	maxDescents = 1 // number of ..
	maxCommas   = 4 // number of commas in unions, which may repeat a member
)

// isExpensive matches regular expressions that are forbidden in a path: short repetitions and classes that compile to megabytes, and
// expressions from the response, which are compiled for every value.
var isExpensive = regexp.MustCompile(`(?is)/.*(\{|\\p)|\b(match|search)\s*\(|(=~|~=)\s*([^/\s]|$)`)

// parsePath parses a JSONPath within the limits.
func parsePath(text string) (path jp.Expr, err error) {
	bad := callwright.Invalid("", "must be a JSONPath of at most %d characters that begins with $, such as $.user.id", maxPath)
	defer func() {
		if recover() != nil { // the jp library panics on some texts
			path, err = nil, bad
		}
	}()
	text = strings.TrimSpace(text)
	if callwright.Longer(text, maxPath) || !strings.HasPrefix(text, "$") {
		return nil, bad
	}
	parts := strings.ReplaceAll(text, "$/", "/") // "$/" is the end of a regular expression, not a root
	count := func(part string) int { return strings.Count(parts, part) }
	if count("$") > maxRoots || count("..") > maxDescents || count(",") > maxCommas {
		return nil, callwright.Invalid("", "must have at most one $, one .. and %d commas", maxCommas)
	}
	if isExpensive.MatchString(text) {
		return nil, callwright.Invalid("", "must not use match() or search(); regular expressions must be written =~ /x/, without {n} and \\p")
	}
	if path, err = jp.ParseString(text); err != nil {
		return nil, bad
	}
	return path, nil
}

// extract returns the variables found in a response. It appends the problems of the paths to problems. A path that finds several values
// sets an array of them (values of an object in any order). A path that finds none sets no variable.
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
			problems = append(problems, p.name+": the path cannot be evaluated in this answer")
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
			problems = append(problems, fmt.Sprintf("%s: the value is too large: all values from an answer may have at most %d bytes", p.name, maxTaken))
			continue
		}
		left -= size
		variables[p.name] = value
	}
	return variables, problems
}

// get returns the values that the path finds in a response. It returns an error if the path needs too many steps or the jp library panics.
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

// weigh estimates the size of a value in bytes of JSON. It stops counting when the size exceeds the given maximum.
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
