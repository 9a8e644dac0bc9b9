package sipstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/sip/testcall"
)

// TestCalls stores test calls; it implements testcall.Store.
type TestCalls struct{ DB *bunstore.DB }

func (s TestCalls) rows() sqldb.Rows[testcall.Call, testCallRow] {
	return sqldb.Rows[testcall.Call, testCallRow]{DB: s.DB.Core(), Kind: "test call", Row: sqldb.Plain(newTestCallRow), Value: sqldb.Plain(testCallRow.call)}
}

type testCallRow struct {
	bun.BaseModel `bun:"table:sip_test_calls"`

	ID         string         `bun:"id,pk"`
	Org        string         `bun:"org"`
	Number     string         `bun:"number"`
	Status     string         `bun:"status"`
	Result     string         `bun:"result"`
	Timeline   []timelineJSON `bun:"timeline,type:jsonb"`
	StartedAt  time.Time      `bun:"started_at"`
	AnsweredAt *time.Time     `bun:"answered_at"`
	EndedAt    *time.Time     `bun:"ended_at"`
	Version    int64          `bun:"version"`
}

// timelineJSON is the JSON form of a testcall.Event.
type timelineJSON struct {
	Name   string    `json:"name"`
	At     time.Time `json:"at"`
	Detail string    `json:"detail,omitempty"`
}

func newTestCallRow(c testcall.Call) testCallRow {
	return testCallRow{
		ID: c.ID, Org: string(c.Org), Number: string(c.Number), Status: string(c.Status), Result: string(c.Result),
		Timeline: sqldb.Converted(c.Timeline, func(e testcall.Event) timelineJSON {
			e.At = sqldb.Stored(e.At)
			return timelineJSON(e)
		}),
		StartedAt: sqldb.Stored(c.StartedAt), AnsweredAt: sqldb.StoredIfSet(c.AnsweredAt), EndedAt: sqldb.StoredIfSet(c.EndedAt),
		Version: c.Version,
	}
}

func (r testCallRow) call() testcall.Call {
	return testcall.Call{
		ID: r.ID, Org: callwright.OrgID(r.Org), Number: callwright.PhoneNumber(r.Number),
		Status: testcall.Status(r.Status), Result: testcall.Result(r.Result),
		Timeline:  sqldb.Converted(r.Timeline, func(e timelineJSON) testcall.Event { return testcall.Event(e) }),
		StartedAt: sqldb.Stored(r.StartedAt), AnsweredAt: sqldb.StoredIfSet(r.AnsweredAt), EndedAt: sqldb.StoredIfSet(r.EndedAt),
		Version: r.Version,
	}
}

// Insert adds a test call, unless the organization has started the maximum number of test calls (limit) since the given time. In that case
// added is false, and oldest is the start of the oldest call that counts towards the limit.
func (s TestCalls) Insert(
	ctx context.Context, c testcall.Call, limit int, since time.Time,
) (added bool, oldest time.Time, err error) {
	err = s.DB.Do(ctx, func(ctx context.Context) error {
		added, oldest = false, time.Time{}
		var began []time.Time // start of the limit-th newest call, if it exists
		err := s.rows().DB.Write(ctx, []any{c}, func(ctx context.Context, idb bun.IDB) error {
			if err := s.rows().DB.Alone(ctx, idb, "test calls of "+string(c.Org)); err != nil {
				return err
			}
			return idb.NewSelect().Model((*testCallRow)(nil)).Column("started_at").
				Where("org = ?", c.Org).Where("started_at > ?", since).
				Order("started_at DESC").Offset(int64(limit-1)).Limit(1).Scan(ctx, &began)
		})
		if err != nil {
			return err
		}
		if len(began) > 0 {
			oldest = began[0].UTC()
			return nil
		}
		added = true
		return s.rows().Insert(ctx, c)
	})
	return added && err == nil, oldest, err
}

// Update replaces a test call. It returns CodeConflict if the stored version differs, and CodeNotFound if the call is absent.
func (s TestCalls) Update(ctx context.Context, c testcall.Call) error {
	return s.rows().Replace(ctx, c)
}

// Get returns one test call, or CodeNotFound if it is absent.
func (s TestCalls) Get(ctx context.Context, org callwright.OrgID, id string) (testcall.Call, error) {
	return s.rows().Find(ctx, org, id)
}

// Unfinished returns up to limit test calls that have not ended and started before the given time, oldest first.
func (s TestCalls) Unfinished(ctx context.Context, before time.Time, limit int) ([]testcall.Call, error) {
	return s.rows().Select(ctx, nil, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("ended_at IS NULL").Where("started_at < ?", before).Order("started_at").Limit(int64(limit))
	})
}

// DeleteOld deletes all ended test calls that started before the given time.
func (s TestCalls) DeleteOld(ctx context.Context, before time.Time) error {
	return s.rows().DeleteWhere(ctx, "ended_at IS NOT NULL AND started_at < ?", before)
}
