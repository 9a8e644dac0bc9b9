package portingstore

import (
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/porting/document"
)

// documents holds the records of documents.
type documents struct {
	*memory.Tables
	byID *memory.Rows[string, document.Document]
}

// New returns an empty table of documents.
func (documents) New() documents {
	t := &memory.Tables{}
	return documents{t, memory.NewRows(t, "document", func(d *document.Document) (callwright.OrgID, string, *int64) { return d.Org, d.ID, nil })}
}

// unused returns the number of an organization's documents that no request uses.
func (d documents) unused(org callwright.OrgID) (count int) {
	for _, row := range d.byID.Rows() {
		if row.Org == org && len(row.Requests) == 0 {
			count++
		}
	}
	return count
}

// Documents implements document.Store in memory.
type Documents struct{ Store *memstore.Store }

var _ document.Store = Documents{}

// with passes the documents to f, in the transaction of ctx if it carries one. f must not fail after its first change, because only a
// failed transaction undoes changes.
func (s Documents) with(ctx context.Context, f func(d *documents) error) error {
	return memory.With(ctx, s.Store.Core(), f)
}

// InsertDocument adds a document and clears its Requests. It returns ErrTooManyRequests if the organization already has the given number of
// documents that no request uses, and CodeConflict if the ID is already stored.
func (s Documents) InsertDocument(ctx context.Context, d document.Document, most int) error {
	return s.with(ctx, func(all *documents) error {
		if _, taken := all.byID.Rows()[d.ID]; taken {
			return callwright.ErrConflict
		}
		if all.unused(d.Org) >= most {
			return callwright.ErrTooManyRequests
		}
		d.Requests = nil
		return all.byID.Insert(d)
	})
}

// CountUnused returns the number of an organization's documents that no request uses.
func (s Documents) CountUnused(ctx context.Context, org callwright.OrgID) (count int, err error) {
	err = s.with(ctx, func(all *documents) error {
		count = all.unused(org)
		return nil
	})
	return count, err
}

// Document returns a document with at most document.MaxListed of its requests. It returns CodeNotFound if the organization has no such
// document.
func (s Documents) Document(ctx context.Context, org callwright.OrgID, id string) (found document.Document, err error) {
	err = s.with(ctx, func(all *documents) error {
		found, err = all.byID.Find(org, id)
		found.Requests = found.Requests[:min(document.MaxListed, len(found.Requests))]
		return err
	})
	return found, err
}

// UseDocuments adds a request to the users of the given documents. It returns, without duplicates, the ids of the documents that the
// organization does not have.
func (s Documents) UseDocuments(
	ctx context.Context, org callwright.OrgID, request string, ids []string,
) (absent []string, err error) {
	err = s.with(ctx, func(all *documents) error {
		for _, id := range ids {
			row, known := all.byID.Rows()[id]
			if !known || row.Org != org {
				if !slices.Contains(absent, id) {
					absent = append(absent, id)
				}
				continue
			}
			at, used := slices.BinarySearch(row.Requests, request)
			if !used {
				row.Requests = slices.Insert(slices.Clone(row.Requests), at, request)
				all.byID.Set(id, row)
			}
		}
		return nil
	})
	return absent, err
}

// DeleteUnused deletes up to limit documents that no request uses and that were created before the given time. It returns the number of
// deleted documents.
func (s Documents) DeleteUnused(ctx context.Context, before time.Time, limit int) (int, error) {
	return memory.Read(ctx, s.Store.Core(), func(all *documents) (int, error) {
		return all.byID.DeleteUpTo(limit, func(row document.Document) bool { return len(row.Requests) == 0 && row.CreatedAt.Before(before) })
	})
}

// HashesInUse returns the given hashes that belong to a document of any organization.
func (s Documents) HashesInUse(ctx context.Context, hashes []string) (used []string, err error) {
	err = s.with(ctx, func(all *documents) error {
		has := map[string]bool{}
		for _, row := range all.byID.Rows() {
			has[row.SHA256] = true
		}
		for _, hash := range hashes {
			if has[hash] {
				used = append(used, hash)
			}
		}
		return nil
	})
	return used, err
}
