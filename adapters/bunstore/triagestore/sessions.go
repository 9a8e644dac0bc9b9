package triagestore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/triage"
)

// unended is the condition of the partial indexes of sessions. SQLite uses an index only if a query contains this exact text.
const unended = "status IN ('pending', 'active', 'awaiting_input')"

// running is the condition of the partial index of analyses.
const running = "analysis IS NOT NULL AND status IN ('pending', 'active')"

type sessionRow struct {
	bun.BaseModel `bun:"table:triage_sessions"`

	ID        string       `bun:"id,pk"`
	IssueID   string       `bun:"issue_id"`
	Org       string       `bun:"org"`
	ProfileID string       `bun:"profile_id"`
	AgentName string       `bun:"agent_name"`
	Status    string       `bun:"status"`
	StartedBy actorJSON    `bun:"started_by,type:jsonb"`
	CreatedAt time.Time    `bun:"created_at"`
	UpdatedAt time.Time    `bun:"updated_at"`
	EndedAt   *time.Time   `bun:"ended_at"`
	Entries   int          `bun:"entries"`
	Pending   []string     `bun:"pending,type:jsonb,nullzero"`
	Analysis  *inquiryJSON `bun:"analysis,type:jsonb"`
	State     *string      `bun:"state"`   // state of the analysis
	Version   int64        `bun:"version"` // triage.Session.Revision
}

func newSessionRow(s triage.Session) sessionRow {
	row := sessionRow{
		ID: s.ID, IssueID: s.IssueID, Org: string(s.Org), ProfileID: s.ProfileID, AgentName: s.AgentName,
		Status: string(s.Status), StartedBy: actorJSON(s.StartedBy), CreatedAt: sqldb.Stored(s.CreatedAt),
		UpdatedAt: sqldb.Stored(s.UpdatedAt), EndedAt: sqldb.StoredIfSet(s.EndedAt), Entries: s.Entries, Pending: s.Pending,
		Analysis: newInquiryJSON(s.Analysis), Version: s.Revision,
	}
	if s.Analysis != nil {
		row.State = rawText(s.Analysis.State)
	}
	return row
}

func (r sessionRow) session() triage.Session {
	if r.Analysis != nil {
		r.Analysis.State = rawJSON(r.State)
	}
	return triage.Session{
		ID: r.ID, Org: callwright.OrgID(r.Org), IssueID: r.IssueID, ProfileID: r.ProfileID, AgentName: r.AgentName,
		Status: triage.SessionStatus(r.Status), StartedBy: triage.Actor(r.StartedBy), CreatedAt: r.CreatedAt.UTC(),
		UpdatedAt: r.UpdatedAt.UTC(), EndedAt: sqldb.StoredIfSet(r.EndedAt), Entries: r.Entries, Pending: r.Pending,
		Analysis: (*triage.Analysis)(r.Analysis), Revision: r.Version,
	}
}

func (s Store) sessions() sqldb.Rows[triage.Session, sessionRow] {
	return sqldb.Rows[triage.Session, sessionRow]{
		DB: s.DB.Core(), Kind: "session", Row: sqldb.Plain(newSessionRow), Value: sqldb.Plain(sessionRow.session), Sealed: true,
		Fixed: []string{"id", "issue_id", "org", "started_by", "created_at"},
	}
}

// InsertSession adds a session. It returns CodeConflict if the id exists, and CodeNotFound if its issue is absent.
func (s Store) InsertSession(ctx context.Context, session triage.Session) error {
	return s.sessions().Insert(ctx, session)
}

// Session returns one session of an issue, or CodeNotFound if it is absent.
func (s Store) Session(ctx context.Context, org callwright.OrgID, issue, id string) (triage.Session, error) {
	return part(ctx, s.sessions(), org, issue, id)
}

// UpdateSession replaces the changeable columns of a session. It returns CodeConflict if the stored revision is not session.Revision, and
// CodeNotFound if the session is absent.
func (s Store) UpdateSession(ctx context.Context, session triage.Session) error {
	return s.sessions().Replace(ctx, session)
}

// SessionsOf returns the sessions of an issue that have not ended, oldest first.
func (s Store) SessionsOf(ctx context.Context, org callwright.OrgID, issue string) ([]triage.Session, error) {
	return parts(ctx, s.sessions(), org, issue, unended)
}

// CountAnalyses returns the number of an organization's running analyses. It reads only a partial index.
func (s Store) CountAnalyses(ctx context.Context, org callwright.OrgID) (int, error) {
	return s.sessions().Count(ctx, "org = ? AND "+running, org)
}

// SilentSessions returns up to limit sessions without a recent update: pending and active sessions that were last updated before the first
// given time, and sessions that await input and were last updated before the second. It executes one query per state, because each state is
// one range of the index.
func (s Store) SilentSessions(ctx context.Context, silent, waiting time.Time, limit int) ([]triage.Session, error) {
	var found []sessionRow
	err := s.core().Read(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		found = nil
		for _, state := range []struct {
			status triage.SessionStatus
			since  time.Time
		}{{triage.SessionPending, silent}, {triage.SessionActive, silent}, {triage.SessionAwaitingInput, waiting}} {
			if len(found) >= limit {
				return nil
			}
			var rows []sessionRow
			err := idb.NewSelect().Model(&rows).Where(unended).Where("status = ?", state.status).
				Where("updated_at < ?", sqldb.Stored(state.since)).Order("updated_at").Limit(int64(limit - len(found))).Scan(ctx)
			if err != nil {
				return err
			}
			found = append(found, rows...)
		}
		return nil
	})
	return sqldb.Converted(found, sessionRow.session), err
}
