package porting

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// ErrNumberActive is the error for a request with a number that is in another open request, of any organization. The error does not name
// the owner.
var ErrNumberActive = &callwright.Error{
	Code: callwright.CodeConflict, Field: "phone_numbers", Message: "a number is in another port request that has not ended: wait until it ends, or cancel it",
}

// Store stores requests with their histories, and reservations. portingtest.RunStore tests an implementation.
//
// Returned values share no memory with stored values and equal them: times are in UTC with microseconds, a nil list stays nil, and the raw
// messages of failures and the notes of entries may contain any characters, including U+0000. Methods treat another organization's request
// as absent. Accounts, PINs, webhooks, raw messages and notes are encrypted at rest. Methods take part in the transaction of ctx: see
// callwright.Atomic. loatest.RunRaces tests this together with a loa.Store.
type Store interface {
	Reservations

	// InsertRequest adds a request with Revision 1, and its first entries. It returns CodeConflict if a request of any organization has the
	// same id or the same order (Gateway, Ref); an empty Ref means no order. It returns ErrNumberActive if one of the numbers is in an open
	// request of any organization.
	//
	// Of concurrent calls that share numbers, in any order, exactly one succeeds. If another transaction has ended the request that
	// contained a number before, the caller's next statements see all changes of that transaction. A request that has already ended claims
	// no numbers. A call that fails adds nothing, and the transaction can continue.
	InsertRequest(ctx context.Context, r Request, entries ...Entry) error
	// Request returns a request. It returns CodeNotFound if the organization has no such request.
	Request(ctx context.Context, org callwright.OrgID, id string) (Request, error)
	// UpdateRequest replaces a request whose stored Revision is r.Revision, increments the Revision, and appends entries to the history. r
	// must contain the phone numbers and the CreatedAt of the insertion. UpdateRequest returns CodeConflict if the Revision differs or
	// another request has the same order, CodeNotFound if the request is absent, and CodeInvalidState if the stored request has ended and r
	// has not.
	//
	// Of concurrent calls with the same Revision exactly one succeeds. A request that has ended may still change. When a request ends,
	// other requests may use its numbers; they may also use an order that a request no longer names. A call that fails changes nothing, and
	// appends no entries.
	UpdateRequest(ctx context.Context, r Request, entries ...Entry) error
	// Requests returns the requests that match f, in descending order of (CreatedAt, ID).
	Requests(ctx context.Context, org callwright.OrgID, f Filter) ([]Request, error)
	// WaitingRequests returns at most limit requests of an organization that wait for a signature or have a HeldSince, in ascending order
	// of (CreatedAt, ID).
	WaitingRequests(ctx context.Context, org callwright.OrgID, limit int) ([]Request, error)
	// History returns the entries of a request in order, or an empty list if the request is absent.
	History(ctx context.Context, org callwright.OrgID, id string) ([]Entry, error)
	// CountOpen returns the number of an organization's open requests.
	CountOpen(ctx context.Context, org callwright.OrgID) (int, error)
	// ActiveNumbers returns the given numbers that are in open requests of any organization, in any order.
	ActiveNumbers(ctx context.Context, numbers []callwright.PhoneNumber) ([]callwright.PhoneNumber, error)
	// OpenRequest returns the name of the open request that contains a number, of any organization. Callers must show it only to operators.
	// It returns CodeNotFound if no open request contains the number.
	OpenRequest(ctx context.Context, number callwright.PhoneNumber) (Name, error)
	// RequestByRef returns the request whose order has the id ref at the gateway. The request may belong to any organization. RequestByRef
	// returns CodeNotFound if no request has the order or ref is empty.
	RequestByRef(ctx context.Context, gateway, ref string) (Request, error)
	// DueRequests returns the names of at most limit requests of all organizations whose DueAt is set and not after now, in ascending order
	// of DueAt.
	DueRequests(ctx context.Context, now time.Time, limit int) ([]Name, error)
}

// Name identifies a request across organizations.
type Name struct {
	Org callwright.OrgID
	ID  string
}

// Filter selects a page of requests that match all of its conditions. Empty States and a zero After match all requests.
type Filter struct {
	States []State           // matches any of these; may contain duplicates; empty matches all
	After  callwright.Keyset // (CreatedAt, ID) of the last request of the previous page
	Limit  int               // maximum number of results; 0 returns none
}
