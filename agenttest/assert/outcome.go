package assert

import (
	"fmt"
	"strings"

	"github.com/callwright/callwright"
)

// These constants limit the texts in results, in bytes.
const (
	maxReasoning = 6000
	maxShown     = 1000 // of a text that was found
	maxExcerpt   = 200  // of a quoted text in a sentence
)

// begin returns a result that describes the assertion and has no outcome yet.
func begin(a *Assertion) Result {
	return Result{Assertion: a.ID, Type: a.Type, Name: a.Name, Required: a.Required, Weight: a.Weight}
}

// passf sets the outcome Passed with the score 1, and the reasoning.
func (r *Result) passf(format string, args ...any) {
	r.Outcome, r.Code = Passed, ""
	r.score(1)
	r.reasonf(format, args...)
}

// failf sets the outcome Failed with the score 0, or the outcome Error without a score, and the reasoning.
func (r *Result) failf(o Outcome, code Code, format string, args ...any) {
	r.Outcome, r.Code = o, code
	if o == Failed {
		r.score(0)
	}
	r.reasonf(format, args...)
}

func (r *Result) score(s float64) { r.Score = &s }

// reasonf sets the reasoning, truncated to maxReasoning bytes.
func (r *Result) reasonf(format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	r.Reasoning = callwright.Clip(strings.ToValidUTF8(text, "\uFFFD"), maxReasoning)
}

// decidedIn sets the deciding turn. It does nothing for an index without a turn.
func (r *Result) decidedIn(e *Evidence, turn int) {
	if turn >= 0 && turn < len(e.Turns) {
		r.Turn = &turn
	}
}

// excerpt returns the beginning of a text in quotes, for a sentence.
func excerpt(text string) string { return fmt.Sprintf("%q", callwright.Clip(text, maxExcerpt)) }

// plural returns a number with its noun, in the plural unless n is 1.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if before, isY := strings.CutSuffix(noun, "y"); isY {
		return fmt.Sprintf("%d %sies", n, before)
	}
	if strings.HasSuffix(noun, "ch") {
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// listed joins texts with commas, for a sentence.
func listed[S ~string](all []S) string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = string(s)
	}
	return strings.Join(texts, ", ")
}
