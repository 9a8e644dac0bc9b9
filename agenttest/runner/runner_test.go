package runner_test

import (
	"testing"

	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/runner"
)

// newRunner returns a runner that contains only these versions.
func newRunner(tb testing.TB, versions ...agenttesttest.Version) *runner.Runner {
	tb.Helper()
	r, err := runner.New(runner.Config{Versions: agenttesttest.Versions(versions)})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func TestRunner(t *testing.T) { //nolint:paralleltest // the suite looks for goroutines that are left
	agenttesttest.RunRunner(t, func(t *testing.T, versions ...agenttesttest.Version) engine.PathwayRunner {
		return newRunner(t, versions...)
	})
}
