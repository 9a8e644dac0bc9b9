package sipstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/setup"
)

type draftRow struct {
	bun.BaseModel `bun:"table:trunk_setups"`

	ID        string    `bun:"id,pk"`
	Org       string    `bun:"org"`
	CreatedAt time.Time `bun:"created_at"`
	UpdatedAt time.Time `bun:"updated_at"`
	Version   int64     `bun:"version"`
	Document  draftJSON `bun:"document,type:jsonb"`
	Password  string    `bun:"password"` // sealed password
}

// draftJSON holds the fields that no query searches.
type draftJSON struct {
	Directions setup.Directions    `json:"directions"`
	Step       setup.Step          `json:"step"`
	Endpoint   string              `json:"endpoint,omitempty"`
	Discovery  string              `json:"discovery,omitempty"`
	Auth       setup.Auth          `json:"auth,omitempty"`
	Verify     sip.TLSVerification `json:"verify,omitempty"`
	Username   string              `json:"username,omitempty"`
	Numbers    string              `json:"numbers,omitempty"`
	Allowed    string              `json:"allowed,omitempty"`
}

// draftPurpose returns the purpose of Keyring.Seal that binds a sealed password to its draft.
func draftPurpose(id string) string { return "trunk_setup:" + id + ":password" }

func (db core) draftRow(d setup.Draft) draftRow {
	return draftRow{
		ID: d.ID, Org: string(d.Org), CreatedAt: sqldb.Stored(d.CreatedAt), UpdatedAt: sqldb.Stored(d.UpdatedAt), Version: d.Version,
		Document: draftJSON{d.Directions, d.Step, d.Endpoint, d.Discovery, d.Auth, d.Verify, d.Username, d.Numbers, d.Allowed},
		Password: db.Keyring.Seal(draftPurpose(d.ID), d.Password),
	}
}

func (db core) draft(r draftRow) (setup.Draft, error) {
	password, err := db.Unseal(draftPurpose(r.ID), r.Password)
	d := r.Document
	return setup.Draft{
		ID: r.ID, Org: callwright.OrgID(r.Org), Directions: d.Directions, Step: d.Step, Endpoint: d.Endpoint, Discovery: d.Discovery,
		Auth: d.Auth, Verify: d.Verify, Username: d.Username, Password: password, Numbers: d.Numbers, Allowed: d.Allowed,
		CreatedAt: sqldb.Stored(r.CreatedAt), UpdatedAt: sqldb.Stored(r.UpdatedAt), Version: r.Version,
	}, err
}

// Drafts stores unfinished setups of trunks; it implements setup.Store.
type Drafts struct{ DB *bunstore.DB }

func (s Drafts) rows() sqldb.Rows[setup.Draft, draftRow] {
	db := core{s.DB.Core()}
	return sqldb.Rows[setup.Draft, draftRow]{DB: db.DB, Kind: "set-up", Row: sqldb.Plain(db.draftRow), Value: db.draft}
}

// InsertDraft adds a draft. It returns CodeInvalidState if the organization already has the maximum number of drafts (the parameter most)
// that were updated at or after the given time.
func (s Drafts) InsertDraft(ctx context.Context, d setup.Draft, most int, since time.Time) error {
	return s.DB.Do(ctx, func(ctx context.Context) error {
		err := s.rows().DB.Write(ctx, []any{d}, func(ctx context.Context, idb bun.IDB) error {
			if err := s.rows().DB.Alone(ctx, idb, "set-ups of "+string(d.Org)); err != nil {
				return err
			}
			under, err := sqldb.Count(ctx, idb.NewSelect().Model((*draftRow)(nil)).
				Where("org = ?", d.Org).Where("updated_at >= ?", sqldb.Stored(since)))
			if err == nil && under >= most {
				err = callwright.Errorf(callwright.CodeInvalidState, "at most %d set-ups can be open: finish or discard one", most)
			}
			return err
		})
		if err != nil {
			return err
		}
		return s.rows().Insert(ctx, d)
	})
}

// UpdateDraft replaces a draft. It returns CodeConflict if the stored version differs, and CodeNotFound if the draft is absent.
func (s Drafts) UpdateDraft(ctx context.Context, d setup.Draft) error {
	return s.rows().Replace(ctx, d)
}

// Draft returns one draft with its password decrypted, or CodeNotFound if it is absent.
func (s Drafts) Draft(ctx context.Context, org callwright.OrgID, id string) (setup.Draft, error) {
	return s.rows().Find(ctx, org, id)
}

// DraftsOf returns up to limit drafts of an organization that were updated at or after the given time, most recently updated first.
func (s Drafts) DraftsOf(ctx context.Context, org callwright.OrgID, since time.Time, limit int) ([]setup.Draft, error) {
	return s.rows().Select(ctx, []any{org}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org).Where("updated_at >= ?", sqldb.Stored(since)).Order("updated_at DESC", "id DESC").Limit(int64(limit))
	})
}

// DeleteDraft deletes a draft. It returns nil if the draft is absent.
func (s Drafts) DeleteDraft(ctx context.Context, org callwright.OrgID, id string) error {
	return s.rows().Delete(ctx, org, id)
}

// DeleteOldDrafts deletes up to limit drafts that were last updated before the given time, and returns how many it deleted.
func (s Drafts) DeleteOldDrafts(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.rows().DeleteUpTo(ctx, limit, "updated_at < ?", sqldb.Stored(before))
}
