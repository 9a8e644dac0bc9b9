package agentstore

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/call"
)

// matching selects the calls of an organization that match the filter, on all pages.
func matching(q *bun.SelectQuery, org callwright.OrgID, f call.Filter) *bun.SelectQuery {
	q = q.Where("org = ?", org)
	keyed := false
	for _, key := range []struct{ column, value string }{{"from_number", f.From}, {"to_number", f.To}, {"pathway_id", f.Pathway}} {
		switch {
		case key.value == "":
			continue
		case keyed && f.Scan > 0:
			q = q.Where("? || '' = ?", bun.Ident(key.column), key.value) // avoids this column's index: scanned uses another index
		default:
			q = q.Where("? = ?", bun.Ident(key.column), key.value)
		}
		keyed = true
	}
	if f.Inbound != nil {
		q = q.Where("inbound = ?", *f.Inbound)
	}
	if f.Completed != nil {
		if *f.Completed {
			q = q.Where("ended")
		} else {
			q = q.Where("NOT ended") // must match the condition of a partial index literally
		}
	}
	if f.AnsweredBy != "" {
		q = q.Where("answered_by = ?", f.AnsweredBy)
	}
	if f.Status != "" {
		q = q.Where("status = ?", f.Status)
	}
	if f.LongerThan != 0 {
		q = q.Where("length_ns > ?", f.LongerThan)
	}
	if f.ShorterThan != 0 {
		q = q.Where("length_ns < ?", f.ShorterThan)
	}
	if !f.Since.IsZero() {
		q = q.Where("created_at >= ?", f.Since)
	}
	if !f.Before.IsZero() {
		q = q.Where("created_at < ?", f.Before)
	}
	return q
}

// pageOf orders calls by creation, and skips the calls up to and including f.After.
func pageOf(q *bun.SelectQuery, f call.Filter) *bun.SelectQuery {
	direction, beyond := " DESC", "(created_at, id) < (?, ?)"
	if f.OldestFirst {
		direction, beyond = " ASC", "(created_at, id) > (?, ?)"
	}
	if !f.After.IsZero() {
		q = q.Where(beyond, f.After.At, f.After.ID)
	}
	return q.Order("created_at"+direction, "id"+direction)
}

// scanned returns the last call that a page may examine because of f.Scan. It returns the zero keyset if f.Scan is 0, if no more than
// f.Scan calls are left, or if every examined call matches f.
func scanned(ctx context.Context, idb bun.IDB, org callwright.OrgID, f call.Filter) (last callwright.Keyset, err error) {
	of, chosen := f.Scanned(), f
	chosen.Scan, chosen.Limit, chosen.SkipCount = 0, 0, false
	if f.Scan == 0 || of == chosen {
		return last, nil
	}
	columns := []string{"created_at", "id"}
	if of.Completed != nil {
		columns = append(columns, "node") // calls_by_time does not contain node. Without this column it would cover the query, and SQLite would prefer it to the partial index calls_running.
	}
	var rows []callRow
	err = pageOf(matching(idb.NewSelect().Model(&rows).Column(columns...), org, of), f).Offset(int64(f.Scan - 1)).Limit(2).Scan(ctx)
	if len(rows) == 2 {
		last = callwright.Keyset{At: sqldb.Stored(rows[0].CreatedAt), ID: rows[0].ID}
	}
	return last, err
}

// within excludes the calls beyond last, unless last is zero. The separate condition on created_at allows a range scan of an index.
func within(q *bun.SelectQuery, f call.Filter, last callwright.Keyset) *bun.SelectQuery {
	switch {
	case last.IsZero():
		return q
	case f.OldestFirst:
		return q.Where("created_at <= ?", last.At).Where("created_at < ? OR id <= ?", last.At, last.ID)
	}
	return q.Where("created_at >= ?", last.At).Where("created_at > ? OR id >= ?", last.At, last.ID)
}
