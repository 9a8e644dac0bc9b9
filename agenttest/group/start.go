package group

import (
	"context"
	"fmt"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// BatchRequest describes a batch to start.
type BatchRequest struct {
	Scenarios []string // unique ids, 1 to MaxScenarios
	Version   *int     // see run.Request
	Webhook   string
	// Publish publishes the version when all runs have passed, if its gate permits this and no other version has been published meanwhile.
	// It requires that all scenarios test one pathway, and a saved version.
	Publish bool
	Trigger Trigger

	Budget      engine.Limit // limit of all runs together; the zero Limit means none
	Concurrency int          // maximum of concurrent runs, up to MaxConcurrency; 0 means the organization's limit

	inside bool // the caller has an open transaction, for which other starts may wait: do not wait for them
}

// StartBatch starts one run of each of several scenarios. If a scenario is absent, it starts nothing and returns CodeNotFound with the
// scenario's field. Otherwise see StartRun.
func (s *Service) StartBatch(ctx context.Context, org callwright.OrgID, r BatchRequest) (Batch, []run.Run, error) {
	if err := s.CheckWebhook(r.Webhook); err != nil {
		return Batch{}, nil, err
	}
	b := Batch{
		Org: org, Kind: OneEach, Trigger: r.Trigger, Simulations: 1, Webhook: r.Webhook, Publish: r.Publish,
		Budget: r.Budget, Concurrency: r.Concurrency,
	}
	return s.startGroup(ctx, b, r.Scenarios, r.Version, r.inside, func(ctx context.Context, b *Batch) (err error) {
		if !r.Publish {
			return nil
		}
		if b.Pathway == "" || b.Version == 0 {
			return callwright.Invalid("publish_on_pass",
				"requires that all scenarios test the same version of the same pathway")
		}
		b.Over, err = s.cfg.Run.Versions.InProduction(ctx, org, b.Pathway)
		return err
	})
}

// startGroup starts a group with one run of each scenario, and enqueues the creation of the other runs. check may change the complete
// group, or refuse it.
func (s *Service) startGroup(
	ctx context.Context, asked Batch, ids []string, number *int, inside bool, check func(ctx context.Context, b *Batch) error,
) (b Batch, runs []run.Run, err error) {
	release, err := s.reserveGroup(ctx, asked, ids, inside)
	if err != nil {
		return Batch{}, nil, err
	}
	defer release()
	err = callwright.Retry(ctx, func(ctx context.Context) (err error) {
		var tested []run.Version
		if b, tested, err = s.group(ctx, asked, ids, number); err != nil {
			return err
		}
		if err := check(ctx, &b); err != nil {
			return err
		}
		runs = make([]run.Run, len(b.Scenarios))
		for i := range b.Scenarios {
			runs[i] = s.runOf(b, i)
		}
		b.Created = len(runs)
		return s.cfg.Run.Atomic.Do(ctx, func(ctx context.Context) error {
			if err := s.Worker.Admit(ctx, b.Org, b.Total()); err != nil {
				return err
			}
			if err := s.insert(ctx, b, tested, runs); err != nil || b.Created == b.Total() {
				return err
			}
			return s.ledger.enqueue(ctx, b.Org, b.ID, taskExpand)
		})
	})
	if err != nil {
		return Batch{}, nil, err
	}
	s.Worker.Wake()
	return b, runs, nil
}

// insert stores a group with its first runs. They include one run of each scenario, so that all snapshots are in use.
func (s *Service) insert(ctx context.Context, b Batch, versions []run.Version, runs []run.Run) error {
	// If a later statement fails, a retry in the same transaction finds the snapshots.
	if err := s.insertSnapshots(ctx, b, versions); err != nil {
		return err
	}
	if err := s.cfg.Store.InsertBatch(ctx, b); err != nil {
		return err
	}
	return s.cfg.Run.Store.InsertRuns(ctx, runs)
}

// insertSnapshots adds the snapshots of a group that do not exist yet, one by one, because they may be large. It returns CodeConflict if a
// scenario was changed after the group was composed.
func (s *Service) insertSnapshots(ctx context.Context, b Batch, versions []run.Version) error {
	ids := make([]string, len(b.Scenarios))
	for i, part := range b.Scenarios {
		ids[i] = part.Snapshot
	}
	held, err := s.cfg.Run.Store.HoldSnapshots(ctx, b.Org, ids)
	if err != nil {
		return err
	}
	for i, part := range b.Scenarios {
		if slices.Contains(held, part.Snapshot) {
			continue
		}
		sc, err := s.cfg.Scenarios.Scenario(ctx, b.Org, part.Scenario)
		if err != nil {
			return callwright.InField(scenarioField(i), err)
		}
		snap := run.NewSnapshot(sc, versions[i], nil, s.cfg.Run.Clock.Now())
		if snap.ID != part.Snapshot {
			return callwright.ErrConflict
		}
		if err := s.cfg.Run.Store.InsertSnapshots(ctx, []run.Snapshot{snap}); err != nil {
			return err
		}
	}
	return nil
}

// reserveGroup checks the settings of a group and reserves capacity for its start. If inside is set, it reserves nothing, and only checks
// that the organization may have that many more waiting runs. The caller must call release.
func (s *Service) reserveGroup(ctx context.Context, b Batch, ids []string, inside bool) (release func(), err error) {
	if err := checkIDs(ids); err != nil {
		return nil, err
	}
	if err := s.CheckBudget(b.Budget); err != nil {
		return nil, err
	}
	if err := checkConcurrency(b.Concurrency); err != nil {
		return nil, err
	}
	if inside {
		return func() {}, s.Worker.CheckPending(ctx, b.Org, len(ids)*b.Simulations)
	}
	return s.Worker.Reserve(ctx, b.Org, len(ids)*b.Simulations, startsOfGroup)
}

// group returns the group with its tested objects filled in, and the tested version of each scenario.
func (s *Service) group(ctx context.Context, b Batch, ids []string, number *int) (Batch, []run.Version, error) {
	list, err := s.cfg.Scenarios.BriefScenarios(ctx, b.Org, ids)
	if err != nil {
		return b, nil, err
	}
	found := make(map[string]scenario.Scenario, len(list))
	for _, sc := range list {
		found[sc.ID] = sc
	}
	now := s.cfg.Run.Clock.Now()
	if b.ID == "" {
		b.ID = s.cfg.Run.IDs.New()
	}
	b.State, b.CreatedAt, b.Revision = run.Pending, now, 1
	versions := map[[2]string]run.Version{} // by pathway and persona
	tested := make([]run.Version, len(ids))
	for i, id := range ids {
		sc, ok := found[id]
		if !ok {
			return b, nil, callwright.InField(scenarioField(i), callwright.NotFound("scenario"))
		}
		tests := [2]string{sc.Pathway, sc.Persona}
		v, ok := versions[tests]
		if !ok {
			if v, err = s.cfg.Run.Versions.Find(ctx, sc, number); err != nil {
				return b, nil, err
			}
			versions[tests] = v
		}
		tested[i] = v
		b.Scenarios = append(b.Scenarios, run.NewSubject(sc, v, run.SnapshotID(sc, v, nil)))
		b.Pathway, b.Persona, b.Version, b.Hash = sc.Pathway, sc.Persona, v.Number, v.Hash
	}
	if len(versions) > 1 {
		b.Pathway, b.Persona, b.Version, b.Hash = "", "", 0, ""
	}
	return b, tested, nil
}

// scenarioField returns the error field of the i-th scenario id in a request.
func scenarioField(i int) string { return fmt.Sprintf("scenario_ids[%d]", i) }

func checkIDs(ids []string) error {
	if len(ids) == 0 || len(ids) > MaxScenarios {
		return callwright.Invalid("scenario_ids", "must have 1 to %d ids", MaxScenarios)
	}
	seen := map[string]bool{}
	for i, id := range ids {
		if seen[id] {
			return callwright.Invalid(scenarioField(i), "must be unique")
		}
		seen[id] = true
	}
	return nil
}

// SetRequest describes a simulation set to start.
type SetRequest struct {
	Scenarios   []string // unique ids, 1 to MaxScenarios
	Simulations int      // runs of each scenario, 1 to MaxSimulations
	Version     *int     // see run.Request
	Pathway     string   // id of the pathway that all scenarios must test; empty means any
	Persona     string   // id of the persona that all scenarios must test; empty means any
	Attribute   bool     // judge mixed results again, to attribute the variation to a source
	Trigger     Trigger

	Budget      engine.Limit // see BatchRequest
	Concurrency int
}

// StartSet starts several runs of each of several scenarios. Otherwise see StartBatch.
func (s *Service) StartSet(ctx context.Context, org callwright.OrgID, r SetRequest) (Batch, error) {
	if r.Simulations < 1 || r.Simulations > MaxSimulations {
		return Batch{}, callwright.Invalid("simulations_per_scenario", "must be from 1 to %d", MaxSimulations)
	}
	b := Batch{
		Org: org, Kind: Simulations, Trigger: r.Trigger, Simulations: r.Simulations, Budget: r.Budget, Concurrency: r.Concurrency,
	}
	b, _, err := s.startGroup(ctx, b, r.Scenarios, r.Version, false, func(_ context.Context, b *Batch) error {
		if r.Attribute {
			b.Flakes = &Flakes{}
		}
		if r.Pathway != "" && b.Pathway != r.Pathway {
			return callwright.Invalid("pathway_id", "must be the pathway that every scenario tests")
		}
		if r.Persona != "" && b.Persona != r.Persona {
			return callwright.Invalid("persona_id", "must be the persona that every scenario tests")
		}
		return nil
	})
	return b, err
}

// expand creates the remaining runs of a simulation set. Each transaction creates one piece of them, so that a large set holds no lock for
// long.
func (s *Service) expand(ctx context.Context, t callwright.Task, _ int) error {
	for more := true; more; {
		err := callwright.Retry(ctx, func(ctx context.Context) error {
			return s.cfg.Run.Atomic.Do(ctx, func(ctx context.Context) (err error) {
				more, err = s.expandOnce(ctx, t.Org, t.Key)
				return err
			})
		})
		if err != nil {
			return err
		}
		s.Worker.Wake()
	}
	return nil
}

// startsOfGroup is the weight of a group's start among the concurrent starts: it needs as much memory as this number of single starts.
const startsOfGroup = 4

// piece is the maximum number of runs that one transaction creates.
const piece = 500

func (s *Service) expandOnce(ctx context.Context, org callwright.OrgID, id string) (more bool, err error) {
	b, err := s.cfg.Store.Batch(ctx, org, id)
	if err != nil || b.State.Ended() || b.Cancel || b.Created == b.Total() {
		return false, callwright.IgnoreNotFound(err)
	}
	var runs []run.Run
	for ; len(runs) < piece && b.Created < b.Total(); b.Created++ {
		// Runs are created trial by trial, so that a set that stops early contains equally many runs of each scenario.
		runs = append(runs, s.runOf(b, b.Created))
	}
	if err := s.cfg.Store.UpdateBatch(ctx, b); err != nil {
		return false, err
	}
	return b.Created < b.Total(), s.cfg.Run.Store.InsertRuns(ctx, runs)
}

// runOf returns a new run that is the n-th of a group.
func (s *Service) runOf(b Batch, n int) run.Run {
	r := b.Scenarios[n%len(b.Scenarios)].New(b.Org, s.cfg.Run.IDs.New(), s.cfg.Run.Clock.Now())
	r.Batch, r.Budget, r.Trial, r.Experiment = b.ID, b.Budget, n/len(b.Scenarios), b.experiment()
	return r
}

// checkConcurrency returns an error if a group must not have this limit of concurrent runs.
func checkConcurrency(n int) error {
	if n < 0 || n > MaxConcurrency {
		return callwright.Invalid("concurrency", "must be from 1 to %d", MaxConcurrency)
	}
	return nil
}
