package triagestore

import (
	"cmp"
	"context"
	"slices"
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
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.issue(a.Org, a.IssueID); err != nil {
			return err
		}
		if _, taken := d.sessions[a.ID]; taken {
			return callwright.ErrConflict
		}
		a.Revision = 1
		d.sessions[a.ID] = memory.Clone(a)
		return nil
	})
}

// Session returns one session.
func (s Store) Session(ctx context.Context, org callwright.OrgID, issue, id string) (a triage.Session, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, ok := d.sessions[id]
		if !ok || found.Org != org || found.IssueID != issue {
			return callwright.NotFound("session")
		}
		a = memory.Clone(found)
		return nil
	})
	return a, err
}

// UpdateSession replaces the fields of a session that can change.
func (s Store) UpdateSession(ctx context.Context, a triage.Session) error {
	return with(ctx, s.Store, func(d *data) error {
		stored, ok := d.sessions[a.ID]
		if !ok || stored.Org != a.Org {
			return callwright.NotFound("session")
		}
		if stored.Revision != a.Revision {
			return callwright.ErrConflict
		}
		a.Revision++
		a.IssueID, a.StartedBy, a.CreatedAt = stored.IssueID, stored.StartedBy, stored.CreatedAt
		d.sessions[a.ID] = memory.Clone(a)
		return nil
	})
}

// SessionsOf returns the sessions of an issue that have not ended.
func (s Store) SessionsOf(
	ctx context.Context, org callwright.OrgID, issue string,
) (found []triage.Session, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, a := range d.sessions {
			if a.Org == org && a.IssueID == issue && !a.Status.Ended() {
				found = append(found, memory.Clone(a))
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b triage.Session) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return found, err
}

// CountAnalyses returns the number of running analyses.
func (s Store) CountAnalyses(ctx context.Context, org callwright.OrgID) (count int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, a := range d.sessions {
			if a.Org == org && a.Analysis != nil && a.Status.Working() {
				count++
			}
		}
		return nil
	})
	return count, err
}

// SilentSessions returns sessions of which nothing was heard for long.
func (s Store) SilentSessions(
	ctx context.Context, silent, waiting time.Time, limit int,
) (found []triage.Session, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, a := range d.sessions {
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
		found, ok := d.reports[reportKey{org, key}]
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
		if _, err := d.issue(org, to); err != nil {
			return err
		}
		if d.reports[reportKey{org, key}] != from {
			return callwright.ErrConflict
		}
		d.reports[reportKey{org, key}] = to
		return nil
	})
}

// MoveReports assigns all reports of an issue to another.
func (s Store) MoveReports(ctx context.Context, org callwright.OrgID, from, to string) error {
	return with(ctx, s.Store, func(d *data) error {
		for key, issue := range d.reports {
			if key.org == org && issue == from {
				d.reports[key] = to
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
		if _, err := d.issue(org, issue); err != nil {
			return err
		}
		if key := (seenKey{org, viewer, issue}); until.After(d.seen[key]) {
			d.seen[key] = until
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
			if until, ok := d.seen[seenKey{org, viewer, issue}]; ok {
				found[issue] = until
			}
		}
		return nil
	})
}
