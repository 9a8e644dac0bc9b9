package judge_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/judge"
)

func TestVotes(t *testing.T) {
	t.Parallel()
	boolean, score, label := polite, criterion(assert.OutputScore), criterion(assert.OutputCategorical)
	with := func(c assert.Criterion, samples int, symmetric bool) assert.Criterion {
		c.Samples, c.Symmetric = samples, symmetric
		return c
	}
	for name, c := range map[string]struct {
		criterion assert.Criterion
		cfg       judge.Config
		answers   []string
		asked     int
		want      assert.JudgeVerdict
		agreement float64
		score     float64 // 0 means nil
		label     string
	}{
		"one pass is enough":         {boolean, judge.Config{}, []string{pass, fail, fail}, 1, assert.JudgePass, 1, 0, ""},
		"a fail is confirmed":        {boolean, judge.Config{}, []string{fail, pass, fail}, 3, assert.JudgeFail, 2.0 / 3, 0, ""},
		"a fail is not confirmed":    {boolean, judge.Config{}, []string{fail, pass, pass}, 3, assert.JudgePass, 2.0 / 3, 0, ""},
		"all fail":                   {boolean, judge.Config{}, []string{fail}, 3, assert.JudgeFail, 1, 0, ""},
		"no opinion is confirmed":    {boolean, judge.Config{}, []string{cannot, pass, pass}, 3, assert.JudgePass, 2.0 / 3, 0, ""},
		"no opinion":                 {boolean, judge.Config{}, []string{cannot, cannot, pass}, 3, assert.CannotJudge, 2.0 / 3, 0, ""},
		"all differ":                 {boolean, judge.Config{}, []string{fail, pass, cannot}, 3, assert.CannotJudge, 1.0 / 3, 0, ""},
		"no majority":                {with(boolean, 5, false), judge.Config{}, []string{fail, pass, pass, fail, cannot}, 5, assert.CannotJudge, 0.2, 0, ""},
		"five":                       {with(boolean, 5, false), judge.Config{}, []string{fail, pass, pass, fail, pass}, 5, assert.JudgePass, 0.6, 0, ""},
		"one":                        {with(boolean, 1, false), judge.Config{Samples: 5}, []string{fail, pass}, 1, assert.JudgeFail, 1, 0, ""},
		"an even number":             {boolean, judge.Config{Samples: 4}, []string{fail, pass}, 5, assert.JudgePass, 0.8, 0, ""},
		"too many":                   {boolean, judge.Config{Samples: 99}, []string{fail, pass}, 5, assert.JudgePass, 0.8, 0, ""},
		"symmetric":                  {with(boolean, 0, true), judge.Config{}, []string{pass, fail, fail}, 3, assert.JudgeFail, 2.0 / 3, 0, ""},
		"symmetric by configuration": {boolean, judge.Config{Symmetric: true}, []string{pass, fail, fail}, 3, assert.JudgeFail, 2.0 / 3, 0, ""},
		"the median passes":          {score, judge.Config{}, []string{scored("0.1"), scored("0.7"), scored("0.9")}, 3, assert.JudgePass, 2.0 / 3, 0.7, ""},
		"the median fails":           {score, judge.Config{}, []string{scored("0.1"), scored("0.65"), scored("0.9")}, 3, assert.JudgeFail, 2.0 / 3, 0.65, ""},
		"the middle of two":          {score, judge.Config{}, []string{scored("null"), scored("0.75"), scored("0.9")}, 3, assert.JudgePass, 2.0 / 3, 0.825, ""},
		"scores without a majority":  {score, judge.Config{}, []string{scored("null"), scored("0.5"), scored("0.9")}, 3, assert.CannotJudge, 1.0 / 3, 0, ""},
		"one label":                  {label, judge.Config{}, []string{labeled("warm"), labeled("cold")}, 1, assert.JudgePass, 1, 0, "warm"},
		"most labels":                {label, judge.Config{}, []string{labeled("cold"), labeled("kind"), labeled("kind")}, 3, assert.JudgePass, 2.0 / 3, 0, "kind"},
		"labels that differ":         {label, judge.Config{}, []string{labeled("cold"), labeled("kind"), labeled("warm")}, 3, assert.CannotJudge, 0, 0, ""},
		"plurality":                  {with(label, 5, false), judge.Config{}, []string{labeled("cold"), labeled("kind"), labeled("cold"), labeled(""), labeled("warm")}, 5, assert.JudgeFail, 0.4, 0, "cold"},
		"a tie":                      {with(label, 5, false), judge.Config{}, []string{labeled("cold"), labeled("kind"), labeled("cold"), labeled("kind"), labeled("warm")}, 5, assert.CannotJudge, 0, 0, ""},
		"no label":                   {label, judge.Config{}, []string{labeled(""), labeled(""), labeled("warm")}, 3, assert.CannotJudge, 2.0 / 3, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := each(c.answers...)
			o := ask(t, m, c.criterion, c.cfg)
			if o.Verdict != c.want || math.Abs(o.Agreement-c.agreement) > 1e-9 || o.Label != c.label || len(o.Samples) != c.asked || len(m.Questions()) != c.asked || o.Usage.Output != 10*c.asked {
				t.Errorf("got %+v after %d questions", o, len(m.Questions()))
			}
			if (o.Score == nil) != (c.score == 0) || o.Score != nil && math.Abs(*o.Score-c.score) > 1e-9 {
				t.Errorf("the score is %v", o.Score)
			}
		})
	}
	if o := ask(t, each(fail, pass, cannot), boolean, judge.Config{}); o.Reasoning != "The votes do not agree: 1 for fail, 1 for pass, 1 for cannot_judge." {
		t.Errorf("the reasoning is %q", o.Reasoning)
	}
	if o := ask(t, each(scored("0.1"), scored("0.9"), scored("0.7")), score, judge.Config{}); o.Reasoning != "Scored 0.7." {
		t.Errorf("the reasoning of the median is %q", o.Reasoning)
	}
}

// TestVotesAsAProperty compares opinions on random votes with the definitions of majority, plurality, median and agreement.
func TestVotesAsAProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		output := rapid.SampledFrom([]assert.Output{assert.OutputBoolean, assert.OutputScore, assert.OutputCategorical}).Draw(r, "output")
		c := criterion(output)
		c.Samples = rapid.SampledFrom([]int{1, 3, 5}).Draw(r, "samples")
		c.Symmetric = rapid.Bool().Draw(r, "symmetric")
		c.Threshold = float64(rapid.IntRange(0, 20).Draw(r, "threshold")) / 20
		var answers, kinds []string
		var scores []float64
		for range c.Samples {
			var answer, kind string
			switch output {
			case assert.OutputScore:
				if n := rapid.IntRange(-3, 20).Draw(r, "score"); n < 0 {
					answer, kind = scored("null"), "cannot_judge"
					scores = append(scores, math.NaN())
				} else {
					text := fmt.Sprintf("%.2f", float64(n)/20)
					answer, kind = scored(text), "fail"
					if float64(n)/20 >= c.Threshold {
						kind = "pass"
					}
					scores = append(scores, float64(n)/20)
				}
			case assert.OutputCategorical:
				kind = rapid.SampledFrom([]string{"warm", "kind", "cold", ""}).Draw(r, "label")
				answer = labeled(kind)
			default:
				kind = rapid.SampledFrom([]string{"pass", "fail", "cannot_judge"}).Draw(r, "verdict")
				answer = map[string]string{"pass": pass, "fail": fail, "cannot_judge": cannot}[kind]
			}
			answers, kinds = append(answers, answer), append(kinds, kind)
		}
		m := each(answers...)
		o, err := judge.New(m, judge.Config{}).Judge(t.Context(), order(), c)
		if err != nil {
			r.Fatal(err)
		}
		n := c.Samples
		if passing := kinds[0] == "pass" || kinds[0] == "warm" || kinds[0] == "kind"; passing && !c.Symmetric {
			n = 1
		}
		if len(o.Samples) != n || len(m.Questions()) != n {
			r.Fatalf("%d votes, want %d", len(o.Samples), n)
		}
		verdict, label, agreement := define(output, kinds[:n])
		if o.Verdict != verdict || o.Label != label || math.Abs(o.Agreement-agreement) > 1e-9 {
			r.Fatalf("%v: got %+v, want %s %q %v", kinds[:n], o, verdict, label, agreement)
		}
		if output != assert.OutputScore || verdict == assert.CannotJudge {
			if o.Score != nil {
				r.Fatalf("the score is %v", *o.Score)
			}
			return
		}
		given := slices.DeleteFunc(slices.Clone(scores[:n]), math.IsNaN)
		slices.Sort(given)
		median := given[len(given)/2]
		if len(given)%2 == 0 {
			median = (median + given[len(given)/2-1]) / 2
		}
		if math.Abs(*o.Score-median) > 1e-9 || (*o.Score >= c.Threshold) != (verdict == assert.JudgePass) {
			r.Fatalf("%v: the score is %v, want %v; verdict %s at %v", given, *o.Score, median, verdict, c.Threshold)
		}
	})
}

// define returns the decision of votes by the definitions of majority and plurality.
func define(output assert.Output, kinds []string) (verdict assert.JudgeVerdict, label string, agreement float64) {
	count := map[string]int{}
	for _, k := range kinds {
		count[k]++
	}
	best, ties := "", 0
	for k, n := range count {
		switch {
		case best == "" && ties == 0 || n > count[best]:
			best, ties = k, 1
		case n == count[best]:
			ties++
		}
	}
	share := func(k string) float64 { return float64(count[k]) / float64(len(kinds)) }
	if output == assert.OutputCategorical {
		switch {
		case ties > 1 || best == "":
			return assert.CannotJudge, "", share("")
		case best == "cold":
			return assert.JudgeFail, best, share(best)
		default:
			return assert.JudgePass, best, share(best)
		}
	}
	if 2*count[best] <= len(kinds) {
		return assert.CannotJudge, "", share("cannot_judge")
	}
	return assert.JudgeVerdict(best), "", share(best)
}

// TestFlips checks the probability of a wrong decision, given the probability of a wrong vote, over all combinations of three votes.
func TestFlips(t *testing.T) {
	t.Parallel()
	wrong := func(truth, other string, symmetric bool, q float64) float64 {
		sum := 0.0
		for flips := range 8 {
			answers, chance := make([]string, 3), 1.0
			for i := range answers {
				answers[i] = truth
				if flips>>i&1 == 1 {
					answers[i] = other
					chance *= q
				} else {
					chance *= 1 - q
				}
			}
			if o := ask(t, each(answers...), polite, judge.Config{Symmetric: symmetric}); !strings.Contains(truth, `"verdict":"`+string(o.Verdict)+`"`) {
				sum += chance
			}
		}
		return sum
	}
	for q, want := range map[float64]float64{0.05: 0.0073, 0.1: 0.028, 0.2: 0.104} {
		for _, got := range []float64{wrong(pass, fail, true, q), wrong(fail, pass, true, q)} {
			if math.Abs(got-want) > 0.00005 {
				t.Errorf("symmetric votes that are wrong with %v are wrong together with %v, want %v", q, got, want)
			}
		}
		// Votes that confirm a failure correct false failures, but no false passes.
		if got, want := wrong(pass, fail, false, q), q*(1-(1-q)*(1-q)); math.Abs(got-want) > 1e-9 {
			t.Errorf("false failures at %v: %v, want %v", q, got, want)
		}
		if got, want := wrong(fail, pass, false, q), q+(1-q)*q*q; math.Abs(got-want) > 1e-9 {
			t.Errorf("false passes at %v: %v, want %v", q, got, want)
		}
	}
}
