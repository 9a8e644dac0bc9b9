package pathway

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/callwright/callwright/agents/template"
)

// holds says whether a branch of a webhook is the right one. Two numbers are compared as numbers, also where one is
// written in a text; other values as texts. A variable that is not known is an empty text.
func (b Branch) holds(variables map[string]any) bool {
	value, _ := template.LookUp(b.Variable, variables)
	got, want := template.Spoken(value), ""
	if b.Value != nil {
		want = b.Value.Render(variables)
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

// compare orders two values as numbers where both are, else as texts. Whole numbers are compared to the last digit.
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

// number reads a number. Words that Go takes for one, such as nan and infinity, are none.
func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}
