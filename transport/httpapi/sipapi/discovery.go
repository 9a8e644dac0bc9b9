package sipapi

import (
	"context"

	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/uri"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/sipoas"
)

// StartSipDiscovery serves POST /v1/sip/discover. It starts to probe a host for SIP servers.
func (a *api) StartSipDiscovery(
	ctx context.Context, req *oas.SipDiscoveryStart,
) (*oas.SipDiscoveryReply, error) {
	d, err := a.cfg.Discoveries.Start(ctx, httpapi.Org(ctx), discovery.Request{
		Host: req.Host, Port: uint16(req.Port.Value), Transport: uri.Transport(req.Transport.Value),
	})
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "discovery_id", d.ID)
	return &oas.SipDiscoveryReply{Data: sipDiscovery(d)}, nil
}

// GetSipDiscovery serves GET /v1/sip/discover/status. It returns the current state of a discovery.
func (a *api) GetSipDiscovery(
	ctx context.Context, params oas.GetSipDiscoveryParams,
) (*oas.SipDiscoveryReply, error) {
	d, err := a.cfg.Discoveries.Get(ctx, httpapi.Org(ctx), params.DiscoveryID)
	if err != nil {
		return nil, err
	}
	return &oas.SipDiscoveryReply{Data: sipDiscovery(d)}, nil
}

func sipDiscovery(d discovery.Discovery) oas.SipDiscovery {
	answer := oas.SipDiscovery{
		DiscoveryID: d.ID, Status: oas.SipDiscoveryStatus(d.Status), Host: d.Host,
		ResolvedAddresses: make([]string, len(d.Addresses)), SrvRecords: make([]oas.SipSrvRecord, len(d.SRV)),
		Attempts: make([]oas.SipDiscoveryAttempt, len(d.Attempts)), Recommended: recommendation(d.Recommended),
		Error: wire.OptNilText(d.Reason), StartedAt: d.StartedAt, CompletedAt: wire.NilPtr(d.CompletedAt),
	}
	for i, address := range d.Addresses {
		answer.ResolvedAddresses[i] = address.String()
	}
	for i, r := range d.SRV {
		answer.SrvRecords[i] = oas.SipSrvRecord{
			Service: r.Service, Target: r.Target, Port: int(r.Port), Priority: int(r.Priority), Weight: int(r.Weight),
		}
	}
	for i, t := range d.Attempts {
		answer.Attempts[i] = discoveryAttempt(t)
	}
	return answer
}

func discoveryAttempt(t discovery.Attempt) oas.SipDiscoveryAttempt {
	attempt := oas.SipDiscoveryAttempt{
		Port: int(t.Address.Port()), Transport: oas.SipTransport(t.Transport),
		ResponseTimeMs: wire.WholeMillis(wire.Ptr(t.ResponseTime, t.ResponseTime > 0)), ResponseCode: wire.NilInt(t.Code),
		UserAgent: wire.NilText(t.UserAgent), Error: wire.OptNilText(t.Error),
		Address: oas.OptString{Value: t.Address.Addr().String(), Set: !t.Address.Addr().IsUnspecified()},
		TLS:     oas.OptNilSipCertificateFacts{Set: true, Null: t.TLS == nil},
	}
	if t.TLS != nil {
		attempt.TLS.SetTo(oas.SipCertificateFacts{
			Version: t.TLS.Version, Trusted: t.TLS.Chain, NameMatches: t.TLS.Name, ExpiresAt: t.TLS.ExpiresAt,
		})
	}
	return attempt
}

func recommendation(r *discovery.Recommendation) oas.NilSipRecommendation {
	if r == nil {
		return oas.NilSipRecommendation{Null: true}
	}
	return oas.NewNilSipRecommendation(oas.SipRecommendation{
		Port: int(r.Port), Transport: oas.SipTransport(r.Transport), UserAgent: wire.OptNilText(r.UserAgent),
		DetectedSystem: wire.NilText(r.System.System), Codecs: append([]string{}, r.Codecs...), Methods: append([]string{}, r.Methods...),
		Confidence: oas.NewOptFloat64(r.System.Confidence), Evidence: append([]string{}, r.System.Evidence...),
		Note: wire.OptNilText(r.System.Note),
	})
}
