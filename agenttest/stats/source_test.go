package stats_test

import (
	"testing"

	"github.com/callwright/callwright/agenttest/stats"
)

func TestSourceOf(t *testing.T) {
	t.Parallel()
	const p, f = stats.Passed, stats.Failed
	again := func(s stats.State, n int) (list []stats.State) {
		for range n {
			list = append(list, s)
		}
		return list
	}
	mixed := stats.Scenario{Passed: 3, Failed: 2, IsFlaky: true}
	frozen := func(list ...stats.Frozen) []stats.Frozen { return list }
	for name, c := range map[string]struct {
		of     stats.Scenario
		frozen []stats.Frozen
		want   stats.Source
	}{
		"the same five times, as the agent varied": {mixed, frozen(
			stats.Frozen{State: p, Again: again(p, 3), Digest: "paid"}, stats.Frozen{State: f, Again: again(f, 3), Digest: "refused"},
			stats.Frozen{State: p, Again: again(p, 3), Digest: "paid"}, stats.Frozen{State: f, Again: again(f, 3), Digest: "refused"},
			stats.Frozen{State: p, Again: again(p, 3), Digest: "paid"},
		), stats.FromAgentOrCaller},
		"one verdict of many changes": {mixed, frozen(
			stats.Frozen{State: p, Again: again(p, 3), Digest: "1"}, stats.Frozen{State: f, Again: []stats.State{f, f, p}, Digest: "2"},
		), stats.FromJudge},
		"all verdicts change":                   {mixed, frozen(stats.Frozen{State: f, Again: again(p, 3), Digest: "1"}), stats.FromJudge},
		"one conversation has both verdicts":    {mixed, frozen(stats.Frozen{State: p, Digest: "1"}, stats.Frozen{State: f, Digest: "1"}), stats.FromJudge},
		"the judge says nothing":                {mixed, frozen(stats.Frozen{State: p, Digest: "1"}, stats.Frozen{State: f, Digest: "2"}), stats.NoSource},
		"the judge says nothing about failures": {mixed, frozen(stats.Frozen{State: p, Again: again(p, 3), Digest: "1"}, stats.Frozen{State: f, Again: again(f, 2), Digest: "2"}), stats.NoSource},
		"nothing was judged again":              {mixed, nil, stats.NoSource},
		"passed and errors":                     {stats.Scenario{Passed: 4, Errors: 1}, nil, stats.FromErrors},
		"failed and errors":                     {stats.Scenario{Failed: 4, Errors: 1}, nil, stats.FromErrors},
		"errors alone":                          {stats.Scenario{Errors: 5}, nil, stats.NoSource},
		"no variation":                          {stats.Scenario{Passed: 5}, nil, stats.NoSource},
		"all three, by the agent": {stats.Scenario{Passed: 1, Failed: 1, Errors: 1, IsFlaky: true}, frozen(
			stats.Frozen{State: p, Again: again(p, 3), Digest: "1"}, stats.Frozen{State: f, Again: again(f, 3), Digest: "2"},
		), stats.FromAgentOrCaller},
	} {
		if got := stats.SourceOf(c.of, c.frozen); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
