package porting

import (
	"context"
	"net/netip"
	"time"

	"github.com/callwright/callwright"
)

// Documents stores proofs of ownership.
type Documents interface {
	// UseDocuments marks documents as used by a request, which protects them from deletion, and returns the ids that are not
	// documents of the organization. It is called in the transaction that inserts the request. A repeated call changes nothing.
	UseDocuments(ctx context.Context, org callwright.OrgID, request string, ids []string) (absent []string, err error)
}

// Letters sends letters of authorization and collects signatures; loa.Service implements it. All methods are called in the
// transaction of the change that needs them, and send mail as durable work. They report a signature by Service.Sign, a refusal by
// Service.Decline, and an undeliverable letter by Service.Undelivered.
type Letters interface {
	// SendLetter renders the letter of a request, and mails its link, valid until r.SignBy, to the authorized representative.
	// CodeBadRequest: the letter cannot show a text of the request.
	SendLetter(ctx context.Context, r Request) (Letter, error)
	// ResendLetter replaces the link, and mails the new one to the same letter. CodeTooManyRequests: it was resent too often.
	ResendLetter(ctx context.Context, r Request) (Letter, error)
	// RevokeLetter ends the link, if one is left.
	RevokeLetter(ctx context.Context, org callwright.OrgID, request string) error
}

// Letter is a letter that waits for its signature.
type Letter struct {
	URL callwright.Secret // of the signing page: it authorizes to sign; empty: only the mail contains it
}

// InboundNumbers registers numbers of inbound calls; agents.Service implements it.
type InboundNumbers interface {
	// RegisterInbound lets calls to a number be answered. A number that the organization has already registered stays unchanged.
	// CodeConflict: another organization has registered it.
	RegisterInbound(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error
}

// Trunks attaches ported numbers, and reports attached numbers; sip.Service implements it.
type Trunks interface {
	// AttachPorted gives a number of an organization an inbound trunk that admits calls from the given addresses, unless it already
	// has an inbound trunk. It reports whether the number now has one; without addresses, and beyond the organization's limit of
	// numbers, it attaches none. CodeConflict: another organization has attached the number. A call may be repeated for the same
	// number.
	AttachPorted(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, from []netip.Prefix) (attached bool, err error)
	// ServedElsewhere returns the given numbers that another organization has attached, in any direction.
	ServedElsewhere(ctx context.Context, org callwright.OrgID, numbers []callwright.PhoneNumber) ([]callwright.PhoneNumber, error)
}

// Notifier sends history entries to the Webhooks of requests.
type Notifier interface {
	// NotifyPort sends an entry of a request's history. A call may be repeated for the same entry: id is its idempotency key, the
	// same each time. r is the current request, which may be later than the entry. CodeForbidden: the webhook refuses the message
	// permanently. After any other error the caller retries.
	NotifyPort(ctx context.Context, id string, r Request, e Entry) error
}

// Failures receives failed requests, for example to open an issue.
type Failures interface {
	// PortFailed may be called again for the same request. After an error the caller retries.
	PortFailed(ctx context.Context, r Request) error
}

// systemDay is the length of a calendar day if time zones do not matter.
const systemDay = 24 * time.Hour
