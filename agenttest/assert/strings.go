package assert

import (
	"bytes"
	"context"
)

// comparison is an operator of StringCheck.
type comparison string

// The comparisons.
const (
	contains    comparison = "contains"
	notContains comparison = "not_contains"
	equals      comparison = "equals"
	notEquals   comparison = "not_equals"
	startsWith  comparison = "starts_with"
	endsWith    comparison = "ends_with"
)

// stringRule is the configuration of StringCheck.
type stringRule struct {
	target
	folding
	operator comparison
	value    string
	folded   []byte // value, as it is compared
}

func compileString(f *fields, _ *Assertion) rule {
	c := &stringRule{}
	f.require("value")
	c.value = f.text("value", MaxValue)
	c.operator = choice(f, "operator", contains, notContains, equals, notEquals, startsWith, endsWith)
	if c.value == "" && f.has("value") && c.operator != equals && c.operator != notEquals {
		f.reject(path("value"), "must not be empty: every text has it")
	}
	c.letterCase = !f.flag("case_sensitive", false)
	c.blanks = f.flag("fold_whitespace", false)
	c.target = readTarget(f)
	c.folded = c.fold(nil, c.value)
	return c
}

// positive returns the comparison without its negation.
func (c comparison) positive() (comparison, bool) {
	switch c {
	case notContains:
		return contains, false
	case notEquals:
		return equals, false
	default:
		return c, true
	}
}

// holds compares a folded text.
func (c comparison) holds(text, value []byte) bool {
	switch c {
	case contains:
		return bytes.Contains(text, value)
	case equals:
		return bytes.Equal(text, value)
	case startsWith:
		return bytes.HasPrefix(text, value)
	default:
		return bytes.HasSuffix(text, value)
	}
}

func (c *stringRule) evaluate(_ context.Context, e *Evidence, _ Judge, r *Result) {
	r.Expected = c.value
	operator, positive := c.operator.positive()
	found := false
	var array [1 << 10]byte
	room := array[:0]
	if c.variable != "" {
		text, known := c.textOf(e, r)
		if !known {
			return
		}
		found = operator.holds(c.fold(room, text), c.folded)
	} else {
		if !c.words(e, r) {
			return
		}
		for i := range e.Turns {
			t := &e.Turns[i]
			if !c.has(i, t) {
				continue
			}
			room = c.fold(room[:0], t.Text)
			if found = operator.holds(room, c.folded); found {
				r.decidedIn(e, i)
				r.Actual = display(t.Text)
				break
			}
		}
	}
	c.decide(e, found, positive, r)
}

// verbs say what the comparisons do.
var verbs = map[comparison]struct{ does, not string }{
	contains:   {"contains", "does not contain"},
	equals:     {"equals", "does not equal"},
	startsWith: {"starts with", "does not start with"},
	endsWith:   {"ends with", "does not end with"},
}

// decide sets the outcome.
func (c *stringRule) decide(e *Evidence, found, positive bool, r *Result) {
	operator, _ := c.operator.positive()
	verb := verbs[operator]
	does, not := "One of "+c.messages()+" "+verb.does, "None of "+c.messages()+" "+verb.does
	if c.variable != "" {
		does, not = "The value of "+c.String()+" "+verb.does, "The value of "+c.String()+" "+verb.not
	}
	switch {
	case found && positive:
		r.pass("%s %s.", does, excerpt(c.value))
	case found:
		r.fail(Failed, CodeForbidden, "%s %s, which it must not.", does, excerpt(c.value))
	case positive:
		r.fail(Failed, CodeNoMatch, "%s %s.", not, excerpt(c.value))
	default:
		r.pass("%s %s.", not, excerpt(c.value))
	}
	r.blame(e, c.variable)
}
