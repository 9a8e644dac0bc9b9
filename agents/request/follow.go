package request

import (
	"errors"
	"math"
	"regexp"

	"github.com/ohler55/ojg/jp"
)

// errSteps means that the evaluation of a path needs more steps than are left.
var errSteps = errors.New("request: a path needs too many steps")

// freeSteps is the number of steps of each path that cost no budget, so that short paths are evaluated even after the budget is exhausted.
const freeSteps = 32

// follower evaluates one path, with the same results as jp.Expr.Get, and counts its steps. The jp library cannot stop early, so the
// follower uses it only for filters, slices and unions, and for one value per call.
type follower struct {
	filters map[*jp.Filter]script
	budget  *budget
	free    int
	found   []any
}

// follow evaluates a path on a value, and appends the values that it finds to f.found.
func (f *follower) follow(path jp.Expr, value any) error {
	if err := f.spend(1); err != nil {
		return err
	}
	if len(path) == 0 {
		f.found = append(f.found, value)
		return nil
	}
	rest := path[1:]
	switch part := path[0].(type) {
	case jp.Root, jp.Bracket:
		return f.follow(rest, value)
	case jp.Child:
		object, _ := value.(map[string]any)
		if member, has := object[string(part)]; has {
			return f.follow(rest, member)
		}
		return nil
	case jp.Nth:
		list, _ := value.([]any)
		i := int(part)
		if i < 0 {
			i += len(list)
		}
		if i >= 0 && i < len(list) {
			return f.follow(rest, list[i])
		}
		return nil
	case jp.Wildcard:
		return each(value, func(inner any) error { return f.follow(rest, inner) })
	case jp.Descent:
		return f.descend(rest, value)
	case *jp.Filter:
		return f.filter(part, rest, value)
	default:
		return f.pick(part, rest, value)
	}
}

// descend evaluates the rest of a path on a value and on all values below it, from the bottom up. If a path ends with "..", descend finds
// all values below the value and then the value itself.
func (f *follower) descend(rest jp.Expr, value any) error {
	if len(rest) == 0 {
		if err := f.gather(value); err != nil {
			return err
		}
	} else if err := each(value, func(inner any) error {
		if !holds(inner) {
			return f.spend(1)
		}
		return f.descend(rest, inner)
	}); err != nil {
		return err
	}
	return f.follow(rest, value)
}

// gather appends all values below a value to f.found, from the top down.
func (f *follower) gather(value any) error {
	const perFound = 2
	if err := each(value, func(inner any) error {
		f.found = append(f.found, inner)
		return f.spend(perFound)
	}); err != nil {
		return err
	}
	return each(value, f.gather)
}

// filter evaluates the rest of a path on the members of a value that match a filter.
func (f *follower) filter(filter *jp.Filter, rest jp.Expr, value any) error {
	s := f.filters[filter]
	return each(value, func(inner any) error {
		cost, err := f.cost(s, inner)
		if err == nil {
			err = f.spend(cost)
		}
		if err != nil || !filter.Match(inner) {
			return err
		}
		return f.follow(rest, inner)
	})
}

// pick evaluates the rest of a path on the values that a slice or a union finds.
func (f *follower) pick(part jp.Frag, rest jp.Expr, value any) error {
	const perMember = 8
	size := 1
	if list, ok := value.([]any); ok {
		size += len(list)
	}
	if union, ok := part.(jp.Union); ok {
		size = len(union)
	}
	if err := f.spend(float64(size * perMember)); err != nil {
		return err
	}
	for _, inner := range (jp.Expr{part}).Get(value) {
		if err := f.follow(rest, inner); err != nil {
			return err
		}
	}
	return nil
}

// spend consumes steps: the path's free steps if they suffice, else steps of the budget. It returns errSteps if too few are left.
func (f *follower) spend(steps float64) error {
	if steps <= float64(f.free) {
		f.free -= int(steps)
		return nil
	}
	if !f.budget.spend(steps) {
		return errSteps
	}
	return nil
}

// holds reports whether a value is an object or a list.
func holds(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// each calls the function do for each member of an object or a list. It stops at the first error and returns it.
func each(value any, do func(any) error) error {
	switch value := value.(type) {
	case []any:
		for _, inner := range value {
			if err := do(inner); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, inner := range value {
			if err := do(inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// script describes the work of the jp library to match a value with a filter.
type script struct {
	steps   float64 // steps of one evaluation
	many    int     // paths that may find several values: each combination of their values costs one evaluation
	within  int     // highest degree of the filters within these paths
	paths   int
	joins   int // concatenations of texts
	pattern int // length of the regular expressions in bytes
}

// scriptOf estimates the work that a filter causes. If the jp library cannot inspect the filter, scriptOf derives the work from the
// filter's text.
func scriptOf(filter *jp.Filter) (s script) {
	defer func() {
		if recover() == nil {
			return
		}
		s = script{many: 1, steps: maxPath} // Inspect panics for a filter such as [?(@.a)], which consists of a path or a value
		if text := filter.String(); len(text) > len("[?()]") {
			if path, err := jp.ParseString(text[len("[?(") : len(text)-len(")]")]); err == nil {
				s = script{steps: perEvaluation}
				s.add(path)
			}
		}
	}()
	s.steps = perEvaluation
	s.add(filter.Inspect())
	return s
}

// These constants are measured costs of evaluations, in steps or in units per step.
const (
	perEvaluation = 4
	perPart       = 8  // steps for each part of a path in a filter, even without a match
	perStep       = 16 // bytes of text per step that each byte of a regular expression reads
	perJoin       = 64 // bytes of concatenated text per step
	perCompare    = 256
)

// add adds the cost of a part of a filter.
func (s *script) add(part any) {
	switch part := part.(type) {
	case *jp.Form:
		s.steps++
		if part.Op == "+" {
			s.joins++
		}
		s.add(part.Left)
		s.add(part.Right)
	case *regexp.Regexp:
		s.pattern += 1 + len(part.String())
	case jp.Expr:
		s.paths++
		s.addPath(part)
	default:
		s.steps++
	}
}

// addPath adds the cost of a path in a filter. The library evaluates filters within the path once for each value on their level and, after
// "..", on each level.
func (s *script) addPath(path jp.Expr) {
	many, deep, within, times := 0, 0, 0, 1.0
	for _, part := range path {
		steps := float64(perPart)
		switch part := part.(type) {
		case *jp.Filter:
			many = 1
			inner := scriptOf(part)
			steps += inner.steps
			within = max(within, inner.degree()+deep)
			s.paths += inner.paths
			s.joins += inner.joins
			s.pattern += inner.pattern
		case jp.Union:
			many = 1
			times *= float64(len(part))
		case jp.Descent:
			many, deep = 1, 1
		case jp.Wildcard, jp.Slice:
			many = 1
		}
		s.steps += steps * times
	}
	s.many += many
	s.within = max(s.within, within)
}

// degree returns the exponent with which the number of evaluations grows with the number of values.
func (s script) degree() int { return max(s.many, s.within) }

// cost returns the steps needed to match a value with a filter. They depend on the contents of the value only if the filter may read all of
// it. Counting the contents also spends steps.
func (f *follower) cost(s script, value any) (float64, error) {
	if s.many == 0 && s.joins == 0 && s.pattern == 0 {
		return s.steps, nil
	}
	values, size := 0, 0
	if err := f.measure(value, &values, &size); err != nil {
		return 0, err
	}
	reads := float64(size*s.pattern)/perStep + float64(size*s.joins*s.joins)/perJoin
	if s.many > 0 && s.paths > 1 {
		reads += float64(size) / perCompare
	}
	return math.Pow(float64(values), float64(s.degree())) * (s.steps + reads), nil
}

// measure counts the values within a value, including the value itself, and the bytes of their texts. It adds the results to *values and
// *size.
func (f *follower) measure(value any, values, size *int) error {
	if err := f.spend(1); err != nil {
		return err
	}
	*values++
	if text, ok := value.(string); ok {
		*size += len(text)
	}
	return each(value, func(inner any) error { return f.measure(inner, values, size) })
}
