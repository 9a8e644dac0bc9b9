package sipapi

import (
	"context"

	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/sipoas"
)

// StartSipNumberProof serves POST /v1/sip/numbers/proof. It starts a proof of a number by a call that announces a code.
func (a *api) StartSipNumberProof(ctx context.Context, req *oas.SipNumberProofStart) (*oas.SipNumberProofReply, error) {
	return proven(ctx)(a.cfg.Proofs.Request(ctx, httpapi.Org(ctx), req.PhoneNumber))
}

// GetSipNumberProof serves GET /v1/sip/numbers/proof. It returns the newest proof of a number.
func (a *api) GetSipNumberProof(ctx context.Context, params oas.GetSipNumberProofParams) (*oas.SipNumberProofReply, error) {
	return proven(ctx)(a.cfg.Proofs.Get(ctx, httpapi.Org(ctx), params.PhoneNumber))
}

// VerifySipNumberProof serves POST /v1/sip/numbers/proof/verify. It checks the announced code.
func (a *api) VerifySipNumberProof(ctx context.Context, req *oas.SipNumberProofCode) (*oas.SipNumberProofReply, error) {
	return proven(ctx)(a.cfg.Proofs.Verify(ctx, httpapi.Org(ctx), req.PhoneNumber, req.Code))
}

// proven returns a function that converts a proof, or an error, to an answer.
func proven(ctx context.Context) func(p proof.Proof, err error) (*oas.SipNumberProofReply, error) {
	return func(p proof.Proof, err error) (*oas.SipNumberProofReply, error) {
		if err != nil {
			return nil, err
		}
		httpapi.LogID(ctx, "phone_number", p.Number.String())
		return &oas.SipNumberProofReply{Data: oas.SipNumberProof{
			PhoneNumber: p.Number.String(), Status: oas.SipNumberProofStatus(p.State), Reason: wire.NilText(p.Reason), ExpiresAt: p.ExpiresAt,
		}}, nil
	}
}
