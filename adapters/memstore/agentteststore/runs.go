package agentteststore

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agenttest"
)

// InsertSnapshots adds snapshots.
func (s Store) InsertSnapshots(ctx context.Context, snapshots []agenttest.Snapshot) error {
	return with(ctx, s.Store, func(d *data) error {
		for _, snap := range snapshots {
			d.snapshots[snap.ID] = memory.Clone(snap)
		}
		return nil
	})
}

// Snapshot returns one snapshot.
func (s Store) Snapshot(ctx context.Context, org callwright.OrgID, id string) (snap agenttest.Snapshot, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, ok := d.snapshots[id]
		if !ok || found.Org != org {
			return callwright.NotFound("snapshot")
		}
		snap = memory.Clone(found)
		return nil
	})
	return snap, err
}

// InsertRuns adds runs.
func (s Store) InsertRuns(ctx context.Context, runs []agenttest.Run) error {
	return with(ctx, s.Store, func(d *data) error {
		for i, r := range runs {
			if _, taken := d.runs[r.ID]; taken || d.doubled(r) || slices.ContainsFunc(runs[:i], func(o agenttest.Run) bool { return o.ID == r.ID || same(o, r) }) {
				return callwright.ErrConflict
			}
		}
		for _, r := range runs {
			r.Revision = 1
			d.runs[r.ID] = memory.Clone(r)
		}
		return nil
	})
}

// same reports whether two runs are the same trial of a batch.
func same(a, b agenttest.Run) bool {
	return a.Batch != "" && a.Batch == b.Batch && a.Scenario == b.Scenario && a.Trial == b.Trial
}

func (d *data) doubled(r agenttest.Run) bool {
	if r.Batch == "" {
		return false
	}
	for _, other := range d.runs {
		if same(other, r) {
			return true
		}
	}
	return false
}

// run returns a run of an organization.
func (d *data) run(org callwright.OrgID, id string) (agenttest.Run, error) {
	r, ok := d.runs[id]
	if !ok || r.Org != org {
		return agenttest.Run{}, callwright.NotFound("run")
	}
	return r, nil
}

// Run returns one run.
func (s Store) Run(ctx context.Context, org callwright.OrgID, id string) (r agenttest.Run, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, err := d.run(org, id)
		r = memory.Clone(found)
		return err
	})
	return r, err
}

// UpdateRuns replaces runs.
func (s Store) UpdateRuns(ctx context.Context, runs []agenttest.Run) error {
	return with(ctx, s.Store, func(d *data) error {
		updated := make([]agenttest.Run, len(runs))
		for i, r := range runs {
			stored, err := d.run(r.Org, r.ID)
			if err != nil {
				return err
			}
			if stored.Revision != r.Revision {
				return callwright.ErrConflict
			}
			stored.State, stored.Node, stored.Attempt, stored.Cancel, stored.Scripted = r.State, r.Node, r.Attempt, r.Cancel, r.Scripted
			stored.Outcome, stored.Result, stored.StartedAt, stored.EndedAt = r.Outcome, r.Result, r.StartedAt, r.EndedAt
			stored.Revision++
			updated[i] = memory.Clone(stored)
		}
		for _, r := range updated {
			d.runs[r.ID] = r
		}
		return nil
	})
}

// FindRuns returns a page of runs without their outcomes.
func (s Store) FindRuns(ctx context.Context, org callwright.OrgID, f agenttest.RunFilter) (found []agenttest.Run, err error) {
	order := func(a, b agenttest.Run) int {
		if f.Oldest {
			a, b = b, a
		}
		return newestFirst(a.CreatedAt, a.ID, b.CreatedAt, b.ID)
	}
	after := agenttest.Run{ID: f.After.ID, CreatedAt: f.After.At}
	err = with(ctx, s.Store, func(d *data) error {
		for _, r := range d.runs {
			if r.Org == org && picked(r, f) && (f.After.IsZero() || order(r, after) > 0) {
				r.Outcome = nil
				found = append(found, r)
			}
		}
		return nil
	})
	slices.SortFunc(found, order)
	from := min(f.Offset, len(found))
	return memory.Clone(found[from:min(from+f.Limit, len(found))]), err
}

func picked(r agenttest.Run, f agenttest.RunFilter) bool {
	return (f.Scenario == "" || f.Scenario == r.Scenario) &&
		(f.Pathway == "" || f.Pathway == r.Pathway) &&
		(f.Persona == "" || f.Persona == r.Persona) &&
		(f.Batch == "" || f.Batch == r.Batch) &&
		(len(f.States) == 0 || slices.Contains(f.States, r.State))
}

// CountRuns counts runs.
func (s Store) CountRuns(ctx context.Context, org callwright.OrgID, f agenttest.RunFilter) (count int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, r := range d.runs {
			if r.Org == org && picked(r, f) {
				count++
			}
		}
		return nil
	})
	return count, err
}

// Waiting returns the organizations that have runs to be started.
func (s Store) Waiting(ctx context.Context, limit int) (orgs []callwright.OrgID, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		seen := map[callwright.OrgID]bool{}
		for _, r := range d.runs {
			if r.State == agenttest.Pending {
				seen[r.Org] = true
			}
		}
		orgs = slices.Sorted(maps.Keys(seen))
		orgs = orgs[:min(limit, len(orgs))]
		return nil
	})
	return orgs, err
}

// Abandoned returns runs of nodes that are not alive.
func (s Store) Abandoned(ctx context.Context, alive []string, limit int) (found []agenttest.Run, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, r := range d.runs {
			if r.State == agenttest.Running && !slices.Contains(alive, r.Node) && len(found) < limit {
				r.Outcome = nil
				found = append(found, memory.Clone(r))
			}
		}
		return nil
	})
	return found, err
}

// Cancelled returns the ids of a node's runs to cancel.
func (s Store) Cancelled(ctx context.Context, node string) (ids []string, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, r := range d.runs {
			if r.State == agenttest.Running && r.Node == node && (r.Cancel || d.batches[r.Batch].Cancel) {
				ids = append(ids, r.ID)
			}
		}
		return nil
	})
	return ids, err
}

// DeleteRuns removes old runs.
func (s Store) DeleteRuns(ctx context.Context, before time.Time, limit int) (deleted int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, r := range d.runs {
			if deleted < limit && r.State.Ended() && r.EndedAt.Before(before) {
				d.deleteRun(r)
				deleted++
			}
		}
		return nil
	})
	return deleted, err
}

// AppendAnswer adds an answer to the journal of a run.
func (s Store) AppendAnswer(ctx context.Context, org callwright.OrgID, run, node, key string, answer []byte) error {
	return with(ctx, s.Store, func(d *data) error {
		r, err := d.run(org, run)
		if err != nil {
			return err
		}
		if r.State != agenttest.Running || r.Node != node {
			return callwright.ErrConflict
		}
		return d.append(run, key, answer)
	})
}

// AppendJudgement adds an answer of a judge to the journal of a run that has ended.
func (s Store) AppendJudgement(ctx context.Context, org callwright.OrgID, run, key string, answer []byte) error {
	return with(ctx, s.Store, func(d *data) error {
		r, err := d.run(org, run)
		if err != nil {
			return err
		}
		if !r.State.Ended() || !d.batches[r.Batch].Open() {
			return callwright.ErrConflict
		}
		return d.append(run, key, answer)
	})
}

// append adds an answer to a journal.
func (d *data) append(run, key string, answer []byte) error {
	if _, taken := d.answers[run][key]; taken {
		return callwright.ErrConflict
	}
	journal := maps.Clone(d.answers[run]) // a transaction that fails restores the old one
	if journal == nil {
		journal = map[string][]byte{}
	}
	journal[key] = slices.Clone(answer)
	d.answers[run] = journal
	return nil
}

// Answers returns the journal of a run.
func (s Store) Answers(ctx context.Context, org callwright.OrgID, run string) (answers map[string][]byte, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		if _, err := d.run(org, run); err != nil {
			return ignoreAbsent(err)
		}
		answers = memory.Clone(d.answers[run])
		return nil
	})
	return answers, err
}

// DeleteAnswers removes the journal of a run.
func (s Store) DeleteAnswers(ctx context.Context, org callwright.OrgID, run string) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.run(org, run); err != nil {
			return ignoreAbsent(err)
		}
		delete(d.answers, run)
		return nil
	})
}
