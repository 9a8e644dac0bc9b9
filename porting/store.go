package porting

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// ErrNumberActive is the error of a request with a number in another open request, of any organization. It does not name the owner.
var ErrNumberActive = &callwright.Error{
	Code: callwright.CodeConflict, Field: "phone_numbers", Message: "a number is in another port request that has not ended",
}

// Store stores requests with their histories, and reservations. portingtest.RunStore tests it.
//
// Returned values share no memory with stored ones. They equal the stored values: times are in UTC with microseconds, a nil list
// stays nil, and the raw words of failures and the notes of entries may contain any characters, including U+0000. Another
// organization's request is absent. Accounts, PINs and webhooks are encrypted at rest, and so are the raw words of failures and the
// notes of entries. Methods take part in the transaction of ctx: see callwright.Atomic. loatest.RunRaces tests this together with a
// loa.Store.
type Store interface {
	Reservations

	// InsertRequest adds a request with Revision 1, and its first entries. CodeConflict: any organization's request has the same id
	// or the same order (Gateway, Ref); an empty Ref means no order. ErrNumberActive: one of its numbers is in an open request of
	// any organization. Of concurrent calls that share numbers, listed in any order, exactly one succeeds. If another transaction
	// has ended the request that held a number before, the caller's next statements see all changes of that transaction. A request
	// that has already ended claims no numbers. A call that fails adds nothing, and the transaction can continue.
	InsertRequest(ctx context.Context, r Request, entries ...Entry) error
	// Request returns one request. CodeNotFound: it is absent.
	Request(ctx context.Context, org callwright.OrgID, id string) (Request, error)
	// UpdateRequest replaces a request whose stored Revision is r.Revision, adds one to it, and appends entries to its history. r
	// has the phone numbers and the CreatedAt of the insertion. CodeConflict: the Revision differs, or another request has its
	// order; of concurrent calls with the same Revision exactly one succeeds. CodeNotFound: it is absent. CodeInvalidState: it has
	// ended, and r has not. A request that has ended may still change. When a request ends, its numbers are free for other
	// requests; so is an order that it no longer names. A call that fails changes nothing, and appends no entries.
	UpdateRequest(ctx context.Context, r Request, entries ...Entry) error
	// Requests returns the requests that f chooses, in descending order of (CreatedAt, ID).
	Requests(ctx context.Context, org callwright.OrgID, f Filter) ([]Request, error)
	// WaitingRequests returns the requests of an organization that wait for their signature or have a HeldSince, in ascending order of
	// (CreatedAt, ID), at most limit.
	WaitingRequests(ctx context.Context, org callwright.OrgID, limit int) ([]Request, error)
	// History returns the entries of a request in order; an absent request has none.
	History(ctx context.Context, org callwright.OrgID, id string) ([]Entry, error)
	// CountOpen returns the number of an organization's open requests.
	CountOpen(ctx context.Context, org callwright.OrgID) (int, error)
	// ActiveNumbers returns the given numbers that are in open requests of any organization, in any order.
	ActiveNumbers(ctx context.Context, numbers []callwright.PhoneNumber) ([]callwright.PhoneNumber, error)
	// OpenRequest returns the name of the open request with a number, of any organization; only operators may see it. CodeNotFound:
	// none has it.
	OpenRequest(ctx context.Context, number callwright.PhoneNumber) (Name, error)
	// RequestByRef returns the request of any organization with an order of a gateway. CodeNotFound: no request has it, or ref is
	// empty.
	RequestByRef(ctx context.Context, gateway, ref string) (Request, error)
	// DueRequests returns the names of requests of all organizations whose DueAt is set and not after now, by DueAt, at most limit.
	DueRequests(ctx context.Context, now time.Time, limit int) ([]Name, error)
}

// Name names a request.
type Name struct {
	Org callwright.OrgID
	ID  string
}

// Filter chooses a page of requests; the zero Filter chooses all. All conditions must hold.
type Filter struct {
	States []State           // any of these; repetitions are allowed; empty: any
	After  callwright.Keyset // (CreatedAt, ID) of the last request of the previous page
	Limit  int               // at most; 0: none
}
