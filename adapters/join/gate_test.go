package join_test

import (
	"context"
	"errors"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/join"
	"github.com/callwright/callwright/agents/pathway"
)

// decision is a gate that always returns the same verdict.
type decision struct{ pathway.Verdict }

func (d decision) Check(context.Context, callwright.OrgID, pathway.Candidate) (pathway.Verdict, error) {
	return d.Verdict, nil
}

// TestGateIsClosedUntilSomebodyDecides checks that Check returns CodeUnavailable before Open, and the verdict of the opened gate
// afterwards.
func TestGateIsClosedUntilSomebodyDecides(t *testing.T) {
	t.Parallel()
	var g join.Gate
	v, err := g.Check(t.Context(), "org", pathway.Candidate{})
	if !errors.Is(err, callwright.ErrUnavailable) || v.State == pathway.GateOpen {
		t.Errorf("before there are tests: %+v, %v", v, err)
	}
	g.Open(decision{pathway.Verdict{State: pathway.GateRunning, Batch: "b"}})
	if v, err = g.Check(t.Context(), "org", pathway.Candidate{}); err != nil || v.Batch != "b" || v.State != pathway.GateRunning {
		t.Errorf("afterwards: %+v, %v", v, err)
	}
}
