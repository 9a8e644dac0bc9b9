package sipapi

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/sipoas"
)

// hidden replaces passwords in answers.
const hidden = "********"

// GetSipFirewallAddresses serves GET /v1/sip/firewall-ips. It returns the addresses and ports that firewalls must allow.
func (a *api) GetSipFirewallAddresses(ctx context.Context) (*oas.SipFirewallAddressesReply, error) {
	region, err := a.cfg.Setup.Firewall(ctx, httpapi.Org(ctx))
	if err != nil {
		return nil, err
	}
	return &oas.SipFirewallAddressesReply{Data: oas.SipFirewallAddresses{
		IPAddresses: append([]string{}, region.Addresses...),
		Ports: oas.SipFirewallPorts{
			Sip: fmt.Sprintf("%d TLS", region.Port), Rtp: fmt.Sprintf("%d-%d UDP", region.RTPLow, region.RTPHigh),
		},
	}}, nil
}

// GetSipOutboundSetup serves GET /v1/sip/outbound-setup. It returns the settings with which a telephone system sends calls to this server.
func (a *api) GetSipOutboundSetup(
	ctx context.Context, params oas.GetSipOutboundSetupParams,
) (*oas.SipOutboundSetupReply, error) {
	out, err := a.cfg.Setup.OutboundSetup(ctx, httpapi.Org(ctx), params.PhoneNumber.Value)
	if err != nil {
		return nil, err
	}
	answer := oas.SipOutboundSetup{SipServer: out.Host, Port: out.Port, Instructions: out.Instructions}
	if out.Username != "" {
		answer.Credentials.SetTo(oas.SipSetupCredentials{Username: out.Username, Password: hidden})
	}
	return &oas.SipOutboundSetupReply{Data: answer}, nil
}

// GetSipStatus serves GET /v1/sip/status. It returns the health of a number's trunks.
func (a *api) GetSipStatus(ctx context.Context, params oas.GetSipStatusParams) (*oas.SipStatusReply, error) {
	h, err := a.cfg.Trunks.Health(ctx, httpapi.Org(ctx), params.PhoneNumber)
	if err != nil {
		return nil, err
	}
	p95 := wire.Millis(h.P95)
	answer := oas.SipStatus{
		Status: oas.SipHealthStatus(h.State.Public()), ResponseTimeMs: wire.WholeMillis(h.ResponseTime), CheckedAt: wire.NilPtr(h.CheckedAt),
		UptimePercentage: oas.NilFloat64{Null: h.Uptime == nil}, AverageResponseTimeMs: wire.Millis(h.Average),
		P95ResponseTimeMs: oas.OptNilFloat64{Value: p95.Value, Set: true, Null: p95.Null},
		TLSVerification:   oas.OptSipStatusTLSVerification{Value: oas.SipStatusTLSVerification(h.Verify), Set: h.Verify != ""},
		Servers:           make([]oas.SipServerStatus, len(h.Servers)),
		Registration:      registration(h.Registration),
	}
	if h.Uptime != nil {
		answer.UptimePercentage.SetTo(*h.Uptime)
	}
	for i, s := range h.Servers {
		answer.Servers[i] = oas.SipServerStatus{
			Host: s.Server.Host, Port: wire.NilInt(int(s.Server.Port)), Status: oas.SipHealthStatus(s.State.Public()), Active: s.Active,
			ResponseTimeMs: wire.WholeMillis(s.ResponseTime), CheckedAt: wire.NilPtr(s.CheckedAt), Detail: wire.NilText(s.Reason),
		}
	}
	return &oas.SipStatusReply{Data: answer}, nil
}

func registration(r *sip.Registration) oas.OptNilSipRegistration {
	if r == nil {
		return oas.OptNilSipRegistration{Set: true, Null: true}
	}
	answer := oas.SipRegistration{
		Status: oas.SipRegistrationStatus(r.State), ExpiresAt: oas.NilDateTime{Null: r.ExpiresAt.IsZero()}, Detail: wire.NilText(r.Reason),
	}
	if !r.ExpiresAt.IsZero() {
		answer.ExpiresAt.SetTo(r.ExpiresAt)
	}
	return oas.NewOptNilSipRegistration(answer)
}
