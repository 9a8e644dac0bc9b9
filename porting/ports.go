package porting

import (
	"context"
	"net/netip"
	"time"

	"github.com/callwright/callwright"
)

// Documents keeps proofs of ownership.
type Documents interface {
	// UseDocuments marks documents as used by a request, so that they are kept, and returns those ids that are not documents of
	// the organization. It is called in the transaction that inserts the request; marking again changes nothing.
	UseDocuments(ctx context.Context, org callwright.OrgID, request string, ids []string) (absent []string, err error)
}

// Letters has letters of authorization signed; loa.Service implements it. All methods are called in the transaction of the change that
// needs them; what they send is durable work of their own. A signature comes back by Service.Sign, a refusal by Service.Decline, a letter
// that cannot be delivered by Service.Undelivered.
type Letters interface {
	// SendLetter makes the letter of a request and has its link mailed to the authorized representative, until r.SignBy.
	// CodeBadRequest: the letter cannot show a text of the request.
	SendLetter(ctx context.Context, r Request) (Letter, error)
	// ResendLetter ends the link and has another one to the same letter mailed. CodeTooManyRequests: that was done often enough.
	ResendLetter(ctx context.Context, r Request) (Letter, error)
	// RevokeLetter ends the link. There may be none any more.
	RevokeLetter(ctx context.Context, org callwright.OrgID, request string) error
}

// Letter is a letter that waits for its signature.
type Letter struct {
	URL callwright.Secret // of the page on which it is signed: whoever has it can sign; empty: only the mail has it
}

// InboundNumbers registers numbers whose calls come in; agents.Service implements it.
type InboundNumbers interface {
	// RegisterInbound has calls to a number answered. A number that the organization has registered already stays as it is.
	// CodeConflict: another organization has registered it.
	RegisterInbound(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error
}

// Trunks attaches ported numbers, and knows which numbers are attached; sip.Service implements it.
type Trunks interface {
	// AttachPorted gives a number of an organization an inbound trunk that admits calls from some addresses, unless it has an inbound
	// trunk already. It reports whether the number has one now; without addresses, and beyond the organization's limit of numbers, it
	// attaches none. CodeConflict: another organization has attached the number. It may be called again for the same number.
	AttachPorted(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, from []netip.Prefix) (attached bool, err error)
	// ServedElsewhere returns those of some numbers that another organization has attached, in any direction.
	ServedElsewhere(ctx context.Context, org callwright.OrgID, numbers []callwright.PhoneNumber) ([]callwright.PhoneNumber, error)
}

// Notifier tells programs what has happened to a request that has a Webhook.
type Notifier interface {
	// NotifyPort tells of an entry of a request's history. It may be called again for the same entry: id is its idempotency key,
	// the same each time. r is the request as it is now, which may be later than the entry. CodeForbidden: the webhook refuses the
	// message for good. Any other error asks for a retry.
	NotifyPort(ctx context.Context, id string, r Request, e Entry) error
}

// Failures learns of requests that have failed, such as to open an issue.
type Failures interface {
	// PortFailed may be called again for the same request. An error asks for a retry.
	PortFailed(ctx context.Context, r Request) error
}

// systemDay is the length of a calendar day where time zones do not matter.
const systemDay = 24 * time.Hour
