// Package triagestore stores issues and their feeds in a memstore.Store.
package triagestore

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/triage"
)

// data holds the rows of the stores of this package.
type data struct {
	*memory.Tables
	issues       *memory.Rows[string, triage.Issue]
	issueNumbers *memory.Table[callwright.OrgID, int]  // the last number that was assigned
	feeds        *memory.Table[string, []triage.Entry] // by issue, oldest entry first
	entryPlaces  map[string]entryPlace                 // by entry; a rollback does not restore it: see hasEntry
	comments     *memory.Rows[string, triage.Comment]
	attached     *memory.Rows[string, triage.Resource]
	flags        *memory.Rows[string, triage.Flag]
	relations    *memory.Rows[string, triage.Relation] // From and To contain only the ids of the issues
	sessions     *memory.Rows[string, triage.Session]
	reports      *memory.Table[reportKey, string] // issue ids
	seen         *memory.Table[seenKey, time.Time]
}

// New returns the data of an empty store.
func (data) New() data {
	t := &memory.Tables{}
	return data{
		Tables:       t,
		issues:       memory.NewRows(t, "issue", func(i *triage.Issue) (callwright.OrgID, string, *int64) { return i.Org, i.ID, &i.Revision }),
		issueNumbers: memory.NewTable[callwright.OrgID, int](t),
		feeds:        memory.NewTable[string, []triage.Entry](t),
		entryPlaces:  map[string]entryPlace{},
		comments:     memory.NewRows(t, "comment", func(c *triage.Comment) (callwright.OrgID, string, *int64) { return c.Org, c.ID, &c.Revision }),
		attached:     memory.NewRows(t, "resource", func(r *triage.Resource) (callwright.OrgID, string, *int64) { return r.Org, r.ID, nil }),
		flags:        memory.NewRows(t, "flag", func(f *triage.Flag) (callwright.OrgID, string, *int64) { return f.Org, f.ID, nil }),
		relations:    memory.NewRows(t, "relation", func(r *triage.Relation) (callwright.OrgID, string, *int64) { return r.Org, r.ID, nil }),
		sessions:     memory.NewRows(t, "session", func(a *triage.Session) (callwright.OrgID, string, *int64) { return a.Org, a.ID, &a.Revision }),
		reports:      memory.NewTable[reportKey, string](t),
		seen:         memory.NewTable[seenKey, time.Time](t),
	}
}

// with passes the data to f, in the transaction of ctx if it carries one. f must not fail after its first change, because only a failed
// transaction undoes changes.
func with(ctx context.Context, s *memstore.Store, f func(d *data) error) error {
	return memory.With(ctx, s.Core(), f)
}

// read returns the result of f on the data. It reads in the transaction of ctx if ctx carries one.
func read[V any](ctx context.Context, s *memstore.Store, f func(d *data) (V, error)) (V, error) {
	return memory.Read(ctx, s.Core(), f)
}

// insertPart adds a part of an issue, such as a comment. It returns CodeNotFound if the organization has no such issue, and CodeConflict if
// the part's id is already stored.
func insertPart[V any](d *data, rows *memory.Rows[string, V], org callwright.OrgID, issue string, part V) error {
	if err := d.issues.Exists(org, issue); err != nil {
		return err
	}
	return rows.Insert(part)
}

// findPart returns a part of an organization's issue, or CodeNotFound if the issue has no such part. It gets the id of the issue to which a
// part belongs from the function in the last argument.
func findPart[V any](rows *memory.Rows[string, V], org callwright.OrgID, issue, id string, of func(V) string) (V, error) {
	part, err := rows.Find(org, id)
	if err == nil && of(part) != issue {
		var none V
		return none, rows.Absent()
	}
	return part, err
}
