package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest/scenario"
)

// RunRequest starts a run.
type RunRequest struct {
	Version  *int           // number of the version to test; nil: the version in production
	Override map[string]any // replaces members of the scenario's request data, key by key
	Webhook  string         // is told the end; empty: nobody
}

// StartRun starts a run of a scenario. CodeNotFound: there is no such scenario, or, with the field version_number, no such
// version. CodeTooManyRequests: the organization has MaxPending runs that have not ended.
func (s *Service) StartRun(ctx context.Context, org callwright.OrgID, id string, r RunRequest) (Run, error) {
	if err := s.checkWebhook(r.Webhook); err != nil {
		return Run{}, err
	}
	sc, err := s.cfg.Store.Scenario(ctx, org, id)
	if err != nil {
		return Run{}, err
	}
	if sc.RequestData, err = override(sc.RequestData, r.Override); err != nil {
		return Run{}, err
	}
	tested, err := s.tested(ctx, org, sc.Pathway, r.Version)
	if err != nil {
		return Run{}, err
	}
	snap := s.snapshot(sc, tested)
	run := s.newRun(org, partOf(snap))
	run.Webhook = r.Webhook
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := s.checkPending(ctx, org, 1); err != nil {
			return err
		}
		if err := s.cfg.Store.InsertSnapshots(ctx, []Snapshot{snap}); err != nil {
			return err
		}
		return s.cfg.Store.InsertRuns(ctx, []Run{run})
	})
	if err == nil {
		s.wakeUp()
	}
	return run, err
}

// override returns request data with members replaced.
func override(data, with map[string]any) (map[string]any, error) {
	if len(with) == 0 {
		return data, nil
	}
	merged := maps.Clone(data)
	if merged == nil {
		merged = map[string]any{}
	}
	maps.Copy(merged, with)
	raw, err := json.Marshal(merged)
	if err != nil || len(raw) > scenario.MaxRequestData {
		return nil, callwright.Invalid("request_data_override",
			"must be an object with which the request data has at most %d bytes as JSON", scenario.MaxRequestData)
	}
	return merged, nil
}

func (s *Service) checkWebhook(url string) error {
	switch {
	case url == "":
		return nil
	case s.cfg.URLs == nil || s.cfg.Notifier == nil:
		return callwright.Invalid("webhook_url", "cannot be used: this program sends no webhooks")
	default:
		return callwright.InField("webhook_url", s.cfg.URLs.CheckURL(url))
	}
}

// version is a version to be tested.
type version struct {
	number int
	hash   string
}

// tested finds the version to test: a number, or nil for what is in production. The draft is not tested, because it may
// change while a run goes on.
func (s *Service) tested(ctx context.Context, org callwright.OrgID, id string, number *int) (version, error) {
	sel := pathway.Selector{Environment: pathway.Production}
	if number != nil {
		sel = pathway.Selector{Number: *number}
	}
	if number != nil && *number < 1 {
		return version{}, callwright.Invalid("version_number", "must be the number of a saved version: the draft is not tested")
	}
	g, n, err := s.cfg.Pathways.Load(ctx, org, id, sel)
	if e, ok := errors.AsType[*callwright.Error](err); ok && e.Field == "pathway_version" {
		named := *e
		named.Field = "version_number"
		if number == nil {
			named.Message = "is required, because no version of the pathway is in production"
		}
		return version{}, &named
	}
	if err != nil {
		return version{}, err
	}
	return version{n, g.Hash}, nil
}

// snapshot keeps what is tested as it is now.
func (s *Service) snapshot(sc scenario.Scenario, v version) Snapshot {
	return Snapshot{ID: s.cfg.IDs.New(), Org: sc.Org, Scenario: sc, Version: v.number, Hash: v.hash, CreatedAt: s.cfg.Clock.Now()}
}

// partOf returns what the runs of a snapshot have in common.
func partOf(s Snapshot) Part {
	sc := s.Scenario
	return Part{
		Scenario: sc.ID, Revision: sc.Revision, Name: sc.Name, Pathway: sc.Pathway, Persona: sc.Persona, Version: s.Version,
		Snapshot: s.ID,
	}
}

// newRun returns a run of a scenario.
func (s *Service) newRun(org callwright.OrgID, p Part) Run {
	return Run{
		ID: s.cfg.IDs.New(), Org: org, Scenario: p.Scenario, Name: p.Name, Pathway: p.Pathway, Persona: p.Persona,
		Version: p.Version, Snapshot: p.Snapshot, State: Pending, CreatedAt: s.cfg.Clock.Now(), Revision: 1,
	}
}

// checkPending refuses more runs than an organization may have that have not ended.
func (s *Service) checkPending(ctx context.Context, org callwright.OrgID, more int) error {
	n, err := s.cfg.Store.CountRuns(ctx, org, RunFilter{States: []State{Pending, Running}})
	if err != nil {
		return err
	}
	if n+more > MaxPending {
		return callwright.Errorf(callwright.CodeTooManyRequests,
			"at most %d runs of an organization may be waiting or running, and %d are: try again when they have ended", MaxPending, n)
	}
	return nil
}

// BatchRequest starts a batch.
type BatchRequest struct {
	Scenarios []string // ids, each once, at most MaxScenarios
	Version   *int     // see RunRequest
	Webhook   string
	Publish   bool // publish the version when all runs have passed; all scenarios must be of one pathway
	Trigger   Trigger
}

// StartBatch starts a run of each of several scenarios. A scenario that is absent refuses the whole batch: CodeNotFound
// with its field. Otherwise see StartRun.
func (s *Service) StartBatch(ctx context.Context, org callwright.OrgID, r BatchRequest) (Batch, []Run, error) {
	if err := s.checkWebhook(r.Webhook); err != nil {
		return Batch{}, nil, err
	}
	b := Batch{Org: org, Kind: OneEach, Trigger: r.Trigger, Simulations: 1, Webhook: r.Webhook, Publish: r.Publish}
	b, snaps, err := s.group(ctx, b, r.Scenarios, r.Version)
	if err != nil {
		return Batch{}, nil, err
	}
	if r.Publish && (b.Pathway == "" || b.Version == 0) {
		return Batch{}, nil, callwright.Invalid("publish_on_pass",
			"needs scenarios of one pathway and a version_number of a saved version, because that version is published")
	}
	runs := make([]Run, len(snaps))
	for i, part := range b.Scenarios {
		runs[i] = s.newRun(org, part)
		runs[i].Batch = b.ID
	}
	b.Created = len(runs)
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := s.checkPending(ctx, org, len(runs)); err != nil {
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

// group fills in what a group tests.
func (s *Service) group(ctx context.Context, b Batch, ids []string, number *int) (Batch, []Snapshot, error) {
	if err := checkIDs(ids); err != nil {
		return b, nil, err
	}
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
	versions := map[string]version{}
	snaps := make([]Snapshot, len(ids))
	for i, id := range ids {
		sc, ok := found[id]
		if !ok {
			// The list may have ended early, at MaxRead.
			if sc, err = s.cfg.Store.Scenario(ctx, b.Org, id); err != nil {
				return b, nil, callwright.InField(fmt.Sprintf("scenario_ids[%d]", i), err)
			}
		}
		v, ok := versions[sc.Pathway]
		if !ok {
			if v, err = s.tested(ctx, b.Org, sc.Pathway, number); err != nil {
				return b, nil, err
			}
			versions[sc.Pathway] = v
		}
		snaps[i] = s.snapshot(sc, v)
		b.Scenarios = append(b.Scenarios, partOf(snaps[i]))
		b.Pathway, b.Version, b.Hash = sc.Pathway, v.number, v.hash
	}
	if len(versions) > 1 {
		b.Pathway, b.Version, b.Hash = "", 0, ""
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
	Trigger     Trigger
}

// StartSet starts many runs of each of several scenarios. Otherwise see StartBatch.
func (s *Service) StartSet(ctx context.Context, org callwright.OrgID, r SetRequest) (Batch, error) {
	if r.Simulations < 1 || r.Simulations > MaxSimulations {
		return Batch{}, callwright.Invalid("simulations_per_scenario", "must be from 1 to %d", MaxSimulations)
	}
	b := Batch{Org: org, Kind: Simulations, Trigger: r.Trigger, Simulations: r.Simulations}
	b, snaps, err := s.group(ctx, b, r.Scenarios, r.Version)
	if err != nil {
		return Batch{}, err
	}
	if r.Pathway != "" && b.Pathway != r.Pathway {
		return Batch{}, callwright.Invalid("pathway_id", "must be the pathway of all scenarios")
	}
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := s.checkPending(ctx, org, b.Total()); err != nil {
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
		run.Batch, run.Trial = b.ID, b.Created/len(b.Scenarios)
		runs = append(runs, run)
	}
	if err := s.cfg.Store.UpdateBatch(ctx, b); err != nil {
		return false, err
	}
	return b.Created < b.Total(), s.cfg.Store.InsertRuns(ctx, runs)
}
