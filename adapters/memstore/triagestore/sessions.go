package triagestore

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/triage"
)

type reportKey struct {
	org callwright.OrgID
	key string
}

type seenKey struct {
	org           callwright.OrgID
	viewer, issue string
}

// InsertSession adds a session.
func (s Store) InsertSession(ctx context.Context, a triage.Session) error {
	return with(ctx, s.Store, func(d *data) error { return insertPart(d, d.sessions, a.Org, a.IssueID, a) })
}

// Session returns one session.
func (s Store) Session(ctx context.Context, org callwright.OrgID, issue, id string) (triage.Session, error) {
	return read(ctx, s.Store, func(d *data) (triage.Session, error) {
		return findPart(d.sessions, org, issue, id, func(a triage.Session) string { return a.IssueID })
	})
}

// UpdateSession replaces the fields of a session that can change.
func (s Store) UpdateSession(ctx context.Context, a triage.Session) error {
	return with(ctx, s.Store, func(d *data) error {
		stored := d.sessions.Rows()[a.ID]
		a.IssueID, a.StartedBy, a.CreatedAt = stored.IssueID, stored.StartedBy, stored.CreatedAt
		return d.sessions.Replace(a)
	})
}

// SessionsOf returns the sessions of an issue that have not ended.
func (s Store) SessionsOf(ctx context.Context, org callwright.OrgID, issue string) ([]triage.Session, error) {
	return read(ctx, s.Store, func(d *data) ([]triage.Session, error) {
		oldest := func(a, b triage.Session) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
		}
		return d.sessions.Select(math.MaxInt, oldest, func(a triage.Session) bool {
			return a.Org == org && a.IssueID == issue && !a.Status.Ended()
		}), nil
	})
}

// CountAnalyses returns the number of running analyses.
func (s Store) CountAnalyses(ctx context.Context, org callwright.OrgID) (int, error) {
	return read(ctx, s.Store, func(d *data) (int, error) {
		return d.sessions.Count(func(a triage.Session) bool { return a.Org == org && a.Analysis != nil && a.Status.Working() })
	})
}

// SilentSessions returns sessions of which nothing was heard for long.
func (s Store) SilentSessions(
	ctx context.Context, silent, waiting time.Time, limit int,
) (found []triage.Session, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, a := range d.sessions.Rows() {
			since := silent
			if a.Status == triage.SessionAwaitingInput {
				since = waiting
			}
			if len(found) < limit && !a.Status.Ended() && a.UpdatedAt.Before(since) {
				found = append(found, memory.Clone(a))
			}
		}
		return nil
	})
	return found, err
}

// ReportedIssue returns the issue of a key.
func (s Store) ReportedIssue(ctx context.Context, org callwright.OrgID, key string) (issue string, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, ok := d.reports.Rows()[reportKey{org, key}]
		if !ok {
			return callwright.NotFound("report")
		}
		issue = found
		return nil
	})
	return issue, err
}

// PointReports assigns the reports with a key to an issue.
func (s Store) PointReports(ctx context.Context, org callwright.OrgID, key, from, to string) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.issues.Exists(org, to); err != nil {
			return err
		}
		if d.reports.Rows()[reportKey{org, key}] != from {
			return callwright.ErrConflict
		}
		d.reports.Set(reportKey{org, key}, to)
		return nil
	})
}

// MoveReports assigns all reports of an issue to another.
func (s Store) MoveReports(ctx context.Context, org callwright.OrgID, from, to string) error {
	return with(ctx, s.Store, func(d *data) error {
		for key, issue := range d.reports.Rows() {
			if key.org == org && issue == from {
				d.reports.Set(key, to)
			}
		}
		return nil
	})
}

// MarkSeen sets when a viewer has last seen an issue.s feed.
func (s Store) MarkSeen(
	ctx context.Context, org callwright.OrgID, viewer, issue string, until time.Time,
) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.issues.Exists(org, issue); err != nil {
			return err
		}
		if key := (seenKey{org, viewer, issue}); until.After(d.seen.Rows()[key]) {
			d.seen.Set(key, until)
		}
		return nil
	})
}

// Seen returns the times at which a viewer last saw the given issues.
func (s Store) Seen(
	ctx context.Context, org callwright.OrgID, viewer string, issues []string,
) (map[string]time.Time, error) {
	found := make(map[string]time.Time, len(issues))
	return found, with(ctx, s.Store, func(d *data) error {
		for _, issue := range issues {
			if until, ok := d.seen.Rows()[seenKey{org, viewer, issue}]; ok {
				found[issue] = until
			}
		}
		return nil
	})
}
