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

// InsertSession adds a session. It returns CodeNotFound if the organization has no such issue, and CodeConflict if the session's ID is
// already stored.
func (s Store) InsertSession(ctx context.Context, a triage.Session) error {
	return with(ctx, s.Store, func(d *data) error { return insertPart(d, d.sessions, a.Org, a.IssueID, a) })
}

// Session returns a session, or CodeNotFound if the issue has no such session.
func (s Store) Session(ctx context.Context, org callwright.OrgID, issue, id string) (triage.Session, error) {
	return read(ctx, s.Store, func(d *data) (triage.Session, error) {
		return findPart(d.sessions, org, issue, id, func(a triage.Session) string { return a.IssueID })
	})
}

// UpdateSession replaces a session, except its issue, starter and creation time. It returns CodeConflict if the stored revision differs,
// and CodeNotFound if the session is absent.
func (s Store) UpdateSession(ctx context.Context, a triage.Session) error {
	return with(ctx, s.Store, func(d *data) error {
		stored := d.sessions.Rows()[a.ID]
		a.IssueID, a.StartedBy, a.CreatedAt = stored.IssueID, stored.StartedBy, stored.CreatedAt
		return d.sessions.Replace(a)
	})
}

// SessionsOf returns the sessions of an issue that have not ended, oldest first.
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

// CountAnalyses returns the number of an organization's sessions that have an Analysis and are working: see SessionStatus.Working.
func (s Store) CountAnalyses(ctx context.Context, org callwright.OrgID) (int, error) {
	return read(ctx, s.Store, func(d *data) (int, error) {
		return d.sessions.Count(func(a triage.Session) bool { return a.Org == org && a.Analysis != nil && a.Status.Working() })
	})
}

// SilentSessions returns up to limit sessions of all organizations that have not ended and were not updated for long: sessions that await
// input and were last updated before the second given time, and other sessions that were last updated before the first.
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

// ReportedIssue returns the id of the issue that a report key points at, or CodeNotFound if the key is unknown.
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

// PointReports assigns a report key to the issue with the id to. The argument from is the id of the key's present issue, or empty if the
// key is unknown. PointReports returns CodeConflict if from is not the stored id, and CodeNotFound if the new issue is absent.
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

// MoveReports assigns all report keys of one issue (from) to another (to).
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

// MarkSeen stores that a viewer has seen an issue's feed until the given time, unless a later time is stored. It returns CodeNotFound if
// the organization has no such issue.
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

// Seen returns the times until which a viewer has seen the feeds of the given issues. It omits issues that the viewer has not seen.
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
