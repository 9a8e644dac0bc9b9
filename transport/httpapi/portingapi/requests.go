package portingapi

import (
	"cmp"
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/portingoas"
)

// CheckPortability serves GET /v1/sip/port/check. It reports for each number whether it can be ported, and otherwise the reason.
func (a *api) CheckPortability(
	ctx context.Context, params oas.CheckPortabilityParams,
) (*oas.PortabilityResultListReply, error) {
	found, err := a.cfg.Ports.Check(ctx, httpapi.Org(ctx), params.PhoneNumbers)
	if err != nil {
		return nil, err
	}
	results := make([]oas.PortabilityResult, len(found))
	for i, p := range found {
		results[i] = oas.PortabilityResult{
			PhoneNumber: p.Number.String(), Portable: p.Portable, NumberType: oas.PortNumberType(p.Type), PinRequired: p.PINRequired,
			Source: oas.PortabilityResultSourceLocal,
		}
		if p.Confirmed {
			results[i].Source = oas.PortabilityResultSourceGateway
		}
		if p.Failure != "" {
			remedy := p.Failure.Remedy()
			results[i].NotPortableReason, results[i].NotPortableCode = wire.OptText(cmp.Or(p.Problem, remedy.Text)), wire.OptText(string(remedy.Code))
		}
	}
	return &oas.PortabilityResultListReply{Data: oas.PortabilityResultList{Results: results}}, nil
}

// InitiatePort serves POST /v1/sip/port/initiate. It starts a port request.
func (a *api) InitiatePort(
	ctx context.Context, req *oas.PortRequestCreate, _ oas.InitiatePortParams,
) (*oas.PortInitiationReply, error) {
	d, err := draftOf(req, func(text string) string {
		if n, err := a.cfg.Ports.Number(ctx, httpapi.Org(ctx), text); err == nil {
			return n.String()
		}
		return text // Initiate refuses the number
	})
	if err != nil {
		return nil, err
	}
	r, l, err := a.cfg.Ports.Initiate(ctx, httpapi.Org(ctx), d)
	httpapi.LogID(ctx, "port_request_id", r.ID)
	return initiationReply(r, l, err)
}

// ResendPortLetter serves POST /v1/sip/port/{id}/letter/resend. It mails a new link to a request's letter.
func (a *api) ResendPortLetter(ctx context.Context, params oas.ResendPortLetterParams) (*oas.PortInitiationReply, error) {
	return initiationReply(a.cfg.Ports.Resend(ctx, httpapi.Org(ctx), params.ID))
}

// initiationReply returns the answer with a letter that waits for its signature, or err. The link is null if it is sent only by mail.
func initiationReply(r porting.Request, l porting.Letter, err error) (*oas.PortInitiationReply, error) {
	if err != nil {
		return nil, err
	}
	link := oas.NewNilString(l.URL.Reveal())
	if l.URL == "" {
		link.SetToNull()
	}
	return &oas.PortInitiationReply{Data: oas.PortInitiation{
		PortRequestID: r.ID, Status: oas.PortStatus(r.State), SignatureURL: link, PhoneNumbers: numbersOf(r),
	}}, nil
}

func numbersOf(r porting.Request) []string {
	numbers := make([]string, len(r.Numbers))
	for i, n := range r.Numbers {
		numbers[i] = n.Number.String()
	}
	return numbers
}

// ListPortRequests serves GET /v1/sip/port. It returns a page of port requests without their histories.
func (a *api) ListPortRequests(ctx context.Context, params oas.ListPortRequestsParams) (*oas.PortRequestListReply, error) {
	after, err := callwright.ParseCursor(params.Cursor.Or(""))
	if err != nil {
		return nil, err
	}
	page, err := a.cfg.Ports.List(ctx, httpapi.Org(ctx), porting.Filter{
		States: wire.Texts[porting.State](params.Status), After: after, Limit: params.Limit.Or(0),
	})
	if err != nil {
		return nil, err
	}
	answer := oas.PortRequestList{PortRequests: make([]oas.PortRequest, len(page.Items)), NextCursor: wire.NilText(page.Next.Cursor())}
	for i, r := range page.Items {
		answer.PortRequests[i] = requestRecord(r)
	}
	return &oas.PortRequestListReply{Data: answer}, nil
}

// GetPortRequest serves GET /v1/sip/port/{id}. It returns a port request with its history.
func (a *api) GetPortRequest(ctx context.Context, params oas.GetPortRequestParams) (*oas.PortRequestReply, error) {
	r, err := a.cfg.Ports.Get(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	history, err := a.cfg.Ports.History(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	record := requestRecord(r)
	record.History = historyOf(history)
	return &oas.PortRequestReply{Data: oas.PortRequestItem{PortRequest: record}}, nil
}

// CancelPortRequest serves DELETE /v1/sip/port/{id}. It cancels a port request immediately, or asks the carrier to cancel it and answers
// that this is pending.
func (a *api) CancelPortRequest(
	ctx context.Context, params oas.CancelPortRequestParams,
) (oas.CancelPortRequestRes, error) {
	r, err := a.cfg.Ports.Cancel(ctx, httpapi.Org(ctx), params.ID)
	switch {
	case err != nil:
		return nil, err
	case r.State == porting.Canceled:
		return &oas.PortCancellationReply{Data: oas.PortCancellation{Canceled: true}}, nil
	}
	return &oas.PortCancellationPendingReply{Data: oas.PortCancellationPending{CancelRequestedAt: r.CancelAskedAt}}, nil
}
