package request

import (
	"errors"
	"math"
	"regexp"

	"github.com/ohler55/ojg/jp"
)

// errSteps is the error of a path that needs more steps than are left.
var errSteps = errors.New("request: a path needs too many steps")

// freeSteps is the number of free steps of a path, so that short paths work even without a budget.
const freeSteps = 32

// follower follows one path, as jp.Expr.Get does, and counts its steps. The library cannot stop early; here it only evaluates
// filters, slices and unions, each on one value.
type follower struct {
	filters map[*jp.Filter]script
	budget  *budget
	free    int
	found   []any
}

// follow evaluates a path on a value.
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

// descend evaluates the rest of a path on a value and all values below it, from the bottom up. A path that ends with .. finds all
// values below the value, and then the value.
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

// gather finds all values below a value, from the top down.
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

// filter evaluates the rest of a path on the inner values that match a filter.
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

// spend uses steps, the free ones first.
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

// each calls do for the values directly within a value.
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

// script is the library's work to match a value with a filter.
type script struct {
	steps   float64 // of one evaluation
	many    int     // paths that may find several values: each combination of these values is an evaluation
	within  int     // maximum for filters within these paths
	paths   int
	joins   int // of texts
	pattern int // bytes of regular expressions
}

// scriptOf reads a filter.
func scriptOf(filter *jp.Filter) (s script) {
	defer func() {
		if recover() == nil {
			return
		}
		s = script{many: 1, steps: maxPath} // the library cannot expose a filter such as [?(@.a)], which is a path or a value
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

// The steps of evaluations, as measured.
const (
	perEvaluation = 4
	perPart       = 8  // of a path in a filter, even without a match
	perStep       = 16 // bytes of a text that one byte of a regular expression reads in a step
	perJoin       = 64 // bytes of texts that are joined in a step
	perCompare    = 256
)

// add adds a part of a filter.
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

// addPath adds a path of a filter, whose filters are evaluated once for each value on their level, and after .. on each level.
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

// degree returns the power of the number of values with which evaluations grow.
func (s script) degree() int { return max(s.many, s.within) }

// cost returns the steps to match a value. They grow with the contents of the value only if the filter may read all of it.
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

// measure counts the values within a value, including itself, and the bytes of their texts.
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
