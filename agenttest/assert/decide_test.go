package assert_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agenttest/assert"
)

// result returns the result of an assertion with this outcome. A broken result contains no score.
func result(o assert.Outcome, required bool, weight, score float64) assert.Result {
	r := assert.Result{Assertion: fmt.Sprint(o, required), Outcome: o, Required: required, Weight: weight, Score: &score}
	if o == broken {
		r.Score = nil
	}
	return r
}

func TestDecide(t *testing.T) {
	t.Parallel()
	type results = []assert.Result
	least := func(x float64) *float64 { return &x }
	for name, c := range map[string]struct {
		results  results
		least    *float64
		verdict  assert.Outcome
		score    float64 // -1 means nil
		excluded int
		warnings int
	}{
		"none":                           {nil, nil, passed, -1, 0, 1},
		"none, with a least score":       {nil, least(0.5), passed, -1, 0, 1},
		"all pass":                       {results{result(passed, true, 1, 1), result(passed, true, 1, 1)}, nil, passed, 1, 0, 0},
		"by weight":                      {results{result(passed, true, 3, 1), result(failed, false, 1, 0)}, nil, passed, 0.75, 0, 0},
		"a part of a score":              {results{result(passed, true, 1, 0.8), result(failed, false, 1, 0.4)}, nil, passed, 0.6, 0, 0},
		"required fails":                 {results{result(passed, true, 1, 1), result(failed, true, 1, 0)}, nil, failed, 0.5, 0, 0},
		"required is an error":           {results{result(passed, true, 1, 1), result(broken, true, 9, 0)}, nil, broken, 1, 0, 0},
		"failure before error":           {results{result(broken, true, 1, 0), result(failed, true, 1, 0)}, nil, failed, 0, 0, 0},
		"error after failure":            {results{result(failed, true, 1, 0), result(broken, true, 1, 0)}, nil, failed, 0, 0, 0},
		"optional error":                 {results{result(passed, true, 1, 1), result(broken, false, 1, 0)}, nil, passed, 1, 1, 0},
		"optional errors only":           {results{result(broken, false, 1, 0), result(broken, false, 1, 0)}, least(0.5), passed, -1, 2, 0},
		"optional failure":               {results{result(failed, false, 1, 0)}, nil, passed, 0, 0, 0},
		"least score":                    {results{result(passed, true, 1, 1), result(failed, false, 1, 0)}, least(0.5), passed, 0.5, 0, 0},
		"below the least score":          {results{result(passed, true, 1, 1), result(failed, false, 1, 0)}, least(0.51), failed, 0.5, 0, 0},
		"an error is not below":          {results{result(broken, true, 1, 0), result(failed, false, 1, 0)}, least(0.5), broken, 0, 0, 0},
		"a mean of equals is not below":  {results{result(passed, true, 1, 0.7), result(passed, true, 1, 0.7), result(passed, true, 1, 0.7)}, least(0.7), passed, 0.7, 0, 0},
		"no weight":                      {results{result(passed, true, 0, 1), result(failed, true, 0, 0)}, nil, failed, -1, 0, 0},
		"no weight does not move":        {results{result(passed, true, 1, 1), result(failed, false, 0, 0)}, nil, passed, 1, 0, 0},
		"weights that would overflow":    {results{result(passed, true, math.MaxFloat64, 1), result(failed, false, math.MaxFloat64, 0)}, nil, passed, 0.5, 0, 0},
		"weights that are no numbers":    {results{result(passed, true, math.NaN(), 1), result(failed, false, math.Inf(1), 0), result(failed, false, -1, 0), result(failed, false, 1, 0.5)}, nil, passed, 0.5, 0, 0},
		"a score that is no number":      {results{result(passed, true, 1, math.NaN()), result(passed, true, 1, 0.5)}, nil, passed, 0.5, 0, 0},
		"an outcome that is none":        {results{result("", true, 1, 1)}, nil, broken, -1, 0, 0},
		"an optional outcome that is no": {results{result("", false, 1, 1)}, nil, passed, -1, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := assert.Decide(c.results, c.least)
			if d.Verdict != c.verdict || len(d.Excluded) != c.excluded || len(d.Warnings) != c.warnings {
				t.Errorf("got %+v", d)
			}
			if (d.Score == nil) != (c.score < 0) || d.Score != nil && math.Abs(*d.Score-c.score) > 1e-12 {
				t.Errorf("score %v, want %v", d.Score, c.score)
			}
		})
	}
}

// anyResults draws the results of a random run.
func anyResults(t *rapid.T) []assert.Result {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) assert.Result {
		return result(rapid.SampledFrom([]assert.Outcome{passed, failed, broken}).Draw(t, "outcome"), rapid.Bool().Draw(t, "required"),
			rapid.Float64Range(0, assert.MaxWeight).Draw(t, "weight"), rapid.Float64Range(0, 1).Draw(t, "score"))
	}), 0, 8).Draw(t, "results")
}

// The function and returns the conjunction of two verdicts in Kleene's three-valued logic.
func and(a, b assert.Outcome) assert.Outcome {
	order := []assert.Outcome{failed, broken, passed}
	return order[min(slices.Index(order, a), slices.Index(order, b))]
}

// TestDecideIsKleeneAnd checks that the verdict on two concatenated lists is the conjunction of the lists' verdicts, in any order, and that
// optional results change no verdict.
func TestDecideIsKleeneAnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyResults(t), anyResults(t)
		both := slices.Concat(a, b)
		verdict := assert.Decide(both, nil).Verdict
		if want := and(assert.Decide(a, nil).Verdict, assert.Decide(b, nil).Verdict); verdict != want {
			t.Fatalf("got %s, want %s", verdict, want)
		}
		if swapped := assert.Decide(slices.Concat(b, a), nil).Verdict; swapped != verdict {
			t.Fatalf("in another order %s, not %s", swapped, verdict)
		}
		if again := assert.Decide(slices.Concat(both, both), nil).Verdict; again != verdict {
			t.Fatalf("twice %s, not %s", again, verdict)
		}
		required := slices.DeleteFunc(slices.Clone(both), func(r assert.Result) bool { return !r.Required })
		if alone := assert.Decide(required, nil).Verdict; alone != verdict {
			t.Fatalf("without optional results %s, not %s", alone, verdict)
		}
	})
}

// TestDecideScores checks that the score lies between the lowest and the highest evaluated score, and that a minimum score changes only
// verdicts of passing runs.
func TestDecideScores(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		results := anyResults(t)
		low, high, errs := 2.0, -1.0, 0
		for _, r := range results {
			if r.Outcome != broken && r.Weight > 0 {
				low, high = min(low, *r.Score), max(high, *r.Score)
			}
			if r.Outcome == broken && !r.Required {
				errs++
			}
		}
		d := assert.Decide(results, nil)
		if len(d.Excluded) != errs || (len(d.Warnings) > 0) != (len(results) == 0) {
			t.Fatalf("%d excluded, %d warnings", len(d.Excluded), len(d.Warnings))
		}
		if (d.Score == nil) != (high < 0) || d.Score != nil && (*d.Score < low-1e-9 || *d.Score > high+1e-9 || *d.Score < 0 || *d.Score > 1) {
			t.Fatalf("score %v, not from %v to %v", d.Score, low, high)
		}
		least := rapid.Float64Range(0, 1).Draw(t, "least")
		with := assert.Decide(results, &least)
		if with.Verdict != d.Verdict && (d.Verdict != passed || with.Verdict != failed || *d.Score >= least) {
			t.Fatalf("the least score %v makes %s of %s with the score %v", least, with.Verdict, d.Verdict, d.Score)
		}
	})
}
