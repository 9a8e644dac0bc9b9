package webhook_test

import (
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/request"
)

func TestRequests(t *testing.T) {
	t.Parallel()
	agentstest.RunRequests(t, agentstest.RequestsHarness{
		New:     func(t *testing.T) request.Client { return sender(t, true) },
		Guarded: func(t *testing.T) request.Client { return sender(t, false) },
	})
}
