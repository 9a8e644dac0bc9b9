package agenttest

import (
	"context"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
)

// BatchRequest starts a batch.
type BatchRequest struct {
	Scenarios []string // ids, each once, at most MaxScenarios
	Version   *int     // see RunRequest
	Webhook   string
	// Publish publishes the version when all runs have passed, unless another version has gone to production meanwhile. All
	// scenarios must be of one pathway.
	Publish bool
	Trigger Trigger

	Budget      engine.Limit // of all runs together; the zero Limit: none
	Concurrency int          // runs at once, at most MaxConcurrency; 0: as many as the organization may have
}

// StartBatch starts a run of each of several scenarios. A scenario that is absent refuses the whole batch: CodeNotFound
// with its field. Otherwise see StartRun.
func (s *Service) StartBatch(ctx context.Context, org callwright.OrgID, r BatchRequest) (Batch, []Run, error) {
	if err := s.checkWebhook(r.Webhook); err != nil {
		return Batch{}, nil, err
	}
	b := Batch{
		Org: org, Kind: OneEach, Trigger: r.Trigger, Simulations: 1, Webhook: r.Webhook, Publish: r.Publish,
		Budget: r.Budget, Concurrency: r.Concurrency,
	}
	release, err := s.reserveGroup(ctx, b, r.Scenarios)
	if err != nil {
		return Batch{}, nil, err
	}
	defer release()
	b, snaps, err := s.group(ctx, b, r.Scenarios, r.Version)
	if err != nil {
		return Batch{}, nil, err
	}
	if r.Publish && (b.Pathway == "" || b.Version == 0) {
		return Batch{}, nil, callwright.Invalid("publish_on_pass",
			"needs scenarios of one pathway and a version_number of a saved version, because that version is published")
	}
	if r.Publish {
		if b.Over, err = s.inProduction(ctx, org, b.Pathway); err != nil {
			return Batch{}, nil, err
		}
	}
	runs := make([]Run, len(snaps))
	for i, part := range b.Scenarios {
		runs[i] = s.newRun(org, part)
		runs[i].Batch, runs[i].Budget = b.ID, b.Budget
	}
	b.Created = len(runs)
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := s.admit(ctx, org, len(runs)); err != nil {
			return err
		}
		return s.insert(ctx, b, snaps, runs)
	})
	if err == nil {
		s.wakeUp()
	}
	return b, runs, err
}

// insert keeps a group with its first runs.
func (s *Service) insert(ctx context.Context, b Batch, snaps []Snapshot, runs []Run) error {
	if err := s.cfg.Store.InsertBatch(ctx, b); err != nil {
		return err
	}
	if err := s.cfg.Store.InsertSnapshots(ctx, snaps); err != nil {
		return err
	}
	return s.cfg.Store.InsertRuns(ctx, runs)
}

// reserveGroup checks what a group is to be like and reserves room for its start.
func (s *Service) reserveGroup(ctx context.Context, b Batch, ids []string) (release func(), err error) {
	if err := checkIDs(ids); err != nil {
		return nil, err
	}
	if err := s.checkBudget(b.Budget); err != nil {
		return nil, err
	}
	if err := checkConcurrency(b.Concurrency); err != nil {
		return nil, err
	}
	return s.reserve(ctx, b.Org, len(ids)*b.Simulations, startsOfGroup)
}

// group fills in what a group tests.
func (s *Service) group(ctx context.Context, b Batch, ids []string, number *int) (Batch, []Snapshot, error) {
	list, err := s.cfg.Store.FindScenarios(ctx, b.Org, ScenarioFilter{IDs: ids, Limit: len(ids)})
	if err != nil {
		return b, nil, err
	}
	found := make(map[string]scenario.Scenario, len(list))
	for _, l := range list {
		found[l.ID] = l.Scenario
	}
	now := s.cfg.Clock.Now()
	b.ID, b.State, b.CreatedAt, b.Revision = s.cfg.IDs.New(), Pending, now, 1
	versions := map[[2]string]version{} // by pathway and persona
	snaps := make([]Snapshot, len(ids))
	for i, id := range ids {
		sc, ok := found[id]
		if !ok {
			// The list may have ended early, at MaxRead.
			if sc, err = s.cfg.Store.Scenario(ctx, b.Org, id); err != nil {
				return b, nil, callwright.InField(fmt.Sprintf("scenario_ids[%d]", i), err)
			}
		}
		tests := [2]string{sc.Pathway, sc.Persona}
		v, ok := versions[tests]
		if !ok {
			if v, err = s.tested(ctx, sc, number); err != nil {
				return b, nil, err
			}
			versions[tests] = v
		}
		snaps[i] = s.snapshot(sc, v)
		b.Scenarios = append(b.Scenarios, partOf(snaps[i]))
		b.Pathway, b.Persona, b.Version, b.Hash = sc.Pathway, sc.Persona, v.number, v.hash
	}
	if len(versions) > 1 {
		b.Pathway, b.Persona, b.Version, b.Hash = "", "", 0, ""
	}
	return b, snaps, nil
}

func checkIDs(ids []string) error {
	if len(ids) == 0 || len(ids) > MaxScenarios {
		return callwright.Invalid("scenario_ids", "must have 1 to %d ids", MaxScenarios)
	}
	seen := map[string]bool{}
	for i, id := range ids {
		if seen[id] {
			return callwright.Invalid(fmt.Sprintf("scenario_ids[%d]", i), "must not be there twice")
		}
		seen[id] = true
	}
	return nil
}

// SetRequest starts a simulation set.
type SetRequest struct {
	Scenarios   []string // ids, each once, at most MaxScenarios
	Simulations int      // runs of each, at most MaxSimulations
	Version     *int     // see RunRequest
	Pathway     string   // all scenarios must be of it; empty: of any
	Persona     string   // likewise
	Attribute   bool     // judge mixed results again, to find where the variation comes from
	Trigger     Trigger

	Budget      engine.Limit // see BatchRequest
	Concurrency int
}

// StartSet starts many runs of each of several scenarios. Otherwise see StartBatch.
func (s *Service) StartSet(ctx context.Context, org callwright.OrgID, r SetRequest) (Batch, error) {
	if r.Simulations < 1 || r.Simulations > MaxSimulations {
		return Batch{}, callwright.Invalid("simulations_per_scenario", "must be from 1 to %d", MaxSimulations)
	}
	b := Batch{
		Org: org, Kind: Simulations, Trigger: r.Trigger, Simulations: r.Simulations, Budget: r.Budget, Concurrency: r.Concurrency,
	}
	release, err := s.reserveGroup(ctx, b, r.Scenarios)
	if err != nil {
		return Batch{}, err
	}
	defer release()
	b, snaps, err := s.group(ctx, b, r.Scenarios, r.Version)
	if err != nil {
		return Batch{}, err
	}
	if r.Attribute {
		b.Flakes = &Flakes{}
	}
	if r.Pathway != "" && b.Pathway != r.Pathway {
		return Batch{}, callwright.Invalid("pathway_id", "must be the pathway of all scenarios")
	}
	if r.Persona != "" && b.Persona != r.Persona {
		return Batch{}, callwright.Invalid("persona_id", "must be the persona of all scenarios")
	}
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := s.admit(ctx, org, b.Total()); err != nil {
			return err
		}
		if err := s.insert(ctx, b, snaps, nil); err != nil {
			return err
		}
		return s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskExpand, Key: b.ID, Org: org})
	})
	return b, err
}

// expand creates the next runs of a simulation set. Runs are created in pieces, so that a large set holds no lock for long.
func (s *Service) expand(ctx context.Context, t callwright.Task, _ int) error {
	for more := true; more; {
		err := callwright.Retry(ctx, func(ctx context.Context) error {
			return s.cfg.Atomic.Do(ctx, func(ctx context.Context) (err error) {
				more, err = s.expandOnce(ctx, t.Org, t.Key)
				return err
			})
		})
		if err != nil {
			return err
		}
		s.wakeUp()
	}
	return nil
}

// piece is how many runs are created in one transaction.
const piece = 500

func (s *Service) expandOnce(ctx context.Context, org callwright.OrgID, id string) (more bool, err error) {
	b, err := s.cfg.Store.Batch(ctx, org, id)
	if err != nil || b.State.Ended() || b.Cancel || b.Created == b.Total() {
		return false, ignoreAbsent(err)
	}
	var runs []Run
	for ; len(runs) < piece && b.Created < b.Total(); b.Created++ {
		// Trial by trial, so that a set that is cut short has as many runs of each scenario.
		run := s.newRun(org, b.Scenarios[b.Created%len(b.Scenarios)])
		run.Batch, run.Budget, run.Trial = b.ID, b.Budget, b.Created/len(b.Scenarios)
		runs = append(runs, run)
	}
	if err := s.cfg.Store.UpdateBatch(ctx, b); err != nil {
		return false, err
	}
	return b.Created < b.Total(), s.cfg.Store.InsertRuns(ctx, runs)
}
