package agentteststore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// InsertScenario adds a scenario. It returns CodeConflict if its ID is already stored, and agenttest.ErrNameTaken if another scenario with
// the same pathway and persona has the same name.
func (s Store) InsertScenario(ctx context.Context, sc scenario.Scenario) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, taken := d.scenarios.Rows()[sc.ID]; taken {
			return callwright.ErrConflict
		}
		if err := d.checkName(sc); err != nil {
			return err
		}
		return d.scenarios.Insert(sc)
	})
}

// checkName returns agenttest.ErrNameTaken if another scenario with the same pathway and persona has the same name.
func (d *data) checkName(sc scenario.Scenario) error {
	for _, other := range d.scenarios.Rows() {
		if other.ID != sc.ID && other.Org == sc.Org && other.Pathway == sc.Pathway && other.Persona == sc.Persona && other.Name == sc.Name {
			return agenttest.ErrNameTaken
		}
	}
	return nil
}

// Scenario returns a scenario, or CodeNotFound if the organization has no such scenario.
func (s Store) Scenario(ctx context.Context, org callwright.OrgID, id string) (scenario.Scenario, error) {
	return read(ctx, s.Store, func(d *data) (scenario.Scenario, error) { return d.scenarios.Find(org, id) })
}

// HoldScenario returns CodeNotFound if the organization has no such scenario. It needs no lock, because transactions do not overlap.
func (s Store) HoldScenario(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error { return d.scenarios.Exists(org, id) })
}

// UpdateScenario replaces a scenario, except its pathway, persona and creation time. It returns CodeConflict if the stored revision
// differs, CodeNotFound if the scenario is absent, and agenttest.ErrNameTaken if another scenario with the same pathway and persona has the
// same name.
func (s Store) UpdateScenario(ctx context.Context, sc scenario.Scenario) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.scenarios.Check(sc); err != nil {
			return err
		}
		stored := d.scenarios.Rows()[sc.ID]
		sc.Pathway, sc.Persona, sc.CreatedAt = stored.Pathway, stored.Persona, stored.CreatedAt
		if err := d.checkName(sc); err != nil {
			return err
		}
		return d.scenarios.Replace(sc)
	})
}

// DeleteScenario deletes a scenario and its runs, except the runs of open groups. It returns CodeNotFound if the organization has no such
// scenario.
func (s Store) DeleteScenario(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.scenarios.DeleteExisting(org, id); err != nil {
			return err
		}
		for _, r := range d.runs.Rows() {
			if r.Org == org && r.Scenario == id && !d.batches.Rows()[r.Batch].Open() {
				d.deleteRun(r)
			}
		}
		return nil
	})
}

// deleteRun deletes a run and its journal. It also deletes the snapshot if no other run uses it, and the group if the group is not open and
// contains no other run.
func (d *data) deleteRun(r *run.Run) {
	d.runs.Delete(r.ID)
	d.pending.Delete(r.ID)
	d.running.Delete(r.ID)
	d.answers.Delete(r.ID)
	if r.Batch != "" {
		d.trials.Delete(trialOf(*r))
	}
	shared, grouped := false, d.batches.Rows()[r.Batch].Open()
	for _, other := range d.runs.Rows() {
		shared = shared || other.Snapshot == r.Snapshot
		grouped = grouped || other.Org == r.Org && other.Batch == r.Batch
	}
	if !shared {
		d.snapshots.Delete(r.Snapshot)
	}
	if !grouped {
		d.batches.Table.Delete(r.Batch)
	}
}

// FindScenarios returns the scenarios that match a filter, newest first, at most f.Limit. Unless f.Brief is set, each one holds its most
// recent run. The page ends early when its size exceeds agenttest.MaxRead.
func (s Store) FindScenarios(
	ctx context.Context, org callwright.OrgID, f agenttest.ScenarioFilter,
) (found []agenttest.Listed, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, sc := range d.scenarios.Rows() {
			if sc.Org == org && chosen(sc, f) {
				if f.Brief {
					sc = brief(sc)
				}
				found = append(found, agenttest.Listed{Scenario: sc})
			}
		}
		slices.SortFunc(found, func(a, b agenttest.Listed) int { return newestFirst(a.CreatedAt, a.ID, b.CreatedAt, b.ID) })
		found = bounded(found, f.Limit)
		if !f.Brief {
			d.addRecent(org, found)
		}
		found = memory.Clone(found)
		return nil
	})
	return found, err
}

// bounded returns the first scenarios of a list, at most limit. It stops after the scenario that makes the total size exceed
// agenttest.MaxRead, but never before the second scenario.
func bounded(found []agenttest.Listed, limit int) []agenttest.Listed {
	found = found[:min(limit, len(found))]
	total := 0
	for i := range found {
		if total += found[i].Size(); total > agenttest.MaxRead && i > 0 {
			return found[:i+1]
		}
	}
	return found
}

// brief returns the fields of a scenario that a brief list contains.
func brief(sc scenario.Scenario) scenario.Scenario {
	return scenario.Scenario{
		ID: sc.ID, Org: sc.Org, Pathway: sc.Pathway, Persona: sc.Persona, Name: sc.Name, Category: sc.Category,
		Required: sc.Required, Enabled: sc.Enabled, CreatedAt: sc.CreatedAt, UpdatedAt: sc.UpdatedAt, Revision: sc.Revision,
	}
}

// newestFirst orders rows by creation time and then by ID, both descending.
func newestFirst(at time.Time, id string, otherAt time.Time, otherID string) int {
	return cmp.Or(otherAt.Compare(at), cmp.Compare(otherID, id))
}

func chosen(sc scenario.Scenario, f agenttest.ScenarioFilter) bool {
	return (len(f.IDs) == 0 || slices.Contains(f.IDs, sc.ID)) &&
		(f.Pathway == "" || f.Pathway == sc.Pathway) &&
		(f.Persona == "" || f.Persona == sc.Persona) &&
		(f.Category == "" || f.Category == sc.Category) &&
		(f.Enabled == nil || *f.Enabled == sc.Enabled) &&
		(f.Required == nil || *f.Required == sc.Required) &&
		(f.After.IsZero() || newestFirst(sc.CreatedAt, sc.ID, f.After.At, f.After.ID) > 0)
}

// addRecent sets Recent of each listed scenario to its newest run that is no experiment, without outcome and summary.
func (d *data) addRecent(org callwright.OrgID, found []agenttest.Listed) {
	place := make(map[string]int, len(found))
	for i, l := range found {
		place[l.ID] = i
	}
	for _, r := range d.runs.Rows() {
		i, wanted := place[r.Scenario]
		if !wanted || r.Org != org || r.Experiment {
			continue
		}
		if newest := found[i].Recent; newest == nil || newestFirst(r.CreatedAt, r.ID, newest.CreatedAt, newest.ID) < 0 {
			recent := *r
			recent.Outcome, recent.Summary = nil, ""
			found[i].Recent = &recent
		}
	}
}

// CountScenarios counts the scenarios of an organization.
func (s Store) CountScenarios(ctx context.Context, org callwright.OrgID) (int, error) {
	return read(ctx, s.Store, func(d *data) (int, error) {
		return d.scenarios.Count(func(sc scenario.Scenario) bool { return sc.Org == org })
	})
}

// RequiredScenarios returns the revisions of a pathway's enabled scenarios that promotion requires, by scenario id, at most limit.
func (s Store) RequiredScenarios(
	ctx context.Context, org callwright.OrgID, pathway string, limit int,
) (required map[string]int64, err error) {
	required = map[string]int64{}
	err = with(ctx, s.Store, func(d *data) error {
		for _, sc := range d.scenarios.Rows() {
			if sc.Org == org && sc.Pathway == pathway && sc.Enabled && sc.Required && len(required) < limit {
				required[sc.ID] = sc.Revision
			}
		}
		return nil
	})
	return required, err
}
