package registration

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/uri"
)

// expires is the lifetime of a binding that we request.
const expires = time.Hour

// statusTooBrief is the status with which a server requires a longer lifetime (RFC 3261, section 21.4.17).
const statusTooBrief = 423

// ask sends a REGISTER, and a second one if the server requires a longer lifetime. It returns the result as an event.
func ask(ctx context.Context, line Line, b Binding) Event {
	granted, err := line.Register(ctx, b)
	if r, ok := errors.AsType[*Refusal](err); ok && r.Code == statusTooBrief && r.MinExpires > b.Expires {
		b.Expires = min(r.MinExpires, maxGranted)
		granted, err = line.Register(ctx, b)
	}
	if err == nil {
		return Event{Kind: Granted, For: granted}
	}
	e := Event{Kind: Failed, Reason: err.Error()}
	if r, ok := errors.AsType[*Refusal](err); ok {
		e.After = r.RetryAfter
		if r.final() {
			e.Kind = Refused
		}
	}
	return e
}

// final reports whether a retry cannot succeed, because the configuration of either side must change first.
func (r *Refusal) final() bool {
	switch r.Code {
	case 408, statusTooBrief, 429, 480, 491:
		return false
	}
	return r.Auth || r.Code >= 300 && r.Code < 500 || r.Code >= 600
}

// bindingOf returns the binding that a trunk requires. ok is false if the trunk does not register.
func bindingOf(t sip.Trunk) (b Binding, ok bool, err error) {
	if t.Direction != sip.Inbound || t.Options.AuthMode != sip.AuthRegister {
		return b, false, nil
	}
	to, err := uri.ParseDestination(t.Endpoint)
	if err != nil {
		return b, true, err
	}
	return Binding{
		TrunkID: t.ID, User: t.ContactUser(), Verify: t.Options.Verify, Credentials: t.Options.Register, Expires: expires,
		Server: uri.URI{
			Scheme: uri.SIP, Host: to.Host, Port: cmp.Or(to.Port, uint16(t.Options.Port)), Params: []uri.Param{{Name: "transport", Value: string(uri.TLS)}},
		},
	}, true, nil
}

// same reports whether two bindings of a trunk have the same server, user, credentials and verification.
func (b Binding) same(other Binding) bool {
	return b.User == other.User && b.Verify == other.Verify && b.Credentials == other.Credentials &&
		b.Server.String() == other.Server.String()
}
