package group

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest/run"
)

var _ pathway.Gate = (*Service)(nil)

// lookBack is the maximum number of a version's batches that the gate examines.
const lookBack = 100

// Check decides whether a version may be published: see pathway.Gate. All enabled scenarios of the pathway that are required for promotion
// must have passed on exactly this version, in their current revision, in one batch. Without such scenarios, any version may be published.
// If several batches contain them, the newest decides. If no batch decides and c.Start is set, Check starts a batch. If a required scenario
// failed or was an error in a batch, the version is closed until another batch is run. A batch that was canceled before a required scenario
// failed does not count. Groups of tornado sessions never count: a version that a search has chosen because it passed must pass again, and
// a person may still publish a version that the search rejected.
func (s *Service) Check(ctx context.Context, org callwright.OrgID, c pathway.Candidate) (pathway.Verdict, error) {
	required, err := s.cfg.Scenarios.RequiredScenarios(ctx, org, c.Pathway, MaxScenarios+1)
	switch {
	case err != nil:
		return pathway.Verdict{}, err
	case len(required) == 0:
		return pathway.Verdict{State: pathway.GateOpen}, nil
	case len(required) > MaxScenarios:
		return pathway.Verdict{
			State: pathway.GateClosed, Reason: fmt.Sprintf("at most %d scenarios of a pathway can be required for promotion: clear is_required_for_promotion of others", MaxScenarios),
		}, nil
	}
	batches, err := s.cfg.Store.BatchesOf(ctx, org, c.Pathway, c.Number, lookBack)
	if err != nil {
		return pathway.Verdict{}, err
	}
	for _, b := range batches {
		if b.Hash != c.Hash || !b.covers(required) {
			continue
		}
		if v, decided, err := s.judge(ctx, b, required); decided || err != nil {
			return v, err
		}
	}
	if !c.Start {
		return pathway.Verdict{State: pathway.GateClosed, Reason: "its required scenarios have not been run together on this version: run them in one batch"}, nil
	}
	b, _, err := s.StartBatch(ctx, org, BatchRequest{
		Scenarios: slices.Sorted(maps.Keys(required)), Version: &c.Number, Trigger: ByPromotion, inside: true,
	})
	return pathway.Verdict{State: pathway.GateRunning, Batch: b.ID, Reason: "its required scenarios are being run"}, err
}

// covers reports whether a batch contains all required scenarios in these revisions.
func (b Batch) covers(required map[string]int64) bool {
	found := 0
	for _, p := range b.Scenarios {
		if revision, ok := required[p.Scenario]; ok && revision == p.Revision {
			found++
		}
	}
	return found == len(required)
}

// maxNamed is the maximum number of scenarios that the reason of a verdict names.
const maxNamed = 5

// judge returns the verdict of a batch. decided is false for a batch that was canceled before a required scenario failed.
func (s *Service) judge(ctx context.Context, b Batch, required map[string]int64) (v pathway.Verdict, decided bool, err error) {
	if b.Open() {
		return pathway.Verdict{State: pathway.GateRunning, Batch: b.ID, Reason: "its required scenarios are being run"}, true, nil
	}
	runs, err := s.cfg.Run.Store.FindRuns(ctx, b.Org, run.Filter{Batch: b.ID, Limit: MaxScenarios})
	if err != nil {
		return pathway.Verdict{}, false, err
	}
	var missing []string
	passed := 0
	decided = b.State != run.Cancelled
	for _, r := range runs {
		_, counts := required[r.Scenario]
		decided = decided || counts && r.State == run.Failed
		switch {
		case !counts:
		case r.State == run.Passed:
			passed++
		case len(missing) < maxNamed:
			missing = append(missing, fmt.Sprintf("%q is %s", r.Name, r.State))
		}
	}
	if passed == len(required) {
		return pathway.Verdict{State: pathway.GateOpen, Batch: b.ID}, true, nil
	}
	return pathway.Verdict{
		State: pathway.GateClosed, Batch: b.ID,
		Reason: fmt.Sprintf("%d of %d required scenarios have passed: %s; run them again together in a batch, or publish another version",
			passed, len(required), strings.Join(missing, ", ")),
	}, decided, nil
}
