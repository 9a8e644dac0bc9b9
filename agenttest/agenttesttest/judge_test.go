package agenttesttest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/assert"
)

// fixed is a judge with a verdict for each assertion id. Without a verdict, Judge returns an error.
type fixed map[string]assert.JudgeVerdict

// Judge returns the verdict of the criterion's assertion.
func (j fixed) Judge(_ context.Context, _ *assert.Evidence, c assert.Criterion) (assert.Opinion, error) {
	if j[c.Assertion] == "" {
		return assert.Opinion{Usage: llm.Usage{Input: 1}}, errors.New("no opinion")
	}
	return assert.Opinion{Verdict: j[c.Assertion], Usage: llm.Usage{Input: 2}}, nil
}

// TestMeasureJudge checks agreement and kappa against values that were computed with other programs.
func TestMeasureJudge(t *testing.T) {
	t.Parallel()
	const pass, fail, cannot = assert.JudgePass, assert.JudgeFail, assert.CannotJudge
	verdicts := []assert.JudgeVerdict{pass, fail, cannot}
	for name, c := range map[string]struct {
		table            [3][3]int // number of cases, by people's and then the judge's verdict
		agreement, kappa float64   // NaN means nil
	}{
		"textbook":        {[3][3]int{{20, 5}, {10, 15}}, 0.7, 0.4},
		"skewed":          {[3][3]int{{45, 15}, {25, 15}}, 0.6, 0.130434782608696},
		"skewed less":     {[3][3]int{{25, 35}, {5, 35}}, 0.6, 0.259259259259259},
		"three verdicts":  {[3][3]int{{10, 2, 1}, {3, 8, 1}, {0, 1, 4}}, 22.0 / 30, 0.578207381370826},
		"full agreement":  {[3][3]int{{3, 0, 0}, {0, 4, 0}, {0, 0, 5}}, 1, 1},
		"no agreement":    {[3][3]int{{0, 3}, {3, 0}}, 0, -1},
		"always pass":     {[3][3]int{{6}, {4}}, 0.6, 0},
		"one verdict all": {[3][3]int{{6}}, 1, math.NaN()},
		"nothing":         {[3][3]int{}, math.NaN(), math.NaN()},
	} {
		j := fixed{}
		cases := []agenttesttest.LabeledCase{{Name: "broken", Want: pass}}
		wrong := 0
		for w, row := range c.table {
			for g, count := range row {
				for n := range count {
					id := fmt.Sprintf("%d-%d-%d", w, g, n)
					j[id] = verdicts[g]
					cases = append(cases, agenttesttest.LabeledCase{Name: id, Criterion: assert.Criterion{Assertion: id}, Want: verdicts[w]})
					if w != g {
						wrong++
					}
				}
			}
		}
		q := agenttesttest.MeasureJudge(t.Context(), j, cases)
		if q.Judged != len(j) || len(q.Errors) != 1 || q.Errors["broken"] == nil || len(q.Wrong) != wrong || q.Usage.Input != 2*len(j)+1 {
			t.Errorf("%s: got %+v", name, q)
		}
		same := func(got *float64, want float64) bool {
			return (got == nil) == math.IsNaN(want) && (got == nil || math.Abs(*got-want) < 1e-9)
		}
		if !same(q.Agreement, c.agreement) || !same(q.Kappa, c.kappa) {
			t.Errorf("%s: agreement %v, kappa %v", name, q.Agreement, q.Kappa)
		}
	}
}

func TestLabeledCases(t *testing.T) {
	t.Parallel()
	count := map[assert.JudgeVerdict]int{}
	var names []string
	j := fixed{}
	for _, c := range agenttesttest.LabeledCases() {
		count[c.Want]++
		names = append(names, c.Name)
		j[c.Criterion.Assertion] = c.Want
		if len(c.Evidence.Turns) == 0 || c.Criterion.Prompt == "" {
			t.Errorf("%s lacks words", c.Name)
		}
	}
	slices.Sort(names)
	if len(slices.Compact(names)) < 15 || len(j) != len(names) || count[assert.JudgePass] < 5 || count[assert.JudgeFail] < 5 || count[assert.CannotJudge] < 2 {
		t.Errorf("there are %v of %v", count, names)
	}
	if q := agenttesttest.MeasureJudge(t.Context(), j, agenttesttest.LabeledCases()); *q.Kappa != 1 {
		t.Errorf("people disagree with themselves: %+v", q)
	}
}
