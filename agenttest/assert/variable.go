package assert

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// operator is the comparison of a VariableExtracted assertion.
type operator string

// The operators of VariableExtracted.
const (
	opExists   operator = "exists"
	opEquals   operator = "equals"
	opContains operator = "contains"
	opRegex    operator = "regex"
	opOneOf    operator = "one_of"
)

// variableRule is the rule of VariableExtracted.
type variableRule struct {
	folding
	variable string
	operator operator
	values   []any // expected values of opEquals, opOneOf and opContains, or the expression of opRegex
	loose    bool  // a text equals a number or a boolean with the same spelling
	pattern  pattern
}

func compileVariable(f *fields, _ *Assertion) rule {
	c := &variableRule{}
	f.require("variable")
	c.variable = f.word("variable", MaxReference)
	c.operator = choice(f, "operator", opExists, opEquals, opContains, opRegex, opOneOf)
	c.letterCase = !f.flag("case_sensitive", false)
	c.loose = f.flag("loose", false)
	if c.operator == opOneOf {
		f.require("values")
		for i, v := range f.list("values", 1, MaxValues) {
			c.values = append(c.values, f.scalar(item("values", i), v))
		}
		f.forbid("value", "must not be set with the operator one_of: use values")
		return c
	}
	f.forbid("values", "is allowed with the operator one_of only")
	if c.operator == opExists {
		f.forbid("value", "must not be set with the operator exists")
		return c
	}
	f.require("value")
	if value, known := f.get("value"); known {
		c.compare(f, value)
	}
	return c
}

// compare reads the expected value of opEquals, opContains or opRegex.
func (c *variableRule) compare(f *fields, value any) {
	known := len(f.errs)
	v := f.scalar(path("value"), value)
	if len(f.errs) > known {
		return
	}
	c.values = []any{v}
	switch text, isText := v.(string); {
	case c.operator == opEquals:
	case c.operator == opContains && (!isText || text != ""):
	case !isText:
		f.rejectf(path("value"), "must be a string for the operator %s", c.operator)
	case text == "":
		f.rejectf(path("value"), "must not be empty for the operator %s", c.operator)
	default:
		flags := ""
		if c.letterCase {
			flags = "i"
		}
		c.pattern = f.expression("value", text, flags)
	}
}

func (c *variableRule) evaluate(_ context.Context, e *Evidence, m evaluationTools, r *Result) {
	r.Expected = c.expected()
	value, known := find(c.variable, e.Variables)
	if !known {
		missing(e, c.variable, r)
		return
	}
	name := excerpt(c.variable)
	if c.operator == opExists {
		r.Actual = display(value)
		r.passf("The variable %s has the value %s.", name, quoted(r.Actual))
		return
	}
	text, known := target{variable: c.variable}.textOf(e, r)
	if !known {
		return
	}
	if c.operator == opRegex {
		if !m.work.admit(c.pattern, len(text), 1, r) {
			return
		}
		m.work.add(c.pattern, len(text), 1)
	}
	if c.holds(value, text) {
		r.passf("The variable %s has the value %s, as expected.", name, quoted(r.Actual))
		return
	}
	r.failf(Failed, CodeNoMatch, "The variable %s has the value %s, which is not as expected: %s %s.", name, quoted(r.Actual),
		strings.ReplaceAll(string(c.operator), "_", " "), quoted(r.Expected))
	r.Node = e.collects(c.variable)
}

// expected returns the expected value for results, or nil if any value passes.
func (c *variableRule) expected() any {
	switch {
	case c.operator == opOneOf:
		return slices.Clone(c.values)
	case len(c.values) > 0:
		return c.values[0]
	default:
		return nil
	}
}

// holds reports whether a value satisfies the operator. text is the value as text.
func (c *variableRule) holds(value any, text string) bool {
	switch c.operator {
	case opContains:
		want, _ := textOf(c.values[0])
		return bytes.Contains(c.fold(nil, text), c.fold(nil, want))
	case opRegex:
		return c.pattern.MatchString(text)
	default:
		for _, want := range c.values {
			if c.same(want, value) {
				return true
			}
		}
		return false
	}
}

// same reports whether a variable's value equals an expected value.
func (c *variableRule) same(want, have any) bool {
	have = plain(have)
	wantText, wantsText := want.(string)
	haveText, hasText := have.(string)
	switch {
	case wantsText && hasText:
		return bytes.Equal(c.fold(nil, wantText), c.fold(nil, haveText))
	case wantsText && c.loose:
		return c.sameWritten(wantText, have)
	case hasText && c.loose:
		return c.sameWritten(haveText, want)
	default:
		return equal(want, have)
	}
}

// sameWritten reports whether a text equals the spelling of a number or a boolean.
func (c *variableRule) sameWritten(text string, value any) bool {
	switch v := value.(type) {
	case bool:
		written, _ := textOf(v)
		return bytes.Equal(c.fold(nil, strings.TrimSpace(text)), c.fold(nil, written))
	case int64, float64, json.Number:
		n, isNumber := numberOf(text)
		return isNumber && equal(n, v)
	default:
		return false
	}
}
