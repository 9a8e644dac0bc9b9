package agentteststore

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agenttest/tornado"
)

// Sessions implements tornado.Store in memory.
type Sessions struct{ Store *memstore.Store }

var _ tornado.Store = Sessions{}

// InsertSession adds a session. It returns CodeConflict if its ID is already stored. It returns tornado.ErrActive if the session and
// another session of its pathway are both Running.
func (s Sessions) InsertSession(ctx context.Context, n tornado.Session) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, taken := d.sessions.Rows()[n.ID]; taken {
			return callwright.ErrConflict
		}
		if n.State == tornado.Running && d.active(n.Org, n.Pathway) {
			return tornado.ErrActive
		}
		return d.sessions.Insert(n)
	})
}

// active reports whether a pathway has a session that is Running.
func (d *data) active(org callwright.OrgID, pathway string) bool {
	for _, n := range d.sessions.Rows() {
		if n.Org == org && n.Pathway == pathway && n.State == tornado.Running {
			return true
		}
	}
	return false
}

// Session returns a session, or CodeNotFound if the organization has no such session.
func (s Sessions) Session(ctx context.Context, org callwright.OrgID, id string) (tornado.Session, error) {
	return read(ctx, s.Store, func(d *data) (tornado.Session, error) { return d.sessions.Find(org, id) })
}

// FindSessions returns up to f.Limit sessions that match a filter, newest first.
func (s Sessions) FindSessions(ctx context.Context, org callwright.OrgID, f tornado.Filter) ([]tornado.Session, error) {
	return read(ctx, s.Store, func(d *data) ([]tornado.Session, error) {
		return d.sessions.Select(f.Limit, newerSession, func(n tornado.Session) bool { return n.Org == org && sessionPicked(n, f) }), nil
	})
}

func sessionPicked(n tornado.Session, f tornado.Filter) bool {
	return (f.Pathway == "" || f.Pathway == n.Pathway) &&
		(f.Persona == "" || f.Persona == n.Persona) &&
		(len(f.States) == 0 || slices.Contains(f.States, n.State)) &&
		(f.After.IsZero() || newestFirst(n.CreatedAt, n.ID, f.After.At, f.After.ID) > 0)
}

func newerSession(a, b tornado.Session) int { return newestFirst(a.CreatedAt, a.ID, b.CreatedAt, b.ID) }

// UpdateSession stores a session's progress, usage, node and end. It returns CodeConflict if the stored revision differs, or if n would
// resume an ended session, and CodeNotFound if the session is absent.
func (s Sessions) UpdateSession(ctx context.Context, n tornado.Session) error {
	return with(ctx, s.Store, func(d *data) error {
		stored, err := d.sessions.Stored(n.Org, n.ID)
		if err != nil {
			return err
		}
		if stored.Revision != n.Revision || n.State == tornado.Running && stored.State.Ended() {
			return callwright.ErrConflict
		}
		stored.Progress, stored.Usage, stored.Node, stored.EndedAt = n.Progress, n.Usage, n.Node, n.EndedAt
		stored.Revision++
		d.sessions.Set(n.ID, memory.Clone(stored))
		return nil
	})
}

// CancelSession sets Cancel of a session. It returns CodeInvalidState if the session has ended, and CodeNotFound if it is absent.
func (s Sessions) CancelSession(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		n, err := d.sessions.Stored(org, id)
		if err != nil {
			return err
		}
		if n.State.Ended() {
			return callwright.ErrInvalidState
		}
		n.Cancel = true
		d.sessions.Set(id, n)
		return nil
	})
}

// WaitingSessions returns up to limit running sessions without a node, oldest first.
func (s Sessions) WaitingSessions(ctx context.Context, limit int) ([]tornado.Session, error) {
	return s.running(ctx, limit, func(n tornado.Session) bool { return n.Node == "" })
}

// AbandonedSessions returns up to limit running sessions whose node is not in alive, oldest first.
func (s Sessions) AbandonedSessions(ctx context.Context, alive []string, limit int) ([]tornado.Session, error) {
	return s.running(ctx, limit, func(n tornado.Session) bool { return !slices.Contains(alive, n.Node) })
}

// running returns up to limit running sessions for which the function picked returns true, oldest first.
func (s Sessions) running(ctx context.Context, limit int, picked func(tornado.Session) bool) ([]tornado.Session, error) {
	return read(ctx, s.Store, func(d *data) ([]tornado.Session, error) {
		oldest := func(a, b tornado.Session) int { return newerSession(b, a) }
		return d.sessions.Select(limit, oldest, func(n tornado.Session) bool { return n.State == tornado.Running && picked(n) }), nil
	})
}

// CancelledSessions returns the ids of a node's running sessions whose Cancel is set.
func (s Sessions) CancelledSessions(ctx context.Context, node string) (ids []string, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, n := range d.sessions.Rows() {
			if n.State == tornado.Running && n.Node == node && n.Cancel {
				ids = append(ids, n.ID)
			}
		}
		return nil
	})
	return ids, err
}

// AppendStep adds a step to the journal of a session. It returns CodeConflict if the given node is not executing the session, or if the
// journal already contains the step number.
func (s Sessions) AppendStep(
	ctx context.Context, org callwright.OrgID, session, node string, number int, step tornado.Step,
) error {
	return with(ctx, s.Store, func(d *data) error {
		n, err := d.sessions.Stored(org, session)
		if err != nil {
			return err
		}
		before := d.steps.Rows()[session]
		if _, taken := before[number]; taken || n.State != tornado.Running || n.Node != node {
			return callwright.ErrConflict
		}
		journal := maps.Clone(before) // a failed transaction restores the old map
		if journal == nil {
			journal = map[int]tornado.Step{}
		}
		journal[number] = memory.Clone(step)
		d.steps.Set(session, journal)
		return nil
	})
}

// Steps returns the journal of a session, sorted by step number. It returns no steps if the organization has no such session.
func (s Sessions) Steps(ctx context.Context, org callwright.OrgID, session string) (steps []tornado.Step, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		if _, err := d.sessions.Stored(org, session); err != nil {
			return callwright.IgnoreNotFound(err)
		}
		journal := d.steps.Rows()[session]
		for _, number := range slices.Sorted(maps.Keys(journal)) {
			steps = append(steps, memory.Clone(journal[number]))
		}
		return nil
	})
	return steps, err
}

// DeleteSteps deletes the journal of a session. It returns no error if the session is absent.
func (s Sessions) DeleteSteps(ctx context.Context, org callwright.OrgID, session string) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.sessions.Stored(org, session); err != nil {
			return callwright.IgnoreNotFound(err)
		}
		d.steps.Delete(session)
		return nil
	})
}

// DeleteSessions deletes up to limit sessions that ended before the given time, with their journals. It returns the number of deleted
// sessions.
func (s Sessions) DeleteSessions(ctx context.Context, before time.Time, limit int) (deleted int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for id, n := range d.sessions.Rows() {
			if deleted < limit && !n.EndedAt.IsZero() && n.EndedAt.Before(before) {
				d.sessions.Table.Delete(id)
				d.steps.Delete(id)
				deleted++
			}
		}
		return nil
	})
	return deleted, err
}
