package porting

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// ErrNumberActive is the error of a request with a number that is in another request which has not ended, of any organization. It
// does not say whose.
var ErrNumberActive = &callwright.Error{
	Code: callwright.CodeConflict, Field: "phone_numbers", Message: "a number is in another port request that has not ended",
}

// Store stores requests with their histories, and reservations. portingtest.RunStore tests one.
//
// Returned values share no memory with stored ones. They equal what was stored: times are in UTC with microseconds, a nil list stays nil,
// and the raw words of failures and the notes of entries may hold any characters, U+0000 included. Another organization's request is
// absent. Accounts, PINs and webhooks are encrypted at rest, and so are the raw words of failures and the notes of entries. Methods take
// part in the transaction of ctx: see callwright.Atomic. loatest.RunRaces tests that, together with a loa.Store.
type Store interface {
	Reservations

	// InsertRequest adds a request with Revision 1, and its first entries. CodeConflict: its id is taken by any organization, or its order
	// (Gateway, Ref) is another request's, of any organization; an empty Ref is no order. ErrNumberActive: one of its numbers is in a
	// request that has not ended, of any organization. Of concurrent calls that share numbers, in whatever order they list them, exactly
	// one succeeds. If the request that had a number before was ended by another transaction, the caller's next statements see all that
	// this transaction has changed. A request that has ended already takes no numbers. A call that fails adds nothing, and a transaction
	// goes on after it.
	InsertRequest(ctx context.Context, r Request, entries ...Entry) error
	// Request returns one request. CodeNotFound: it is absent.
	Request(ctx context.Context, org callwright.OrgID, id string) (Request, error)
	// UpdateRequest replaces a request whose stored Revision is r.Revision, adds one to that, and appends entries to its history.
	// r has the phone numbers and the CreatedAt that the request was inserted with. CodeConflict: the Revision differs, or its order is
	// another request's; of concurrent calls with the same Revision exactly one succeeds. CodeNotFound: it is absent.
	// CodeInvalidState: it has ended, and r has not. A request that has ended may still change. The numbers of a request that ends, and an
	// order that it has no longer, are free for others. A call that fails changes nothing, and appends no entries.
	UpdateRequest(ctx context.Context, r Request, entries ...Entry) error
	// Requests returns the requests that f chooses, in descending order of (CreatedAt, ID).
	Requests(ctx context.Context, org callwright.OrgID, f Filter) ([]Request, error)
	// WaitingRequests returns the requests of an organization that wait for their signature or have a HeldSince, in ascending order of
	// (CreatedAt, ID), at most limit.
	WaitingRequests(ctx context.Context, org callwright.OrgID, limit int) ([]Request, error)
	// History returns the entries of a request in their order; that of an absent request is empty.
	History(ctx context.Context, org callwright.OrgID, id string) ([]Entry, error)
	// CountOpen returns how many requests of an organization have not ended.
	CountOpen(ctx context.Context, org callwright.OrgID) (int, error)
	// ActiveNumbers returns those of the numbers that are in requests that have not ended, of any organization, in any order.
	ActiveNumbers(ctx context.Context, numbers []callwright.PhoneNumber) ([]callwright.PhoneNumber, error)
	// OpenRequest names the request of any organization with a number that has not ended; operators alone may see it. CodeNotFound:
	// there is none.
	OpenRequest(ctx context.Context, number callwright.PhoneNumber) (Name, error)
	// RequestByRef returns the request of any organization with an order of a gateway. CodeNotFound: there is none, or ref is empty.
	RequestByRef(ctx context.Context, gateway, ref string) (Request, error)
	// DueRequests names requests of all organizations whose DueAt is set and not after a time, the longest due first, at most
	// limit.
	DueRequests(ctx context.Context, now time.Time, limit int) ([]Name, error)
}

// Name names a request.
type Name struct {
	Org callwright.OrgID
	ID  string
}

// Filter chooses a page of requests; the zero Filter chooses all. All conditions must hold.
type Filter struct {
	States []State           // any of these, which may repeat; empty: any
	After  callwright.Keyset // (CreatedAt, ID) of the last request of the page before
	Limit  int               // at most; 0: none
}
