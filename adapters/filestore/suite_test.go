package filestore_test

import (
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	agentstest.RunRecordings(t, func(t *testing.T) call.Recordings {
		r, _ := open(t)
		return r
	})
}
