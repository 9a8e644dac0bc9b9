package portingstore

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/porting/document"
)

// Documents stores the records of documents; it implements document.Store.
type Documents struct{ DB *bunstore.DB }

var _ document.Store = Documents{}

func (s Documents) core() core { return core{s.DB.Core()} }

type documentRow struct {
	bun.BaseModel `bun:"table:port_documents,alias:document"`

	ID        string    `bun:"id,pk"`
	Org       string    `bun:"org"`
	Type      string    `bun:"type"`
	Size      int64     `bun:"size"`
	SHA256    string    `bun:"sha256"`
	Locked    bool      `bun:"locked"`
	Active    bool      `bun:"active"`
	Used      bool      `bun:"used"`
	CreatedAt time.Time `bun:"created_at"`
}

type documentUseRow struct {
	bun.BaseModel `bun:"table:port_document_uses"`

	Document string `bun:"document_id,pk"`
	Request  string `bun:"request_id,pk"`
}

func newDocumentRow(d document.Document) *documentRow {
	return &documentRow{
		ID: d.ID, Org: string(d.Org), Type: d.Type, Size: d.Size, SHA256: d.SHA256, Locked: d.Locked, Active: d.Active,
		CreatedAt: sqldb.Stored(d.CreatedAt),
	}
}

func (r *documentRow) document(requests []string) document.Document {
	return document.Document{
		ID: r.ID, Org: callwright.OrgID(r.Org), Type: r.Type, Size: r.Size, SHA256: r.SHA256, Locked: r.Locked, Active: r.Active,
		Requests: requests, CreatedAt: sqldb.Stored(r.CreatedAt),
	}
}

// notUsed is the condition of the partial indexes of documents that no request uses.
const notUsed = "NOT used"

// InsertDocument adds a document that no request uses. It returns CodeTooManyRequests if the organization already has the given number of
// such documents. A lock on the organization serializes insertions, so that the count is exact.
func (s Documents) InsertDocument(ctx context.Context, d document.Document, most int) error {
	return s.DB.Do(ctx, func(ctx context.Context) error {
		err := s.core().Write(ctx, []any{d}, func(ctx context.Context, idb bun.IDB) error {
			return s.core().Alone(ctx, idb, "port documents of "+string(d.Org))
		})
		if err != nil {
			return err
		}
		unused, err := s.CountUnused(ctx, d.Org)
		if err != nil {
			return err
		}
		if unused >= most {
			return callwright.ErrTooManyRequests
		}
		return s.core().Insert(ctx, d, newDocumentRow(d))
	})
}

// CountUnused returns the number of an organization's documents that no request uses.
func (s Documents) CountUnused(ctx context.Context, org callwright.OrgID) (count int, err error) {
	err = s.core().Read(ctx, []any{org}, func(ctx context.Context, idb bun.IDB) error {
		count, err = sqldb.Count(ctx, idb.NewSelect().Model((*documentRow)(nil)).Where("org = ?", org).Where(notUsed))
		return err
	})
	return count, err
}

// Document returns a document with the requests that use it, at most document.MaxListed of them. It returns CodeNotFound if the document is
// absent.
func (s Documents) Document(ctx context.Context, org callwright.OrgID, id string) (document.Document, error) {
	row, requests := new(documentRow), []string(nil)
	err := s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		if err := idb.NewSelect().Model(row).Where("id = ?", id).Where("org = ?", org).Scan(ctx); err != nil {
			return sqldb.Absent("document", err)
		}
		if requests = nil; !row.Used {
			return nil
		}
		return idb.NewSelect().Model((*documentUseRow)(nil)).Column("request_id").Where("document_id = ?", id).
			Order("request_id").Limit(int64(document.MaxListed)).Scan(ctx, &requests)
	})
	if err != nil {
		return document.Document{}, err
	}
	return row.document(requests), nil
}

// UseDocuments records that a request uses documents, and returns the ids of absent documents. It also updates the documents' rows, so that
// a concurrent deletion of unused documents skips them.
func (s Documents) UseDocuments(
	ctx context.Context, org callwright.OrgID, request string, ids []string,
) (absent []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var found []string
	err = s.DB.Do(ctx, func(ctx context.Context) error {
		return s.core().Write(ctx, []any{org, request, ids}, func(ctx context.Context, idb bun.IDB) error {
			found = nil
			err := idb.NewUpdate().Model((*documentRow)(nil)).Set("used = TRUE").Where("id IN (?)", bun.List(ids)).
				Where("org = ?", org).Returning("id").Scan(ctx, &found)
			if err != nil || len(found) == 0 {
				return err
			}
			uses := sqldb.Converted(found, func(id string) documentUseRow { return documentUseRow{Document: id, Request: request} })
			_, err = idb.NewInsert().Model(&uses).On("CONFLICT DO NOTHING").Returning("NULL").Exec(ctx)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if !slices.Contains(found, id) && !slices.Contains(absent, id) {
			absent = append(absent, id)
		}
	}
	return absent, nil
}

// DeleteUnused deletes up to limit documents that no request uses and that were created before the given time. It returns how many it
// deleted.
func (s Documents) DeleteUnused(ctx context.Context, before time.Time, limit int) (deleted int, err error) {
	return s.core().DeleteRows(ctx, (*documentRow)(nil), func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where(notUsed).Where("created_at < ?", sqldb.Stored(before)).Order("created_at").Limit(int64(limit))
	})
}

// HashesInUse returns the given hashes that belong to a document.
func (s Documents) HashesInUse(ctx context.Context, hashes []string) (used []string, err error) {
	if len(hashes) == 0 {
		return nil, nil
	}
	err = s.core().Read(ctx, []any{hashes}, func(ctx context.Context, idb bun.IDB) error {
		used = nil
		return idb.NewSelect().Model((*documentRow)(nil)).Distinct().Column("sha256").Where("sha256 IN (?)", bun.List(hashes)).
			Scan(ctx, &used)
	})
	return used, err
}
