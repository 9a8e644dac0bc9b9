package agentteststore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/tornado"
)

// Sessions stores tornado sessions; it implements tornado.Store.
type Sessions struct{ DB *bunstore.DB }

var _ tornado.Store = Sessions{}

func (s Sessions) core() core { return core{s.DB.Core()} }

func (s Sessions) rows() sqldb.Rows[tornado.Session, sessionRow] {
	return sqldb.Rows[tornado.Session, sessionRow]{
		DB: s.DB.Core(), Kind: "session", Row: s.core().sessionRow, Value: s.core().session, Sealed: true,
	}
}

type sessionRow struct {
	bun.BaseModel `bun:"table:tornado_sessions,alias:session"`

	ID         string     `bun:"id,pk"`
	Org        string     `bun:"org"`
	Pathway    string     `bun:"pathway_id"`
	Persona    string     `bun:"persona_id"`
	Iterations int        `bun:"iterations"`
	Confirm    int        `bun:"confirm"`
	Patience   int        `bun:"patience"`
	MaxTokens  int        `bun:"max_tokens"`
	MaxCost    int64      `bun:"max_cost"`
	Timeout    int64      `bun:"timeout_ns"`
	Deadline   time.Time  `bun:"deadline"`
	State      string     `bun:"state"`
	Node       string     `bun:"node"`
	Cancel     bool       `bun:"cancel"`
	CreatedAt  time.Time  `bun:"created_at"`
	EndedAt    *time.Time `bun:"ended_at"`
	Version    int64      `bun:"version"`  // tornado.Session.Revision
	Request    string     `bun:"request"`  // sealed requestJSON
	Progress   string     `bun:"progress"` // sealed progressJSON
}

// progressing lists the columns that UpdateSession writes.
var progressing = []string{"state", "node", "ended_at", "version", "progress"}

func (db core) sessionRow(n tornado.Session) (row sessionRow, err error) {
	row = sessionRow{
		ID: n.ID, Org: string(n.Org), Pathway: n.Pathway, Persona: n.Persona, Iterations: n.Most, Confirm: n.Confirm,
		Patience: n.Patience, MaxTokens: n.Budget.Tokens, MaxCost: int64(n.Budget.Cost), Timeout: int64(n.Timeout),
		Deadline: sqldb.Stored(n.Deadline), State: string(n.State), Node: n.Node, Cancel: n.Cancel,
		CreatedAt: sqldb.Stored(n.CreatedAt), EndedAt: orNull(n.EndedAt), Version: n.Revision,
	}
	if row.Request, err = db.seal(purpose("request of tornado session", row.Org, row.ID), requestJSON{n.Scenarios, n.Limits}); err != nil {
		return row, err
	}
	row.Progress, err = db.seal(purpose("progress of tornado session", row.Org, row.ID), progressJSON{n.Progress, n.Usage})
	return row, err
}

func (db core) session(r sessionRow) (tornado.Session, error) {
	var request requestJSON
	var progress progressJSON
	err := errors.Join(
		db.unseal(purpose("request of tornado session", r.Org, r.ID), r.Request, &request),
		db.unseal(purpose("progress of tornado session", r.Org, r.ID), r.Progress, &progress),
	)
	return tornado.Session{
		ID: r.ID, Org: callwright.OrgID(r.Org), Pathway: r.Pathway, Persona: r.Persona, Scenarios: request.Scenarios,
		Most: r.Iterations, Confirm: r.Confirm, Patience: r.Patience, Limits: request.Limits,
		Budget:  engine.Limit{Tokens: r.MaxTokens, Cost: engine.Money(r.MaxCost)},
		Timeout: time.Duration(r.Timeout), Deadline: r.Deadline.UTC(), Progress: progress.Progress, Usage: progress.Usage,
		Node: r.Node, Cancel: r.Cancel, CreatedAt: r.CreatedAt.UTC(), EndedAt: orZero(r.EndedAt), Revision: r.Version,
	}, err
}

// InsertSession adds a session. It returns CodeConflict if the id exists, and tornado.ErrActive if another session of the pathway is
// Running. A unique index prevents two such sessions.
func (s Sessions) InsertSession(ctx context.Context, n tornado.Session) error {
	err := s.rows().Insert(ctx, n)
	if !errors.Is(err, callwright.ErrConflict) {
		return err
	}
	return s.core().Read(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		taken := idb.NewSelect().Model((*sessionRow)(nil)).Where("id = ?", n.ID)
		if missing := sqldb.Exists(ctx, "session", taken); errors.Is(missing, callwright.ErrNotFound) {
			return tornado.ErrActive
		}
		return err
	})
}

func findSession(idb bun.IDB, org callwright.OrgID, id string) *bun.SelectQuery {
	return idb.NewSelect().Model((*sessionRow)(nil)).Where("id = ?", id).Where("org = ?", org)
}

// Session returns one session, or CodeNotFound if it is absent.
func (s Sessions) Session(ctx context.Context, org callwright.OrgID, id string) (tornado.Session, error) {
	return s.rows().Find(ctx, org, id)
}

// FindSessions returns a page of sessions, newest first.
func (s Sessions) FindSessions(ctx context.Context, org callwright.OrgID, f tornado.Filter) ([]tornado.Session, error) {
	if f.Limit <= 0 {
		return nil, nil
	}
	return s.rows().Select(ctx, []any{org, f}, func(q *bun.SelectQuery) *bun.SelectQuery {
		q = q.Where("org = ?", org)
		if f.Pathway != "" {
			q = q.Where("pathway_id = ?", f.Pathway)
		}
		if f.Persona != "" {
			q = q.Where("persona_id = ?", f.Persona)
		}
		switch active := slices.Equal(f.States, []tornado.State{tornado.Running}); {
		case active: // uses the index of Running sessions, which are few, instead of the index of personas
			q = q.Where(running)
		case f.Persona != "":
			q = q.Where(ofOne)
		}
		if len(f.States) > 0 {
			q = q.Where("state IN (?)", bun.List(f.States))
		}
		if !f.After.IsZero() {
			q = q.Where("(created_at, id) < (?, ?)", f.After.At, f.After.ID)
		}
		return q.Order("created_at DESC", "id DESC").Limit(int64(f.Limit))
	})
}

// UpdateSession writes the changeable columns of a session. It returns CodeConflict if the stored revision is not n.Revision, or if the
// stored session has ended and n has not. It returns CodeNotFound if the session is absent.
func (s Sessions) UpdateSession(ctx context.Context, n tornado.Session) error {
	row, err := s.core().sessionRow(n)
	if err != nil {
		return err
	}
	return s.core().Write(ctx, []any{row}, func(ctx context.Context, idb bun.IDB) error {
		update := idb.NewUpdate().Model(&row).Column(progressing...).WherePK().Where("org = ?", n.Org)
		if !n.State.Ended() {
			update = update.Where(running)
		}
		return sqldb.Replace(ctx, "session", update, n.Revision, findSession(idb, n.Org, n.ID))
	})
}

// CancelSession sets Cancel of a Running session. It returns CodeInvalidState for a session in any other state, and CodeNotFound if the
// session is absent. It does not change the revision, because no other statement writes this column.
func (s Sessions) CancelSession(ctx context.Context, org callwright.OrgID, id string) error {
	return s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewUpdate().Model((*sessionRow)(nil)).Set("cancel = ?", true).Where("id = ?", id).
			Where("org = ?", org).Where(running).Exec(ctx)
		err = sqldb.Outrun(ctx, "session", sqldb.Changed(result, err, callwright.ErrConflict), findSession(idb, org, id))
		if errors.Is(err, callwright.ErrConflict) {
			return callwright.ErrInvalidState
		}
		return err
	})
}

// WaitingSessions returns up to limit Running sessions without a node, oldest first.
func (s Sessions) WaitingSessions(ctx context.Context, limit int) ([]tornado.Session, error) {
	if limit <= 0 {
		return nil, nil
	}
	return s.rows().Select(ctx, nil, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where(running).Where("node = ''").Order("created_at", "id").Limit(int64(limit))
	})
}

// AbandonedSessions returns up to limit Running sessions whose node is not in alive, oldest first. It includes sessions without a node.
func (s Sessions) AbandonedSessions(ctx context.Context, alive []string, limit int) ([]tornado.Session, error) {
	if limit <= 0 {
		return nil, nil
	}
	return s.rows().Select(ctx, []any{alive}, func(q *bun.SelectQuery) *bun.SelectQuery {
		if len(alive) > 0 {
			q = q.Where("node NOT IN (?)", bun.List(alive))
		}
		return q.Where(running).Order("created_at", "id").Limit(int64(limit))
	})
}

// CancelledSessions returns the ids of the node's Running sessions whose Cancel is set.
func (s Sessions) CancelledSessions(ctx context.Context, node string) (ids []string, err error) {
	err = s.core().Read(ctx, []any{node}, func(ctx context.Context, idb bun.IDB) error {
		ids = nil
		return idb.NewSelect().Model((*sessionRow)(nil)).Column("id").Where(running).Where("node = ?", node).Where("cancel").
			Scan(ctx, &ids)
	})
	return ids, err
}

type stepRow struct {
	bun.BaseModel `bun:"table:tornado_steps,alias:step"`

	Session string    `bun:"session_id,pk"`
	Number  int       `bun:"number,pk"`
	Org     string    `bun:"org"`
	Name    string    `bun:"name"`
	At      time.Time `bun:"at"`
	Answer  string    `bun:"answer"` // sealed answer
}

func stepPurpose(org, session string, number int) string {
	return fmt.Sprintf("step of tornado session:%q:%q:%d", org, session, number)
}

// AppendStep adds a step to the journal of a session. It returns CodeConflict if the step exists or the node is not executing the session.
// On PostgreSQL it locks the session, because the end of the session deletes the journal, and no step may follow.
func (s Sessions) AppendStep(
	ctx context.Context, org callwright.OrgID, session, node string, number int, step tornado.Step,
) error {
	sealed := s.core().Keyring.Seal(stepPurpose(string(org), session, number), callwright.Secret(step.Answer))
	return s.core().Write(ctx, []any{org, session, node, step.Name}, func(ctx context.Context, idb bun.IDB) error {
		row := s.core().ForUpdate(idb.NewSelect().Model((*sessionRow)(nil)).Column("id").ColumnExpr("?", sqldb.Int(number)).
			Column("org").ColumnExpr("?", step.Name).ColumnExpr("?", sqldb.Stored(step.At)).ColumnExpr("?", sealed).
			Where("id = ?", session).Where("org = ?", org).Where(running).Where("node = ?", node))
		result, err := idb.NewRaw(
			"INSERT INTO tornado_steps (session_id, number, org, name, at, answer) ? ON CONFLICT DO NOTHING", row).Exec(ctx)
		return sqldb.Outrun(ctx, "session", sqldb.Changed(result, err, callwright.ErrConflict), findSession(idb, org, session))
	})
}

// Steps returns the decrypted steps in the journal of a session, in order.
func (s Sessions) Steps(ctx context.Context, org callwright.OrgID, session string) ([]tornado.Step, error) {
	var rows []stepRow
	err := s.core().Read(ctx, []any{org, session}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Where("session_id = ?", session).Where("org = ?", org).Order("number").Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	return sqldb.ConvertedAll(rows, func(r stepRow) (tornado.Step, error) {
		answer, err := s.core().Unseal(stepPurpose(r.Org, r.Session, r.Number), r.Answer)
		return tornado.Step{Name: r.Name, At: r.At.UTC(), Answer: []byte(answer)}, err
	})
}

// DeleteSteps deletes all steps in the journal of a session.
func (s Sessions) DeleteSteps(ctx context.Context, org callwright.OrgID, session string) error {
	return s.core().Write(ctx, []any{org, session}, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewDelete().Model((*stepRow)(nil)).Where("session_id = ?", session).Where("org = ?", org).Exec(ctx)
		return err
	})
}

// DeleteSessions deletes up to limit sessions that ended before the given time, with their journals, and returns how many sessions it
// deleted.
func (s Sessions) DeleteSessions(ctx context.Context, before time.Time, limit int) (int, error) {
	if limit <= 0 {
		return 0, nil
	}
	return s.core().DeleteRows(ctx, (*sessionRow)(nil), func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where(over).Where("ended_at < ?", sqldb.Stored(before)).Order("ended_at").Limit(int64(limit))
	})
}
