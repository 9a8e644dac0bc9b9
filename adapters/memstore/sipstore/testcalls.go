package sipstore

import (
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/sip/testcall"
)

// TestCalls implements testcall.Store in memory.
type TestCalls struct{ Store *memstore.Store }

// Insert adds a test call, unless the organization has started the maximum number of test calls (limit) since the given time. In that case
// added is false, and oldest is the start of the oldest call that counts toward the limit.
func (s TestCalls) Insert(
	ctx context.Context, c testcall.Call, limit int, since time.Time,
) (added bool, oldest time.Time, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		var began []time.Time
		for _, other := range d.testCalls.Rows() {
			if other.Org == c.Org && other.StartedAt.After(since) {
				began = append(began, other.StartedAt)
			}
		}
		if len(began) >= limit {
			slices.SortFunc(began, time.Time.Compare)
			oldest = began[len(began)-limit]
			return nil
		}
		err := d.testCalls.Insert(c)
		added = err == nil
		return err
	})
	return added, oldest, err
}

// Update replaces a test call. It returns CodeConflict if the stored version differs, and CodeNotFound if the test call is absent.
func (s TestCalls) Update(ctx context.Context, c testcall.Call) error {
	return with(ctx, s.Store, func(d *data) error { return d.testCalls.Replace(c) })
}

// Get returns a test call, or CodeNotFound if the organization has no such test call.
func (s TestCalls) Get(ctx context.Context, org callwright.OrgID, id string) (testcall.Call, error) {
	return read(ctx, s.Store, func(d *data) (testcall.Call, error) { return d.testCalls.Find(org, id) })
}

// Unfinished returns up to limit test calls that were started before the given time and have not ended, oldest first.
func (s TestCalls) Unfinished(ctx context.Context, before time.Time, limit int) ([]testcall.Call, error) {
	return read(ctx, s.Store, func(d *data) ([]testcall.Call, error) {
		oldest := func(a, b testcall.Call) int { return a.StartedAt.Compare(b.StartedAt) }
		return d.testCalls.Select(limit, oldest, func(c testcall.Call) bool { return c.EndedAt == nil && c.StartedAt.Before(before) }), nil
	})
}

// DeleteOld deletes the ended test calls that were started before the given time.
func (s TestCalls) DeleteOld(ctx context.Context, before time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		return d.testCalls.DeleteWhere(func(c testcall.Call) bool { return c.EndedAt != nil && c.StartedAt.Before(before) })
	})
}
