package graph

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/callwright/callwright/agents/template"
)

// Holds reports whether the branch's comparison is true. Values that are both numbers compare as numbers, even if they are strings; other
// values compare as text. OpContains and OpNotContains always compare text. An unknown variable counts as an empty text.
func (b Branch) Holds(values *template.Values) bool {
	got, want := values.Text(b.Variable), ""
	if b.Value != nil {
		want = values.Render(b.Value, template.MaxValues)
	}
	order := compare(got, want)
	switch b.Operator {
	case OpContains:
		return strings.Contains(got, want)
	case OpNotContains:
		return !strings.Contains(got, want)
	case OpEqual:
		return order == 0
	case OpNotEqual:
		return order != 0
	case OpLess:
		return order < 0
	case OpLessOrEqual:
		return order <= 0
	case OpGreater:
		return order > 0
	case OpGreaterOrEqual:
		return order >= 0
	default:
		return false
	}
}

// compare compares two values as numbers if both are numbers, and as text otherwise. It compares integers exactly.
func compare(a, b string) int {
	x, y := strings.TrimSpace(a), strings.TrimSpace(b)
	wholeX, errX := strconv.ParseInt(x, 10, 64)
	wholeY, errY := strconv.ParseInt(y, 10, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(wholeX, wholeY)
	}
	floatX, okX := number(x)
	floatY, okY := number(y)
	if okX && okY {
		return cmp.Compare(floatX, floatY)
	}
	return strings.Compare(a, b)
}

// number parses a finite number. It refuses NaN and infinities, which strconv accepts.
func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}
