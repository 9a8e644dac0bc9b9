package assert

import (
	"fmt"
	"strings"

	"github.com/callwright/callwright"
)

// The limits of texts in results, in bytes.
const (
	maxReasoning = 6000
	maxShown     = 1000 // of a found text
	maxExcerpt   = 200  // of a text in a sentence
)

// begin returns the result of an assertion without an outcome.
func begin(a *Assertion) Result {
	return Result{Assertion: a.ID, Type: a.Type, Name: a.Name, Required: a.Required, Weight: a.Weight}
}

// passf sets the outcome Passed.
func (r *Result) passf(format string, args ...any) {
	r.Outcome, r.Code = Passed, ""
	r.score(1)
	r.reasonf(format, args...)
}

// failf sets the outcome Failed, with the score 0, or Error.
func (r *Result) failf(o Outcome, code Code, format string, args ...any) {
	r.Outcome, r.Code = o, code
	if o == Failed {
		r.score(0)
	}
	r.reasonf(format, args...)
}

// score sets the score.
func (r *Result) score(s float64) { r.Score = &s }

// reasonf sets the reasoning.
func (r *Result) reasonf(format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	r.Reasoning = callwright.Clip(strings.ToValidUTF8(text, "\uFFFD"), maxReasoning)
}

// decidedIn sets the deciding turn. An index without a turn sets nothing.
func (r *Result) decidedIn(e *Evidence, turn int) {
	if turn >= 0 && turn < len(e.Turns) {
		r.Turn = &turn
	}
}

// excerpt returns the beginning of a text for a sentence, in quotes.
func excerpt(text string) string { return fmt.Sprintf("%q", callwright.Clip(text, maxExcerpt)) }

// plural returns a number with its noun.
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

// listed returns texts for a sentence, with commas.
func listed[S ~string](all []S) string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = string(s)
	}
	return strings.Join(texts, ", ")
}
