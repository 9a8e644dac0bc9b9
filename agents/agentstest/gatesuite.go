package agentstest

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
)

// GateHarness contains a gate under test, and functions that control it.
type GateHarness struct {
	Gate pathway.Gate
	// Require makes the gate require a passed test of every version of a pathway.
	Require func(t *testing.T, org callwright.OrgID, id string)
	// Finish finishes the newest batch of a version. If the version has no batch, Finish adds a finished batch.
	Finish func(t *testing.T, v pathway.Version, passed bool)
}

// RunGate tests a pathway.Gate. newGate returns a gate that requires no tests. The organization "a" has the pathway "p1".
func RunGate(t *testing.T, newGate func(t *testing.T) GateHarness) {
	t.Helper()
	tests := map[string]func(*testing.T, GateHarness){
		"is open where nothing is required":       opensForNothing,
		"is closed before the tests have run":     closedBefore,
		"begins the tests once":                   beginsOnce,
		"opens when the tests have passed":        opensAfter,
		"is closed when a test has failed":        closedAfter,
		"looks at exactly this version":           tellsVersions,
		"knows nothing of another organization's": tellsOrganizations,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newGate(t))
		})
	}
}

func (h GateHarness) check(t *testing.T, v pathway.Version, start bool) pathway.Verdict {
	t.Helper()
	verdict, err := h.Gate.Check(t.Context(), v.Org, pathway.Candidate{
		Pathway: v.Pathway, Number: v.Number, Hash: v.Hash, Start: start,
	})
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

func opensForNothing(t *testing.T, h GateHarness) {
	for _, start := range []bool{false, true} {
		if got := h.check(t, aVersion("a", "p1", 1), start); got.State != pathway.GateOpen || got.Batch != "" {
			t.Errorf("start %t gave %+v", start, got)
		}
	}
}

func closedBefore(t *testing.T, h GateHarness) {
	h.Require(t, "a", "p1")
	for range 2 { // a check without start begins no test
		if got := h.check(t, aVersion("a", "p1", 1), false); got.State != pathway.GateClosed || got.Batch != "" || got.Reason == "" {
			t.Errorf("got %+v", got)
		}
	}
}

func beginsOnce(t *testing.T, h GateHarness) {
	h.Require(t, "a", "p1")
	v := aVersion("a", "p1", 1)
	first := h.check(t, v, true)
	if first.State != pathway.GateRunning || first.Batch == "" {
		t.Fatalf("got %+v", first)
	}
	for _, start := range []bool{true, false} {
		if got := h.check(t, v, start); got.State != pathway.GateRunning || got.Batch != first.Batch {
			t.Errorf("start %t gave %+v after %+v", start, got, first)
		}
	}
}

func opensAfter(t *testing.T, h GateHarness) {
	h.Require(t, "a", "p1")
	v := aVersion("a", "p1", 1)
	batch := h.check(t, v, true).Batch
	h.Finish(t, v, true)
	for _, start := range []bool{false, true} {
		if got := h.check(t, v, start); got.State != pathway.GateOpen || got.Batch != batch {
			t.Errorf("start %t gave %+v, want batch %s", start, got, batch)
		}
	}
}

func closedAfter(t *testing.T, h GateHarness) {
	h.Require(t, "a", "p1")
	v := aVersion("a", "p1", 1)
	batch := h.check(t, v, true).Batch
	h.Finish(t, v, false)
	for _, start := range []bool{false, true} { // a failed batch does not begin again
		if got := h.check(t, v, start); got.State != pathway.GateClosed || got.Batch != batch || got.Reason == "" {
			t.Errorf("start %t gave %+v, want batch %s", start, got, batch)
		}
	}
}

func tellsVersions(t *testing.T, h GateHarness) {
	h.Require(t, "a", "p1")
	v, other, changed := aVersion("a", "p1", 1), aVersion("a", "p1", 2), aVersion("a", "p1", 1)
	changed.Hash = "another"
	h.Finish(t, v, true)
	for _, untested := range []pathway.Version{other, changed} {
		if got := h.check(t, untested, false); got.State != pathway.GateClosed {
			t.Errorf("version %d with hash %s gave %+v", untested.Number, untested.Hash, got)
		}
	}
	if got := h.check(t, v, false); got.State != pathway.GateOpen {
		t.Errorf("got %+v", got)
	}
}

func tellsOrganizations(t *testing.T, h GateHarness) {
	h.Require(t, "a", "p1")
	if got := h.check(t, aVersion("b", "p1", 1), true); got.State != pathway.GateOpen || got.Batch != "" {
		t.Errorf("got %+v", got)
	}
}
