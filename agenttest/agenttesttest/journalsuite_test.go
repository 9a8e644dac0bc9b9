package agenttesttest_test

import (
	"testing"

	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/engine"
)

func TestMemoryJournal(t *testing.T) {
	t.Parallel()
	agenttesttest.RunJournal(t, func(*testing.T) func() engine.Journal {
		j := &engine.MemoryJournal{}
		return func() engine.Journal { return j }
	})
}
