package agentstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
)

// Calls stores calls; it implements call.Store.
type Calls struct{ Store *memstore.Store }

// Insert adds a call with Version 1. It returns CodeConflict if the id exists.
func (s Calls) Insert(ctx context.Context, c call.Call) error {
	return with(ctx, s.Store, func(d *data) error { return d.calls.Insert(c) })
}

// Get returns one call, or CodeNotFound if it is absent.
func (s Calls) Get(ctx context.Context, org callwright.OrgID, id string) (call.Call, error) {
	return read(ctx, s.Store, func(d *data) (call.Call, error) { return d.calls.Find(org, id) })
}

// Update replaces a call, except for the fields of the request and StopRequested. It returns CodeConflict if the stored version is not
// c.Version, and CodeNotFound if the call is absent.
func (s Calls) Update(ctx context.Context, c call.Call) error {
	return with(ctx, s.Store, func(d *data) error {
		stored, err := d.calls.Stored(c.Org, c.ID)
		if err != nil {
			return err
		}
		c.StopRequested = stored.StopRequested
		c.Inbound, c.From, c.To, c.Agent, c.Plan = stored.Inbound, stored.From, stored.To, stored.Agent, stored.Plan
		c.RequestData, c.Metadata, c.RetryOf = stored.RequestData, stored.Metadata, stored.RetryOf
		c.CreatedAt, c.StartAt = stored.CreatedAt, stored.StartAt
		return d.calls.Replace(c)
	})
}

// List returns a page of calls without their large fields, newest first unless f.OldestFirst is set. total is the number of all matching
// calls, or 0 if f.SkipCount is set.
func (s Calls) List(
	ctx context.Context, org callwright.OrgID, f call.Filter,
) (page callwright.Page[call.Call], total int, err error) {
	var found, looked []call.Call
	err = with(ctx, s.Store, func(d *data) error {
		for _, c := range d.calls.Rows() {
			if f.Scan > 0 && c.Org == org && matches(c, f.Scanned()) {
				looked = append(looked, call.Call{ID: c.ID, CreatedAt: c.CreatedAt})
			}
			if c.Org == org && matches(c, f) {
				c.Agent, c.Plan = agents.Agent{Pathway: c.Agent.Pathway}, call.Plan{}
				c.RequestData, c.Variables, c.Metadata = nil, nil, nil
				found = append(found, memory.Clone(c))
			}
		}
		return nil
	})
	order := func(aAt time.Time, aID string, bAt time.Time, bID string) int {
		n := cmp.Or(aAt.Compare(bAt), cmp.Compare(aID, bID))
		if f.OldestFirst {
			return n
		}
		return -n
	}
	remaining := func(calls []call.Call) []call.Call {
		slices.SortFunc(calls, func(a, b call.Call) int { return order(a.CreatedAt, a.ID, b.CreatedAt, b.ID) })
		if f.After.IsZero() {
			return calls
		}
		return slices.DeleteFunc(calls, func(c call.Call) bool { return order(c.CreatedAt, c.ID, f.After.At, f.After.ID) <= 0 })
	}
	if !f.SkipCount {
		total = len(found)
	}
	found, looked = remaining(found), remaining(looked)
	if len(looked) > f.Scan {
		last := looked[f.Scan-1]
		page.Next = callwright.Keyset{At: last.CreatedAt, ID: last.ID}
		found = slices.DeleteFunc(found, func(c call.Call) bool { return order(c.CreatedAt, c.ID, last.CreatedAt, last.ID) > 0 })
	}
	page.Items = found
	if limit := cmp.Or(f.Limit, call.MaxPage); len(found) > limit {
		last := found[limit-1]
		page.Items, page.Next = found[:limit], callwright.Keyset{At: last.CreatedAt, ID: last.ID}
	}
	return page, total, err
}

// Hours returns the counts of calls for each hour in which calls were created, oldest first. It counts only calls that were created at or
// after the first given time and before the second.
func (s Calls) Hours(ctx context.Context, org callwright.OrgID, since, before time.Time) (hours []call.Hour, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		by := map[time.Time]call.Tally{}
		for _, c := range d.calls.Rows() {
			if c.Org != org || !matches(c, call.Filter{Since: since, Before: before}) {
				continue
			}
			start := c.CreatedAt.UTC().Truncate(time.Hour)
			t := by[start]
			t.Calls++
			if c.Queue.Ended() {
				t.Ended++
				if c.AnsweredBy != "" && c.AnsweredBy != call.AnsweredByNobody {
					t.Answered++
				}
			}
			by[start] = t
		}
		for start, t := range by {
			hours = append(hours, call.Hour{Start: start, Tally: t})
		}
		return nil
	})
	slices.SortFunc(hours, func(a, b call.Hour) int { return a.Start.Compare(b.Start) })
	return hours, err
}

func matches(c call.Call, f call.Filter) bool {
	return (f.From == "" || c.From == f.From) &&
		(f.To == "" || c.To == f.To) &&
		(f.Inbound == nil || c.Inbound == *f.Inbound) &&
		(f.Completed == nil || c.Queue.Ended() == *f.Completed) &&
		(f.Since.IsZero() || !c.CreatedAt.Before(f.Since)) &&
		(f.Before.IsZero() || c.CreatedAt.Before(f.Before)) &&
		(f.Pathway == "" || c.Agent.Pathway.ID == f.Pathway) &&
		cameOut(c, f)
}

// cameOut reports whether the outcome of a call matches a filter: AnsweredBy, Status and length.
func cameOut(c call.Call, f call.Filter) bool {
	return (f.AnsweredBy == "" || c.AnsweredBy == f.AnsweredBy) &&
		(f.Status == "" || c.Status == f.Status) &&
		(f.LongerThan == 0 || c.Queue.Ended() && c.Length() > f.LongerThan) &&
		(f.ShorterThan == 0 || c.Queue.Ended() && c.Length() < f.ShorterThan)
}

// RequestStop marks a call to be stopped, without a change of its Version. It ignores a call that has ended, and returns CodeNotFound if
// the call is absent.
func (s Calls) RequestStop(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		c, err := d.calls.Stored(org, id)
		if err != nil || c.Queue.Ended() {
			return err
		}
		c.StopRequested = true
		d.calls.Set(id, c)
		return nil
	})
}

// Stops returns the ids of the node's live calls that are marked to be stopped.
func (s Calls) Stops(ctx context.Context, node string) (stops []string, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for id, c := range d.calls.Rows() {
			if isLive(c) && c.Node == node && c.StopRequested {
				stops = append(stops, id)
			}
		}
		return nil
	})
	return stops, err
}

// Lost returns up to limit live calls of all organizations that their node claimed (TakenAt) at or before the given time, and whose node is
// not in alive.
func (s Calls) Lost(ctx context.Context, alive []string, before time.Time, limit int) (found []call.Call, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, c := range d.calls.Rows() {
			if isLive(c) && !c.TakenAt.After(before) && !slices.Contains(alive, c.Node) && len(found) < limit {
				found = append(found, memory.Clone(c))
			}
		}
		return nil
	})
	return found, err
}

func isLive(c call.Call) bool { return c.Queue == call.QueueAllocated || c.Queue == call.QueueStarted }
