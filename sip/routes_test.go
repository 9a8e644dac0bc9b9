package sip_test

import (
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
)

// TestRoutesOfCalls runs the suite of call.Routes.
func TestRoutesOfCalls(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, outbound("sip:one.example.com"))
	agentstest.RunRoutes(t, h, "a", "b", one)
}
