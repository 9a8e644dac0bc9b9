package assert

import (
	"context"
	"math"
	"slices"

	"github.com/callwright/callwright/agents/llm"
)

// defaultThreshold is the lowest passing score if the configuration sets none.
const defaultThreshold = 0.7

// maxQuotes is the maximum number of quotes, and of samples, in a result.
const maxQuotes = 50

// judged is the rule of LLMJudge, CustomLLM and ServiceTone.
type judged struct{ criterion Criterion }

func compileLLMJudge(f *fields, a *Assertion) rule {
	c := &judged{Criterion{Assertion: a.ID, Prompt: f.prompt("prompt", MaxPrompt)}}
	c.output(f)
	return c
}

func compileCustomLLM(f *fields, a *Assertion) rule {
	c := &judged{Criterion{
		Assertion: a.ID, Instructions: f.prompt("system_prompt", MaxInstructions), Model: f.word("model", MaxReference),
	}}
	c.output(f)
	return c
}

func compileServiceTone(f *fields, a *Assertion) rule {
	return &judged{Criterion{Assertion: a.ID, Output: OutputTone, Threshold: f.number("threshold", defaultThreshold, 0, 1)}}
}

// output reads the form of the judge's answer and the condition to pass.
func (c *judged) output(f *fields) {
	const labels, passing = "categories", "pass_categories"
	c.criterion.Output = choice(f, "output_type", OutputBoolean, OutputScore, OutputCategorical)
	c.criterion.Threshold = f.number("threshold", defaultThreshold, 0, 1)
	c.criterion.PassOnTrue = f.flag("pass_on_true", true)
	if f.has("samples") {
		if c.criterion.Samples = f.whole("samples", 1, 1, 5); c.criterion.Samples%2 == 0 {
			f.rejectf(path("samples"), "must be 1, 3 or 5")
		}
	}
	if c.criterion.Output != OutputCategorical {
		f.forbid(labels, "is allowed with the output_type categorical only")
		f.forbid(passing, "is allowed with the output_type categorical only")
		return
	}
	f.require(labels)
	f.require(passing)
	c.criterion.Labels = f.words(labels, 2, MaxLabels, MaxLabel)
	c.criterion.PassLabels = f.words(passing, 1, MaxLabels, MaxLabel)
	for i, label := range c.criterion.Labels {
		if slices.Contains(c.criterion.Labels[:i], label) {
			f.rejectf(item(labels, i), "must be unique")
		}
	}
	for i, label := range c.criterion.PassLabels {
		if len(c.criterion.Labels) > 0 && !slices.Contains(c.criterion.Labels, label) {
			f.rejectf(item(passing, i), "must be one of the categories")
		}
	}
}

// scored reports whether the judge's answer contains a score.
func (c *judged) scored() bool {
	return c.criterion.Output == OutputScore || c.criterion.Output == OutputTone
}

func (c *judged) evaluate(ctx context.Context, e *Evidence, m evaluationTools, r *Result) {
	r.Expected = c.expected()
	switch {
	case m.judge == nil:
		r.failf(Error, CodeJudgeUnavailable, "A judge requires a language model: set --llm-base-url and --llm-model, or engine.Config.Judge in a program.")
		return
	case len(e.Turns) == 0:
		r.failf(Error, CodeCannotJudge, "Nothing was said that could be judged.")
		return
	case !(target{turn: -1}).words(e, r):
		return
	}
	asked := c.criterion
	asked.Labels, asked.PassLabels = slices.Clone(asked.Labels), slices.Clone(asked.PassLabels)
	o, err := m.judge.Judge(ctx, e, asked)
	r.Usage = o.Usage
	if err != nil {
		c.unjudged(err, r)
		return
	}
	c.count(e, &o, r)
}

// unjudged sets the result after an error of the judge.
func (c *judged) unjudged(err error, r *Result) {
	switch llm.ClassOf(err) {
	case llm.ClassInvalid:
		r.failf(Error, CodeJudgeInvalidOutput, "The judge's answers were invalid.")
	case llm.ClassTooLong:
		r.failf(Error, CodeCannotJudge, "The conversation is too long for the judge.")
	case llm.ClassUnsupported:
		r.failf(Error, CodeJudgeUnavailable, "The configured language model is a stand-in and cannot judge.")
	default:
		r.failf(Error, CodeJudgeUnavailable, "The judge does not answer: %s.", llm.Reason(err))
	}
}

// count sets the result from an opinion.
func (c *judged) count(e *Evidence, o *Opinion, r *Result) {
	r.Quotes = clone(o.Quotes)
	r.Samples = clone(o.Samples)
	if agreement := min(max(o.Agreement, 0), 1); len(o.Samples) > 0 && !math.IsNaN(agreement) {
		r.Agreement = &agreement
	}
	if o.Verdict == CannotJudge {
		r.failf(Error, CodeCannotJudge, "%s", reasoning(o, "The conversation does not decide the criterion."))
		return
	}
	if !c.valid(o) {
		r.failf(Error, CodeJudgeInvalidOutput, "The judge's opinion is incomplete or out of range.")
		return
	}
	for _, q := range r.Quotes {
		if q.Verified && r.Turn == nil {
			r.decidedIn(e, q.Turn)
		}
	}
	if o.Tone != nil && c.criterion.Output == OutputTone {
		tone := *o.Tone
		tone.WordsPerTurn, tone.RepeatedSentences = CountTone(e.Turns)
		r.Tone = &tone
	}
	passed := o.Verdict == JudgePass
	if c.scored() {
		passed = *o.Score >= c.criterion.Threshold
	}
	r.Actual = c.actual(o, passed)
	if passed {
		r.passf("%s", reasoning(o, "The judge gave no reason."))
	} else {
		r.failf(Failed, judgeCode(o.Code), "%s", reasoning(o, "The judge gave no reason."))
		r.blame(e, "")
	}
	if c.scored() {
		r.score(*o.Score)
	}
}

// clone copies at most maxQuotes items of a list. It returns nil for an empty list.
func clone[T any](all []T) []T {
	if len(all) == 0 {
		return nil
	}
	return slices.Clone(all[:min(len(all), maxQuotes)])
}

// reasoning returns the reasoning of an opinion, or the text in the argument none if the reasoning is empty.
func reasoning(o *Opinion, none string) string {
	if o.Reasoning == "" {
		return none
	}
	return o.Reasoning
}

// valid reports whether an opinion contains the fields that the output requires. If a field is missing, the assertion is an error: it
// neither passes nor fails.
func (c *judged) valid(o *Opinion) bool {
	if o.Verdict != JudgePass && o.Verdict != JudgeFail {
		return false
	}
	switch c.criterion.Output {
	case OutputScore:
		return o.Score != nil && fraction(*o.Score)
	case OutputTone:
		return o.Score != nil && fraction(*o.Score) && o.Tone != nil && o.Tone.valid()
	case OutputCategorical:
		return slices.Contains(c.criterion.Labels, o.Label)
	default:
		return true
	}
}

// fraction reports whether a number is from 0 to 1. It returns false for NaN.
func fraction(x float64) bool { return x >= 0 && x <= 1 }

// expected returns the answer, the labels or the lowest score with which the assertion passes.
func (c *judged) expected() any {
	switch c.criterion.Output {
	case OutputCategorical:
		return slices.Clone(c.criterion.PassLabels)
	case OutputBoolean:
		return c.criterion.PassOnTrue
	default:
		return c.criterion.Threshold
	}
}

// actual returns the judge's answer: a label, a boolean or a score.
func (c *judged) actual(o *Opinion, passed bool) any {
	switch c.criterion.Output {
	case OutputCategorical:
		return o.Label
	case OutputBoolean:
		return passed == c.criterion.PassOnTrue
	default:
		return *o.Score
	}
}

// judgeCode returns the code if it is one of JudgeCodes, else CodeOther.
func judgeCode(code Code) Code {
	if slices.Contains(JudgeCodes(), code) {
		return code
	}
	return CodeOther
}
