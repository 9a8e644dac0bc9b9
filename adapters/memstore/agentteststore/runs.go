package agentteststore

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/stats"
)

// HoldSnapshots returns the given ids whose snapshots the organization has stored. It needs no lock, because transactions do not overlap.
func (s Store) HoldSnapshots(ctx context.Context, org callwright.OrgID, ids []string) (held []string, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, id := range ids {
			if snap, ok := d.snapshots.Rows()[id]; ok && snap.Org == org {
				held = append(held, id)
			}
		}
		return nil
	})
	return held, err
}

// InsertSnapshots adds snapshots. It replaces stored snapshots with the same ID.
func (s Store) InsertSnapshots(ctx context.Context, snapshots []run.Snapshot) error {
	return with(ctx, s.Store, func(d *data) error {
		for _, snap := range snapshots {
			d.snapshots.Set(snap.ID, memory.Clone(snap))
		}
		return nil
	})
}

// Snapshot returns a snapshot, or CodeNotFound if the organization has no such snapshot.
func (s Store) Snapshot(ctx context.Context, org callwright.OrgID, id string) (snap run.Snapshot, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, ok := d.snapshots.Rows()[id]
		if !ok || found.Org != org {
			return callwright.NotFound("snapshot")
		}
		snap = memory.Clone(found)
		return nil
	})
	return snap, err
}

// InsertRuns adds all runs or none. It returns CodeConflict if an ID, or a trial of a group, is already stored or occurs twice.
func (s Store) InsertRuns(ctx context.Context, runs []run.Run) error {
	return with(ctx, s.Store, func(d *data) error {
		ids, trials := map[string]bool{}, map[trial]bool{}
		for _, r := range runs {
			_, taken := d.runs.Rows()[r.ID]
			_, doubled := d.trials.Rows()[trialOf(r)]
			if taken || doubled || ids[r.ID] || trials[trialOf(r)] {
				return callwright.ErrConflict
			}
			ids[r.ID], trials[trialOf(r)] = true, r.Batch != ""
		}
		for _, r := range runs {
			r.Revision = 1
			d.store(memory.Clone(r))
		}
		return nil
	})
}

func trialOf(r run.Run) trial { return trial{r.Batch, r.Scenario, r.Trial} }

// store adds or replaces a run, and updates the indexes of pending runs, running runs and trials.
func (d *data) store(r run.Run) {
	d.runs.Set(r.ID, &r)
	d.pending.Delete(r.ID)
	d.running.Delete(r.ID)
	switch r.State {
	case run.Pending:
		d.pending.Set(r.ID, r.Org)
	case run.Running:
		d.running.Set(r.ID, r.Org)
	default:
	}
	if r.Batch != "" {
		d.trials.Set(trialOf(r), r.ID)
	}
}

// run returns the stored run without copying it, or CodeNotFound if the organization has no such run.
func (d *data) run(org callwright.OrgID, id string) (run.Run, error) {
	r, ok := d.runs.Rows()[id]
	if !ok || r.Org != org {
		return run.Run{}, callwright.NotFound("run")
	}
	return *r, nil
}

// Run returns a run, or CodeNotFound if the organization has no such run.
func (s Store) Run(ctx context.Context, org callwright.OrgID, id string) (r run.Run, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, err := d.run(org, id)
		r = memory.Clone(found)
		return err
	})
	return r, err
}

// UpdateRuns stores the progress and the outcome of all runs or of none. It returns CodeNotFound if a run is absent, and CodeConflict if a
// stored revision differs.
func (s Store) UpdateRuns(ctx context.Context, runs []run.Run) error {
	return with(ctx, s.Store, func(d *data) error {
		updated := make([]run.Run, len(runs))
		for i, r := range runs {
			stored, err := d.run(r.Org, r.ID)
			if err != nil {
				return err
			}
			if stored.Revision != r.Revision {
				return callwright.ErrConflict
			}
			stored.State, stored.Node, stored.Attempt, stored.Scripted = r.State, r.Node, r.Attempt, r.Scripted
			stored.Outcome, stored.Result, stored.Summary, stored.StartedAt, stored.EndedAt = r.Outcome, r.Result, r.Summary, r.StartedAt, r.EndedAt
			stored.Revision++
			updated[i] = memory.Clone(stored)
		}
		for _, r := range updated {
			d.store(r)
		}
		return nil
	})
}

// CancelRun sets Cancel of a run, which its node polls. It returns CodeConflict if the run is not Running.
func (s Store) CancelRun(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		r, err := d.run(org, id)
		if err != nil {
			return err
		}
		if r.State != run.Running {
			return callwright.ErrConflict
		}
		r.Cancel = true
		d.store(r)
		return nil
	})
}

// FindRuns returns a page of the runs that match a filter, newest first unless f.Oldest is set, without their outcomes and summaries.
func (s Store) FindRuns(ctx context.Context, org callwright.OrgID, f run.Filter) (found []run.Run, err error) {
	order := func(a, b *run.Run) int {
		if f.Oldest {
			a, b = b, a
		}
		return newestFirst(a.CreatedAt, a.ID, b.CreatedAt, b.ID)
	}
	after := &run.Run{ID: f.After.ID, CreatedAt: f.After.At}
	most := f.Offset + f.Limit
	var page []*run.Run
	err = with(ctx, s.Store, func(d *data) error {
		for r := range d.candidates(f) {
			if r.Org != org || !picked(r, f) || !f.After.IsZero() && order(r, after) <= 0 {
				continue
			}
			if place, _ := slices.BinarySearchFunc(page, r, order); place < most {
				page = slices.Insert(page, place, r)
				page = page[:min(most, len(page))]
			}
		}
		for _, r := range page[min(f.Offset, len(page)):] {
			found = append(found, listed(r))
		}
		return nil
	})
	return found, err
}

// listed returns a copy of a run without its outcome and summary, which lists omit.
func listed(r *run.Run) run.Run {
	out := *r
	out.Outcome, out.Summary = nil, ""
	return memory.Clone(out)
}

// candidates returns a superset of the runs that a filter selects. If the filter selects only runs that have not ended, it uses the indexes
// of pending and running runs.
func (d *data) candidates(f run.Filter) iter.Seq[*run.Run] {
	if len(f.States) == 0 || slices.ContainsFunc(f.States, run.State.Ended) {
		return maps.Values(d.runs.Rows())
	}
	return func(yield func(*run.Run) bool) {
		for state, ids := range map[run.State]map[string]callwright.OrgID{
			run.Pending: d.pending.Rows(), run.Running: d.running.Rows(),
		} {
			if !slices.Contains(f.States, state) {
				continue
			}
			for id := range ids {
				if !yield(d.runs.Rows()[id]) {
					return
				}
			}
		}
	}
}

func picked(r *run.Run, f run.Filter) bool {
	return (f.Scenario == "" || f.Scenario == r.Scenario) &&
		(f.Pathway == "" || f.Pathway == r.Pathway) &&
		(f.Persona == "" || f.Persona == r.Persona) &&
		(f.Batch == "" || f.Batch == r.Batch) &&
		!slices.Contains(f.NotBatches, r.Batch) &&
		(len(f.States) == 0 || slices.Contains(f.States, r.State))
}

// CountRuns returns the number of an organization's runs that match a filter, regardless of its page.
func (s Store) CountRuns(ctx context.Context, org callwright.OrgID, f run.Filter) (count int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for r := range d.candidates(f) {
			if r.Org == org && picked(r, f) {
				count++
			}
		}
		return nil
	})
	return count, err
}

// CountUnended returns the number of an organization's runs that have not ended, plus the runs that its open groups have yet to create,
// except for canceled groups.
func (s Store) CountUnended(ctx context.Context, org callwright.OrgID) (count int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, ids := range []map[string]callwright.OrgID{d.pending.Rows(), d.running.Rows()} {
			for _, of := range ids {
				if of == org {
					count++
				}
			}
		}
		for _, b := range d.batches.Rows() {
			if b.Org == org && b.Open() && !b.Cancel {
				count += max(0, b.Total()-b.Created)
			}
		}
		return nil
	})
	return count, err
}

// HoldStarts does nothing, because transactions do not overlap.
func (Store) HoldStarts(context.Context, callwright.OrgID) error { return nil }

// EachEnded calls f with the ended runs of a window, newest first, without runs of experiments. It stops after w.Limit runs, unless w.Limit
// is 0. It calls f only after it has read all runs, so that f may use the store.
func (s Store) EachEnded(
	ctx context.Context, org callwright.OrgID, w run.Window, f func(analytics.Run),
) error {
	var found []analytics.Run
	err := with(ctx, s.Store, func(d *data) error {
		found = nil
		for _, r := range d.runs.Rows() {
			verdict, ended := verdicts[r.State]
			if r.Org == org && r.Pathway == w.Pathway && ended && !r.Experiment && !r.CreatedAt.Before(w.From) {
				found = append(found, analytics.Run{
					ID: r.ID, Scenario: r.Scenario, Version: r.Version, State: verdict, CreatedAt: r.CreatedAt, Summary: r.Summary,
					Scripted: r.Scripted,
				})
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b analytics.Run) int { return newestFirst(a.CreatedAt, a.ID, b.CreatedAt, b.ID) })
	if w.Limit > 0 {
		found = found[:min(w.Limit, len(found))]
	}
	for _, r := range found {
		f(r)
	}
	return err
}

// verdicts maps the states of ended runs to the states that analytics use. It contains no other states.
var verdicts = map[run.State]stats.State{
	run.Passed: stats.Passed, run.Failed: stats.Failed, run.Error: stats.Error, run.Cancelled: stats.Cancelled,
}

// Waiting returns up to limit organizations with pending runs, sorted by id.
func (s Store) Waiting(ctx context.Context, limit int) (orgs []callwright.OrgID, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		seen := map[callwright.OrgID]bool{}
		for _, org := range d.pending.Rows() {
			seen[org] = true
		}
		orgs = slices.Sorted(maps.Keys(seen))
		orgs = orgs[:min(limit, len(orgs))]
		return nil
	})
	return orgs, err
}

// Abandoned returns up to limit running runs whose node is not in alive, without their outcomes and summaries.
func (s Store) Abandoned(ctx context.Context, alive []string, limit int) (found []run.Run, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for id := range d.running.Rows() {
			if r := d.runs.Rows()[id]; !slices.Contains(alive, r.Node) && len(found) < limit {
				found = append(found, listed(r))
			}
		}
		return nil
	})
	return found, err
}

// Cancelled returns the ids of a node's running runs that are canceled, alone or with their group. If a group was stopped because its
// budget is exhausted, its runs are not canceled.
func (s Store) Cancelled(ctx context.Context, node string) (ids []string, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for id := range d.running.Rows() {
			if r := d.runs.Rows()[id]; r.Node == node && (r.Cancel || d.batches.Rows()[r.Batch].Cancel && d.batches.Rows()[r.Batch].Reason != group.StoppedByBudget) {
				ids = append(ids, r.ID)
			}
		}
		return nil
	})
	return ids, err
}

// DeleteRuns deletes up to limit runs that ended before the given time, with their journals, and the snapshots and ended groups that no
// other run uses. It returns the number of deleted runs.
func (s Store) DeleteRuns(ctx context.Context, before time.Time, limit int) (deleted int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, r := range d.runs.Rows() {
			if deleted < limit && r.State.Ended() && r.EndedAt.Before(before) {
				d.deleteRun(r)
				deleted++
			}
		}
		return nil
	})
	return deleted, err
}

// AppendAnswer adds an answer to the journal of a run. It returns CodeConflict if the given node is not executing the run, or if the
// journal already contains the key.
func (s Store) AppendAnswer(ctx context.Context, org callwright.OrgID, id, node, key string, answer []byte) error {
	return with(ctx, s.Store, func(d *data) error {
		r, err := d.run(org, id)
		if err != nil {
			return err
		}
		if r.State != run.Running || r.Node != node {
			return callwright.ErrConflict
		}
		return d.append(id, key, answer)
	})
}

// AppendJudgement adds a judge's answer to the journal of an ended run. It returns CodeConflict if the run has not ended, its group is not
// open, or the journal already contains the key.
func (s Store) AppendJudgement(ctx context.Context, org callwright.OrgID, run, key string, answer []byte) error {
	return with(ctx, s.Store, func(d *data) error {
		r, err := d.run(org, run)
		if err != nil {
			return err
		}
		if !r.State.Ended() || !d.batches.Rows()[r.Batch].Open() {
			return callwright.ErrConflict
		}
		return d.append(run, key, answer)
	})
}

// append adds an answer to a journal, or returns CodeConflict if the journal already contains the key.
func (d *data) append(run, key string, answer []byte) error {
	before := d.answers.Rows()[run]
	if _, taken := before[key]; taken {
		return callwright.ErrConflict
	}
	journal := maps.Clone(before) // a failed transaction restores the old map
	if journal == nil {
		journal = map[string][]byte{}
	}
	journal[key] = slices.Clone(answer)
	d.answers.Set(run, journal)
	return nil
}

// Answers returns the journal of a run by key. The map is empty if the organization has no such run.
func (s Store) Answers(ctx context.Context, org callwright.OrgID, run string) (answers map[string][]byte, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		if _, err := d.run(org, run); err != nil {
			return callwright.IgnoreNotFound(err)
		}
		answers = memory.Clone(d.answers.Rows()[run])
		return nil
	})
	return answers, err
}

// DeleteAnswers deletes the journal of a run. It returns no error if the run is absent.
func (s Store) DeleteAnswers(ctx context.Context, org callwright.OrgID, run string) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.run(org, run); err != nil {
			return callwright.IgnoreNotFound(err)
		}
		d.answers.Delete(run)
		return nil
	})
}
