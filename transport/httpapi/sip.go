package httpapi

import (
	"cmp"
	"context"
	"net/netip"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/uri"
	"github.com/callwright/callwright/transport/oas"
)

// GetSipConfiguration is the trunks of a number.
func (a *api) GetSipConfiguration(
	ctx context.Context, params oas.GetSipConfigurationParams,
) (*oas.GetSipConfigurationResponse, error) {
	record, err := a.SIP.Get(ctx, orgOf(ctx), params.PhoneNumber)
	if err != nil {
		return nil, err
	}
	return &oas.GetSipConfigurationResponse{
		Data: oas.SipConfigurationPair{Inbound: trunkOrNull(record.Inbound), Outbound: trunkOrNull(record.Outbound)},
	}, nil
}

// AttachSipNumbers attaches numbers to a trunk.
func (a *api) AttachSipNumbers(
	ctx context.Context, req *oas.AttachSipNumbersRequest, _ oas.AttachSipNumbersParams,
) (*oas.AttachSipNumbersResponse, error) {
	attachment, err := attachmentOf(req)
	if err != nil {
		return nil, err
	}
	done, err := a.SIP.Attach(ctx, orgOf(ctx), attachment)
	if err != nil {
		return nil, err
	}
	result := oas.SipAttachResult{
		Configured: make([]string, len(done.Configured)), Failed: make([]oas.SipAttachFailure, len(done.Failed)),
	}
	for i, number := range done.Configured {
		result.Configured[i] = number.String()
	}
	for i, failed := range done.Failed {
		f := failureOf(failed.Err)
		result.Failed[i] = oas.SipAttachFailure{
			PhoneNumber: failed.Number, Error: string(f.code), Message: f.lines[0].text,
		}
	}
	return &oas.AttachSipNumbersResponse{Data: result}, nil
}

// attachmentOf is the body of AttachSipNumbers in the domain's words.
func attachmentOf(req *oas.AttachSipNumbersRequest) (sip.Attachment, error) {
	if req.PhoneNumber.Set == (req.PhoneNumbers != nil) {
		return sip.Attachment{}, callwright.Invalid("phone_numbers", "exactly one of phone_number and phone_numbers is required")
	}
	a := sip.Attachment{Numbers: req.PhoneNumbers}
	if number, ok := req.PhoneNumber.Get(); ok {
		a.Numbers = []string{number}
	}
	for i, d := range req.Directions {
		direction, err := directionOf(d)
		if err != nil {
			return sip.Attachment{}, below("directions["+strconv.Itoa(i)+"]", err)
		}
		a.Directions = append(a.Directions, direction)
	}
	return a, nil
}

// below puts the field of an error under a path.
func below(path string, err *callwright.Error) error {
	placed := *err
	placed.Field = join(path, err.Field)
	return &placed
}

// directionOf is one direction in the domain's words. auth_mode may stand in the direction or among its options.
func directionOf(d oas.SipDirectionInput) (sip.DirectionInput, *callwright.Error) {
	o := d.Options.Value
	direction := sip.DirectionInput{Type: sip.Direction(d.Type), Endpoint: optional(d.SipEndpoint.Get())}
	switch {
	case d.Headers.Set && !d.Headers.Null:
		return direction, notBuilt("headers")
	case d.RegisterAuth.Set:
		return direction, notBuilt("register_auth")
	case o.RegisterAuth.Set:
		return direction, notBuilt("options.register_auth")
	case d.AuthMode.Set && o.AuthMode.Set && d.AuthMode.Value != o.AuthMode.Value:
		return direction, callwright.Invalid("options.auth_mode", "differs from auth_mode")
	}
	allowed, err := prefixesOf(o.AllowedIps)
	direction.AuthMode = optional(sip.AuthMode(d.AuthMode.Or(o.AuthMode.Value)), d.AuthMode.Set || o.AuthMode.Set)
	direction.CallUsername = optional(o.SipUsername.Get())
	direction.CallPassword = optional(callwright.Secret(o.SipPassword.Value), o.SipPassword.Set)
	direction.Port, direction.SecureMedia = optional(o.Port.Get()), optional(o.SecureMedia.Get())
	direction.Transport = optional(string(o.Transport.Value), o.Transport.Set)
	direction.Verify = optional(sip.TLSVerification(o.TLSVerification.Value), o.TLSVerification.Set)
	direction.AllowedIPs = optional(allowed, o.AllowedIps != nil)
	return direction, err
}

// prefixesOf reads addresses and networks; an address is a network of one.
func prefixesOf(texts []string) ([]netip.Prefix, *callwright.Error) {
	var prefixes []netip.Prefix
	for i, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			address, err := netip.ParseAddr(text)
			if err != nil || address.Zone() != "" {
				return nil, callwright.Invalid("options.allowed_ips["+strconv.Itoa(i)+"]", "is neither an address nor a network")
			}
			address = address.Unmap()
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes, nil
}

// ParseSipDestination reads what a person may write for an endpoint. What can't be read is an answer, too.
func (*api) ParseSipDestination(
	_ context.Context, req *oas.ParseSipDestinationRequest,
) (*oas.ParseSipDestinationResponse, error) {
	answer := &oas.ParseSipDestinationResponse{}
	answer.Data.Parsed.SetToNull()
	to, err := uri.ParseDestination(req.Input)
	if err != nil {
		return answer, nil //nolint:nilerr // the answer says that the input is not valid
	}
	answer.Data.Valid = true
	answer.Data.Parsed.SetTo(oas.SipDestination{
		Host: to.Host, Normalized: to.Normalized, IsPrivateIP: to.IsPrivateIP,
		Port:      oas.OptNilInt{Value: int(to.Port), Set: true, Null: to.Port == 0},
		User:      oas.OptNilString{Value: to.User, Set: true, Null: to.User == ""},
		Transport: oas.OptNilSipDestinationTransport{Value: oas.SipDestinationTransport(to.Transport), Set: true, Null: to.Transport == ""},
	})
	return answer, nil
}

func trunkOrNull(t *sip.Trunk) oas.NilSipConfiguration {
	if t == nil {
		return oas.NilSipConfiguration{Null: true}
	}
	return oas.NewNilSipConfiguration(trunk(*t))
}

// trunk is a trunk without its secrets, its options as they are in force: signaling is TLS and media SRTP always.
func trunk(t sip.Trunk) oas.SipConfiguration {
	c := oas.SipConfiguration{
		Number: t.Number.String(), ID: t.ID, OrgID: string(t.Org), Direction: oas.SipDirection(t.Direction),
		SipEndpoint: nilText(t.Endpoint), CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
		Headers: oas.NilSipHeaderMapping{Null: true},
	}
	o := &c.Options
	switch t.Direction {
	case sip.Inbound:
		o.AuthMode.SetTo(oas.SipAuthMode(cmp.Or(t.Options.AuthMode, sip.AuthIP)))
	case sip.Outbound:
		o.Transport.SetTo(oas.SipTransportTLS)
		o.SecureMedia.SetTo(true)
		o.TLSVerification.SetTo(oas.SipOptionsTLSVerification(cmp.Or(t.Options.Verify, sip.VerifyFull)))
		to, _ := uri.ParseDestination(t.Endpoint) // checked when it was attached
		if port := cmp.Or(t.Options.Port, int(to.Port)); port != 0 {
			o.Port.SetTo(port)
		}
	}
	for _, p := range t.Options.AllowedIPs {
		text := p.String()
		if p.IsSingleIP() {
			text = p.Addr().String()
		}
		o.AllowedIps = append(o.AllowedIps, text)
	}
	return c
}
