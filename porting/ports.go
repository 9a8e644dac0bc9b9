package porting

import (
	"context"
	"net/netip"
	"time"

	"github.com/callwright/callwright"
)

// Documents protects proofs of ownership from deletion; document.Service implements it.
type Documents interface {
	// UseDocuments marks documents as used by a request, which protects them from deletion. It returns the ids of documents that the
	// organization does not have. It is called in the transaction that inserts the request. A repeated call changes nothing.
	UseDocuments(ctx context.Context, org callwright.OrgID, request string, ids []string) (absent []string, err error)
}

// Letters sends letters of authorization and collects signatures; loa.Service implements it. The porting service calls every method in the
// transaction of the change that requires it, so an implementation sends mail as durable work. An implementation reports a signature by
// calling Service.Sign, a refusal by calling Service.Decline, and an undeliverable letter by calling Service.Undelivered.
type Letters interface {
	// SendLetter renders the letter of a request, and mails the authorized representative a link to it that is valid until r.SignBy. It
	// returns CodeBadRequest if the letter cannot display a text of the request.
	SendLetter(ctx context.Context, r Request) (Letter, error)
	// ResendLetter replaces the link to the letter, and mails the new link. It returns CodeTooManyRequests if the letter was resent too
	// often.
	ResendLetter(ctx context.Context, r Request) (Letter, error)
	// RevokeLetter invalidates the link to the letter, if one is still valid.
	RevokeLetter(ctx context.Context, org callwright.OrgID, request string) error
}

// Letter is a letter of authorization that waits for a signature.
type Letter struct {
	URL callwright.Secret // signing page, which lets its reader sign; empty if only the mail contains it
}

// InboundNumbers registers numbers for inbound calls; agents.Service implements it.
type InboundNumbers interface {
	// RegisterInbound registers a number, so that calls to it are answered. It does not change a number that the organization has already
	// registered. It returns CodeConflict if another organization has registered the number.
	RegisterInbound(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error
}

// Trunks attaches ported numbers to inbound trunks, and finds the numbers of other organizations; sip.Service implements it.
type Trunks interface {
	// AttachPorted attaches a number to a new inbound trunk that admits calls from the given addresses, unless the number already has an
	// inbound trunk. It reports whether the number now has an inbound trunk. It creates no trunk if no addresses are given or the
	// organization has reached its limit of numbers. It returns CodeConflict if another organization has attached the number. The service
	// may call it repeatedly for the same number.
	AttachPorted(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, from []netip.Prefix) (attached bool, err error)
	// ServedElsewhere returns the given numbers that another organization has attached to a trunk, inbound or outbound.
	ServedElsewhere(ctx context.Context, org callwright.OrgID, numbers []callwright.PhoneNumber) ([]callwright.PhoneNumber, error)
}

// Notifier sends history entries to the webhooks of requests.
type Notifier interface {
	// NotifyPort sends an entry of a request's history. The service may call it repeatedly for the same entry, always with the same id,
	// which serves as the idempotency key. r is the current request, which may be newer than the entry. NotifyPort returns CodeForbidden if
	// the webhook permanently refuses the message. After any other error the service retries.
	NotifyPort(ctx context.Context, id string, r Request, e Entry) error
}

// Failures receives failed requests, for example to open a triage issue.
type Failures interface {
	// PortFailed reports a failed request. The service retries after an error, and may call PortFailed repeatedly for the same request.
	PortFailed(ctx context.Context, r Request) error
}

// systemDay is the length of a day where time zones do not matter.
const systemDay = 24 * time.Hour
