package sipapi

import (
	"cmp"
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/header"
	"github.com/callwright/callwright/sip/uri"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/sipoas"
)

// directionOf translates a direction. auth_mode and register_auth may be members of the direction or of its options.
func directionOf(d oas.SipDirectionInput) (sip.DirectionInput, *callwright.Error) {
	o := d.Options.Value
	input := sip.DirectionInput{
		Type: sip.Direction(d.Type), Endpoint: wire.Ptr(d.SipEndpoint.Get()),
		AuthMode:     wire.Ptr(sip.AuthMode(d.AuthMode.Or(o.AuthMode.Value)), d.AuthMode.Set || o.AuthMode.Set),
		CallUsername: wire.Ptr(o.SipUsername.Get()),
		CallPassword: wire.Ptr(callwright.Secret(o.SipPassword.Value), o.SipPassword.Set),
		Port:         wire.Ptr(o.Port.Get()), Transport: wire.Ptr(string(o.Transport.Value), o.Transport.Set),
		Verify:      wire.Ptr(sip.TLSVerification(o.TLSVerification.Value), o.TLSVerification.Set),
		SecureMedia: wire.Ptr(o.SecureMedia.Get()),
		Transfers:   wire.Ptr(sip.TransferPolicy(o.TransferPolicy.Value), o.TransferPolicy.Set),
		DTMF:        wire.Ptr(sip.DTMFMode(o.DtmfMode.Value), o.DtmfMode.Set),
		Redirects:   wire.Ptr(sip.RedirectPolicy(o.RedirectPolicy.Value), o.RedirectPolicy.Set),
	}
	switch {
	case d.AuthMode.Set && o.AuthMode.Set && d.AuthMode.Value != o.AuthMode.Value:
		return input, callwright.Invalid("options.auth_mode", "must equal auth_mode")
	case d.RegisterAuth.Set && o.RegisterAuth.Set && d.RegisterAuth.Value != o.RegisterAuth.Value:
		return input, callwright.Invalid("options.register_auth", "must equal register_auth")
	}
	if d.RegisterAuth.Set || o.RegisterAuth.Set {
		given := d.RegisterAuth.Or(o.RegisterAuth.Value)
		input.Register = &sip.Credentials{Username: given.Username, Password: callwright.Secret(given.Password)}
	}
	if err := headersOf(d, &input); err != nil {
		return input, err
	}
	if o.AllowedIps == nil {
		return input, nil
	}
	prefixes, err := prefixesOf(o.AllowedIps)
	input.AllowedIPs = &prefixes
	return input, err
}

// asGiven corrects the field of an error about the direction at a path. If the body gives the member only within options, the corrected
// field names it there.
func asGiven(path string, d oas.SipDirectionInput, err error) error {
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok {
		return err
	}
	o := d.Options.Value
	member, within := strings.CutPrefix(e.Field, path+".")
	name, _, _ := strings.Cut(member, ".")
	switch {
	case within && name == "auth_mode" && o.AuthMode.Set && !d.AuthMode.Set,
		within && name == "register_auth" && o.RegisterAuth.Set && !d.RegisterAuth.Set:
		placed := *e
		placed.Field = path + ".options." + member
		return &placed
	}
	return err
}

// headersOf sets the header rules of input if the body gives them. Null deletes the existing rules.
func headersOf(d oas.SipDirectionInput, input *sip.DirectionInput) *callwright.Error {
	if !d.Headers.Set {
		return nil
	}
	mapping := d.Headers.Value
	if mapping.Direction.Set && mapping.Direction.Value != d.Type {
		return callwright.Invalid("headers.direction", "must equal type")
	}
	rules := make([]header.Rule, len(mapping.Headers))
	for i, r := range mapping.Headers {
		if custom, ok := r.GetSipCustomHeaderRule(); ok {
			rules[i].Custom = &header.Custom{Key: custom.Key, Value: custom.Value, Passthrough: custom.Passthrough.Value}
			continue
		}
		uui := r.SipUuiHeaderRule
		rules[i].UUI = &header.UUI{
			Target: uui.Target, Purpose: uui.Purpose.Value, Encoding: uui.Encoding.Value, Content: uui.Content.Value,
		}
	}
	input.Headers = &rules
	return nil
}

// prefixesOf parses IP addresses and networks. An address is a network of one address.
func prefixesOf(texts []string) ([]netip.Prefix, *callwright.Error) {
	var prefixes []netip.Prefix
	for i, text := range texts {
		prefix, err := callwright.ParseNetwork(text)
		if err != nil {
			return nil, callwright.Invalid("options.allowed_ips["+strconv.Itoa(i)+"]", "%s", callwright.MessageOf(err))
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, nil
}

func trunkOrNull(t *sip.Trunk) oas.NilSipConfiguration {
	if t == nil {
		return oas.NilSipConfiguration{Null: true}
	}
	return oas.NewNilSipConfiguration(trunk(*t))
}

// trunk translates a trunk without its secrets. Its options include the defaults in force: signaling always uses TLS, and media SRTP.
func trunk(t sip.Trunk) oas.SipConfiguration {
	c := oas.SipConfiguration{
		Number: t.Number.String(), ID: t.ID, OrgID: string(t.Org), Direction: oas.SipDirection(t.Direction),
		SipEndpoint: wire.NilText(t.Endpoint), CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, Headers: headersOrNull(t),
	}
	o := &c.Options
	switch t.Direction {
	case sip.Inbound:
		o.AuthMode.SetTo(oas.SipAuthMode(cmp.Or(t.Options.AuthMode, sip.AuthIP)))
		o.Admits.SetTo(oas.SipOptionsAdmits(t.Admission()))
	case sip.Outbound:
		o.Transport.SetTo(oas.SipTrunkTransportTLS)
		o.RedirectPolicy.SetTo(oas.SipOptionsRedirectPolicy(cmp.Or(t.Options.Redirects, sip.RedirectOff)))
		o.SecureMedia.SetTo(true)
		to, _ := uri.ParseDestination(t.Endpoint) // validated when it was attached
		if port := cmp.Or(int(to.Port), t.Options.Port); port != 0 {
			o.Port.SetTo(port)
		}
	}
	if t.Endpoint != "" { // this server connects to the endpoint
		o.TLSVerification.SetTo(oas.SipOptionsTLSVerification(cmp.Or(t.Options.Verify, sip.VerifyFull)))
	}
	o.TransferPolicy.SetTo(oas.SipOptionsTransferPolicy(cmp.Or(t.Options.Transfers, sip.TransferOrganization)))
	o.DtmfMode.SetTo(oas.SipOptionsDtmfMode(cmp.Or(t.Options.DTMF, sip.DTMFEvents)))
	o.SipCredentialsSet.SetTo(t.Options.Call.Username != "")
	for _, p := range t.Options.AllowedIPs {
		text := p.String()
		if p.IsSingleIP() {
			text = p.Addr().String()
		}
		o.AllowedIps = append(o.AllowedIps, text)
	}
	return c
}

// headersOrNull translates the header rules of a trunk, or returns null if there are none.
func headersOrNull(t sip.Trunk) oas.NilSipHeaderMapping {
	if len(t.Headers) == 0 {
		return oas.NilSipHeaderMapping{Null: true}
	}
	mapping := oas.SipHeaderMapping{
		Direction: oas.NewOptSipDirection(oas.SipDirection(t.Direction)), Headers: make([]oas.SipHeaderRule, len(t.Headers)),
	}
	for i, r := range t.Headers {
		if r.Custom != nil {
			mapping.Headers[i] = oas.NewSipCustomHeaderRuleSipHeaderRule(oas.SipCustomHeaderRule{
				Type: "custom", Key: r.Custom.Key, Value: r.Custom.Value,
				Passthrough: oas.OptBool{Value: true, Set: r.Custom.Passthrough},
			})
			continue
		}
		mapping.Headers[i] = oas.NewSipUuiHeaderRuleSipHeaderRule(oas.SipUuiHeaderRule{
			Type: "uui", Target: r.UUI.Target, Purpose: wire.OptText(r.UUI.Purpose), Encoding: wire.OptText(r.UUI.Encoding),
			Content: wire.OptText(r.UUI.Content),
		})
	}
	return oas.NewNilSipHeaderMapping(mapping)
}
