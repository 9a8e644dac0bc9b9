package sip_test

import (
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
)

// TestRoutesOfCalls runs the conformance suite of call.Routes on sip.Service.
func TestRoutesOfCalls(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, outbound("sip:one.example.com"))
	agentstest.RunRoutes(t, h, "a", "b", one)
}
