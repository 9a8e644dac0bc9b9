package assert

import (
	"bytes"
	"context"

	"github.com/callwright/callwright/agents/llm"
)

// comparison is an operator of StringCheck.
type comparison string

// The operators of StringCheck.
const (
	contains    comparison = "contains"
	notContains comparison = "not_contains"
	equals      comparison = "equals"
	notEquals   comparison = "not_equals"
	startsWith  comparison = "starts_with"
	endsWith    comparison = "ends_with"
)

// stringRule is the rule of StringCheck.
type stringRule struct {
	target
	folding
	operator comparison
	value    string
	folded   []byte // normalized form of value, for comparisons
}

func compileString(f *fields, _ *Assertion) rule {
	c := &stringRule{}
	f.require("value")
	c.value = f.text("value", MaxValue)
	c.operator = choice(f, "operator", contains, notContains, equals, notEquals, startsWith, endsWith)
	if c.value == "" && f.has("value") && c.operator != equals && c.operator != notEquals {
		f.rejectf(path("value"), "must not be empty: every text contains the empty text")
	}
	c.letterCase = !f.flag("case_sensitive", false)
	c.blanks = f.flag("fold_whitespace", false)
	c.target = readTarget(f)
	c.folded = c.fold(nil, c.value)
	return c
}

// positive returns the comparison without its negation, and false if it was negated.
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

// holds reports whether a folded text satisfies the comparison with a folded value. c must not be negated.
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

func (c *stringRule) evaluate(_ context.Context, e *Evidence, _ evaluationTools, r *Result) {
	r.Expected = c.value
	look := c.inTurns
	if c.variable != "" {
		look = c.inVariable
	}
	found, ok := look(e, r)
	if ok {
		c.decide(e, found, r)
	}
}

// inTurns reports whether the comparison, without its negation, holds for a turn, and records the turn in r. If ok is false, r is already
// decided.
func (c *stringRule) inTurns(e *Evidence, r *Result) (found, ok bool) {
	if !c.words(e, r) {
		return false, false
	}
	operator, _ := c.operator.positive()
	var array [1 << 10]byte
	room := array[:0]
	for i := range e.Turns {
		t := &e.Turns[i]
		if !c.has(i, t) {
			continue
		}
		if room = c.fold(room[:0], t.Text); operator.holds(room, c.folded) {
			r.decidedIn(e, i)
			r.Actual = display(t.Text)
			return true, true
		}
	}
	return false, true
}

// inVariable is like inTurns, for the value of a variable.
func (c *stringRule) inVariable(e *Evidence, r *Result) (found, ok bool) {
	text, known := c.textOf(e, r)
	if !known {
		return false, false
	}
	operator, _ := c.operator.positive()
	return operator.holds(c.fold(nil, text), c.folded), true
}

// verbs contains the verb of each comparison and its negation, for the messages of results.
var verbs = map[comparison]struct{ does, not string }{
	contains:   {"contains", "does not contain"},
	equals:     {"equals", "does not equal"},
	startsWith: {"starts with", "does not start with"},
	endsWith:   {"ends with", "does not end with"},
}

// decide sets the outcome. found is the result of inTurns or inVariable.
func (c *stringRule) decide(e *Evidence, found bool, r *Result) {
	operator, positive := c.operator.positive()
	verb := verbs[operator]
	does, not := "One of "+c.messages()+" "+verb.does, "None of "+c.messages()+" "+verb.does
	if c.variable != "" {
		does, not = "The value of "+c.String()+" "+verb.does, "The value of "+c.String()+" "+verb.not
	}
	switch {
	case found && positive:
		r.passf("%s %s.", does, excerpt(c.value))
	case found:
		r.failf(Failed, CodeForbidden, "%s %s, which it must not.", does, excerpt(c.value))
	case positive:
		r.failf(Failed, CodeNoMatch, "%s %s.", not, excerpt(c.value))
		if c.variable == "" && c.role != llm.RoleCaller {
			r.blameMissingWords(e, func(text string) bool { return operator.holds(c.fold(nil, text), c.folded) })
		}
	default:
		r.passf("%s %s.", not, excerpt(c.value))
	}
	r.blame(e, c.variable)
}
