package sipstore

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/sip/testcall"
)

// TestCalls is a testcall.Store.
type TestCalls struct{ Store *memstore.Store }

// Insert adds a test call, unless the organization has had too many.
func (s TestCalls) Insert(
	ctx context.Context, c testcall.Call, limit int, since time.Time,
) (added bool, oldest time.Time, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		var began []time.Time
		for _, other := range d.testCalls {
			if other.Org == c.Org && other.StartedAt.After(since) {
				began = append(began, other.StartedAt)
			}
		}
		if len(began) >= limit {
			slices.SortFunc(began, time.Time.Compare)
			oldest = began[len(began)-limit]
			return nil
		}
		if _, taken := d.testCalls[c.ID]; taken {
			return callwright.ErrConflict
		}
		c.Version = 1
		d.testCalls[c.ID] = memory.Clone(c)
		added = true
		return nil
	})
	return added, oldest, err
}

// testCall returns a test call of an organization.
func (d *data) testCall(org callwright.OrgID, id string) (testcall.Call, error) {
	c, ok := d.testCalls[id]
	if !ok || c.Org != org {
		return testcall.Call{}, callwright.NotFound("test call")
	}
	return c, nil
}

// Update replaces a test call.
func (s TestCalls) Update(ctx context.Context, c testcall.Call) error {
	return with(ctx, s.Store, func(d *data) error {
		stored, err := d.testCall(c.Org, c.ID)
		if err != nil {
			return err
		}
		if stored.Version != c.Version {
			return callwright.ErrConflict
		}
		c.Version++
		d.testCalls[c.ID] = memory.Clone(c)
		return nil
	})
}

// Get returns one test call.
func (s TestCalls) Get(ctx context.Context, org callwright.OrgID, id string) (c testcall.Call, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		stored, err := d.testCall(org, id)
		c = memory.Clone(stored)
		return err
	})
	return c, err
}

// Unfinished returns the test calls that have not ended, the oldest first.
func (s TestCalls) Unfinished(ctx context.Context, before time.Time, limit int) (found []testcall.Call, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, c := range d.testCalls {
			if c.EndedAt == nil && c.StartedAt.Before(before) {
				found = append(found, memory.Clone(c))
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b testcall.Call) int { return a.StartedAt.Compare(b.StartedAt) })
	return found[:min(limit, len(found))], err
}

// DeleteOld deletes test calls that ended and are old.
func (s TestCalls) DeleteOld(ctx context.Context, before time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		maps.DeleteFunc(d.testCalls, func(_ string, c testcall.Call) bool {
			return c.EndedAt != nil && c.StartedAt.Before(before)
		})
		return nil
	})
}
