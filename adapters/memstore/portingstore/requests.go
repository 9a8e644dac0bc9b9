// Package portingstore stores port requests, their documents and letters, reservations of numbers, and the orders of the manual gateway in
// a memstore.Store.
package portingstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/porting"
)

// data holds the rows of the store of this package. Its values are never changed in place.
type data struct {
	*memory.Tables
	requests *memory.Rows[string, porting.Request]
	history  *memory.Table[string, []porting.Entry]
	active   *memory.Table[callwright.PhoneNumber, string] // ids of the open requests
	refs     *memory.Table[order, string]                  // request ids
	due      *memory.Table[string, time.Time]              // by request id
	reserved *memory.Table[callwright.PhoneNumber, porting.Reservation]
}

// order identifies an order by its gateway and the gateway's reference.
type order struct{ gateway, ref string }

// New returns the data of an empty store.
func (data) New() data {
	t := &memory.Tables{}
	return data{
		Tables:   t,
		requests: memory.NewRows(t, "port request", func(r *porting.Request) (callwright.OrgID, string, *int64) { return r.Org, r.ID, &r.Revision }),
		history:  memory.NewTable[string, []porting.Entry](t),
		active:   memory.NewTable[callwright.PhoneNumber, string](t),
		refs:     memory.NewTable[order, string](t),
		due:      memory.NewTable[string, time.Time](t),
		reserved: memory.NewTable[callwright.PhoneNumber, porting.Reservation](t),
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

// Requests implements porting.Store in memory.
type Requests struct{ Store *memstore.Store }

var _ porting.Store = Requests{}

// InsertRequest adds a request and its first history entries. It returns porting.ErrNumberActive if r is open and another open request
// contains one of its numbers. It returns CodeConflict if the ID or the order of r is already stored.
func (s Requests) InsertRequest(ctx context.Context, r porting.Request, entries ...porting.Entry) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, taken := d.requests.Rows()[r.ID]; taken {
			return callwright.ErrConflict
		}
		for _, n := range r.Numbers {
			if _, taken := d.active.Rows()[n.Number]; taken && !r.State.Ended() {
				return porting.ErrNumberActive
			}
		}
		if d.orderTaken(r) {
			return callwright.ErrConflict
		}
		r.Revision = 1
		d.set(porting.Request{}, r, entries)
		return nil
	})
}

// orderTaken reports whether another request already has the order of r.
func (d *data) orderTaken(r porting.Request) bool {
	id, taken := d.refs.Rows()[order{r.Gateway, r.Ref}]
	return taken && id != r.ID
}

// set stores the request r in place of its former value, updates the indexes, and appends entries to the history.
func (d *data) set(was, r porting.Request, entries []porting.Entry) {
	for _, n := range was.Numbers {
		if d.active.Rows()[n.Number] == was.ID {
			d.active.Delete(n.Number)
		}
	}
	for _, n := range r.Numbers {
		if !r.State.Ended() {
			d.active.Set(n.Number, r.ID)
		}
	}
	if was.Ref != "" {
		d.refs.Delete(order{was.Gateway, was.Ref})
	}
	if r.Ref != "" {
		d.refs.Set(order{r.Gateway, r.Ref}, r.ID)
	}
	d.due.Delete(r.ID)
	if !r.DueAt.IsZero() {
		d.due.Set(r.ID, r.DueAt)
	}
	d.requests.Set(r.ID, memory.Clone(r))
	d.history.Set(r.ID, slices.Concat(d.history.Rows()[r.ID], entries))
}

// Request returns a request, or CodeNotFound if the organization has no such request.
func (s Requests) Request(ctx context.Context, org callwright.OrgID, id string) (porting.Request, error) {
	return read(ctx, s.Store, func(d *data) (porting.Request, error) { return d.requests.Find(org, id) })
}

// UpdateRequest replaces a request and appends entries to its history. It returns CodeConflict if the stored revision differs or another
// request has the order, CodeNotFound if the request is absent, and ErrInvalidState if r would reopen an ended request.
func (s Requests) UpdateRequest(ctx context.Context, r porting.Request, entries ...porting.Entry) error {
	return with(ctx, s.Store, func(d *data) error {
		stored := d.requests.Rows()[r.ID]
		switch err := d.requests.Check(r); {
		case err != nil:
			return err
		case d.orderTaken(r):
			return callwright.ErrConflict
		case stored.State.Ended() && !r.State.Ended():
			return callwright.ErrInvalidState
		}
		r.Revision++
		d.set(stored, r, entries)
		return nil
	})
}

// Requests returns a page of an organization's requests in the given states, newest first. An empty f.States selects all states.
func (s Requests) Requests(ctx context.Context, org callwright.OrgID, f porting.Filter) ([]porting.Request, error) {
	return read(ctx, s.Store, func(d *data) ([]porting.Request, error) {
		return d.requests.Page(f.After, f.Limit, place, func(r porting.Request) bool {
			return r.Org == org && (len(f.States) == 0 || slices.Contains(f.States, r.State))
		}), nil
	})
}

// WaitingRequests returns up to limit requests that wait for a signature or are held, oldest first.
func (s Requests) WaitingRequests(ctx context.Context, org callwright.OrgID, limit int) ([]porting.Request, error) {
	return read(ctx, s.Store, func(d *data) ([]porting.Request, error) {
		oldest := func(a, b porting.Request) int { return memory.Compare(place(a), place(b)) }
		return d.requests.Select(limit, oldest, func(r porting.Request) bool {
			return r.Org == org && (r.State == porting.WaitingForSignature || !r.HeldSince.IsZero())
		}), nil
	})
}

func place(r porting.Request) callwright.Keyset { return callwright.Keyset{At: r.CreatedAt, ID: r.ID} }

// History returns the history of a request, oldest entry first. It returns no entries if the organization has no such request.
func (s Requests) History(ctx context.Context, org callwright.OrgID, id string) (entries []porting.Entry, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		if _, err := d.requests.Find(org, id); err == nil {
			entries = memory.Clone(d.history.Rows()[id])
		}
		return nil
	})
	return entries, err
}

// CountOpen returns the number of an organization's requests that have not ended.
func (s Requests) CountOpen(ctx context.Context, org callwright.OrgID) (n int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, r := range d.requests.Rows() {
			if r.Org == org && !r.State.Ended() {
				n++
			}
		}
		return nil
	})
	return n, err
}

// ActiveNumbers returns the given numbers that an open request already uses.
func (s Requests) ActiveNumbers(
	ctx context.Context, numbers []callwright.PhoneNumber,
) (taken []callwright.PhoneNumber, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, n := range numbers {
			if _, active := d.active.Rows()[n]; active && !slices.Contains(taken, n) {
				taken = append(taken, n)
			}
		}
		return nil
	})
	return taken, err
}

// OpenRequest returns the organization and id of the open request that contains a number, or CodeNotFound if there is none.
func (s Requests) OpenRequest(ctx context.Context, number callwright.PhoneNumber) (name porting.Name, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		id, ok := d.active.Rows()[number]
		if !ok {
			return callwright.NotFound("port request")
		}
		name = porting.Name{Org: d.requests.Rows()[id].Org, ID: id}
		return nil
	})
	return name, err
}

// RequestByRef returns the request whose order has the given reference at the given gateway, or CodeNotFound if there is none.
func (s Requests) RequestByRef(ctx context.Context, gateway, ref string) (r porting.Request, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		id, ok := d.refs.Rows()[order{gateway, ref}]
		if !ok {
			return callwright.NotFound("port request")
		}
		r = memory.Clone(d.requests.Rows()[id])
		return nil
	})
	return r, err
}

// DueRequests returns the organizations and ids of up to limit requests that are due at the given time, the longest due first.
func (s Requests) DueRequests(ctx context.Context, now time.Time, limit int) (names []porting.Name, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		var ids []string
		for id, at := range d.due.Rows() {
			if !at.After(now) {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, func(a, b string) int {
			return cmp.Or(d.due.Rows()[a].Compare(d.due.Rows()[b]), cmp.Compare(a, b))
		})
		for _, id := range ids[:min(limit, len(ids))] {
			names = append(names, porting.Name{Org: d.requests.Rows()[id].Org, ID: id})
		}
		return nil
	})
	return names, err
}
