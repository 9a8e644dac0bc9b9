package judge_test

import (
	"testing"

	"github.com/callwright/callwright/agenttest/judge"
)

// BenchmarkJudge measures an opinion with one vote, excluding the model's time.
func BenchmarkJudge(b *testing.B) {
	e, m := order(), &canned{answer: pass}
	j := judge.New(m, judge.Config{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := j.Judge(b.Context(), e, polite); err != nil {
			b.Fatal(err)
		}
	}
}
