package sip

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/uri"
)

// Attachment asks for trunks: every direction for every number.
type Attachment struct {
	Numbers    []string // E.164
	Directions []DirectionInput
}

// Attached is what became of an attachment.
type Attached struct {
	Configured []callwright.PhoneNumber
	Failed     []FailedNumber
	// Password is what the customer's system has to expect when we register with it; empty without AuthRegister. It is
	// derived from what was given, and told here only.
	Password callwright.Secret
}

// FailedNumber is a number that was left as it was, and why.
type FailedNumber struct {
	Number string
	Err    *callwright.Error
}

// MaxNumbers is how many numbers one attachment may name.
const MaxNumbers = 100

// Attach makes trunks. What is wrong with the directions or the store fails the whole; what is wrong with a number fails
// that number alone, with all its directions. A direction that the organization has attached already is replaced.
func (s *Service) Attach(ctx context.Context, org callwright.OrgID, a Attachment) (Attached, error) {
	if len(a.Numbers) == 0 || len(a.Numbers) > MaxNumbers {
		return Attached{}, callwright.Invalid("phone_numbers", "must hold 1 to %d numbers", MaxNumbers)
	}
	if err := s.checkDirections(a.Directions); err != nil {
		return Attached{}, err
	}
	var done Attached
	for _, text := range a.Numbers {
		number, err := s.attachNumber(ctx, org, text, a.Directions)
		var failure *callwright.Error
		switch {
		case err == nil && !slices.Contains(done.Configured, number):
			done.Configured = append(done.Configured, number)
		case err == nil: // named twice
		case errors.As(err, &failure) && failure.Code != callwright.CodeInternal && failure.Code != callwright.CodeUnavailable:
			done.Failed = append(done.Failed, FailedNumber{Number: text, Err: failure})
		default:
			return done, err
		}
	}
	return done, nil
}

// attachNumber attaches all directions of a number, or none.
func (s *Service) attachNumber(
	ctx context.Context, org callwright.OrgID, text string, directions []DirectionInput,
) (callwright.PhoneNumber, error) {
	number, err := callwright.ParsePhoneNumber(text)
	if err != nil {
		return "", err
	}
	return number, s.Atomic.Do(ctx, func(ctx context.Context) error {
		for _, d := range directions {
			if err := s.put(ctx, org, number, d); err != nil {
				return err
			}
		}
		return nil
	})
}

// put makes one direction of a number what d says.
func (s *Service) put(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, d DirectionInput,
) error {
	if err := s.checkOwner(ctx, org, number); err != nil {
		return err
	}
	now := s.Clock.Now()
	t := Trunk{ID: s.IDs.New(), Org: org, Number: number, Direction: d.Type, CreatedAt: now}
	stored, err := s.Store.Trunks(ctx, org, number)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(stored, func(t Trunk) bool { return t.Direction == d.Type })
	if i >= 0 {
		t = stored[i]
	}
	t.Endpoint, t.Options, t.UpdatedAt = orZero(d.Endpoint), d.options(), now
	if i >= 0 {
		err = s.Store.Update(ctx, t)
	} else {
		err = s.Store.Insert(ctx, t)
	}
	if err != nil || d.Type != Inbound {
		return err
	}
	return s.Config.Numbers.RegisterInbound(ctx, org, number)
}

// checkOwner refuses a number of which another organization has a direction.
func (s *Service) checkOwner(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error {
	for _, d := range []Direction{Inbound, Outbound} {
		t, err := s.Store.Owner(ctx, number, d)
		switch {
		case errors.Is(err, callwright.ErrNotFound):
		case err != nil:
			return err
		case t.Org != org:
			return callwright.Errorf(callwright.CodeConflict, "the number is not available to this organization")
		}
	}
	return nil
}

// checkDirections refuses directions that no trunk could have.
func (s *Service) checkDirections(directions []DirectionInput) error {
	if len(directions) == 0 || len(directions) > 2 {
		return callwright.Invalid("directions", "must hold inbound, outbound or both")
	}
	if len(directions) == 2 && directions[0].Type == directions[1].Type {
		return callwright.Invalid("directions[1].type", "is given twice")
	}
	for i, d := range directions {
		if err := s.checkDirection(d); err != nil {
			err.Field = "directions[" + strconv.Itoa(i) + "]." + err.Field
			return err
		}
	}
	return nil
}

func (s *Service) checkDirection(d DirectionInput) *callwright.Error {
	o := d.options()
	if err := checkOptions(o); err != nil {
		return err
	}
	switch {
	case d.Type != Inbound && d.Type != Outbound:
		return callwright.Invalid("type", "must be inbound or outbound")
	case d.Type == Inbound && orZero(d.Endpoint) != "":
		return callwright.Invalid("sip_endpoint", "belongs to the outbound direction")
	case d.Type == Outbound && len(o.AllowedIPs) > 0:
		return callwright.Invalid("options.allowed_ips", "belongs to the inbound direction")
	case d.Type == Outbound:
		return s.checkEndpoint(d)
	}
	return nil
}

// checkOptions refuses settings that neither direction could have.
func checkOptions(o Options) *callwright.Error {
	switch {
	case o.AuthMode != "" && o.AuthMode != AuthIP:
		return &callwright.Error{
			Code: callwright.CodeNotImplemented, Field: "auth_mode", Message: "only ip is available in this build",
		}
	case o.Transport != "" && o.Transport != string(uri.TLS):
		return callwright.Invalid("options.transport", "must be tls: signaling is encrypted always")
	case o.SecureMedia != nil && !*o.SecureMedia:
		return callwright.Invalid("options.secure_media", "must be true: media is SRTP always")
	case o.Port < 0 || o.Port > 65535:
		return callwright.Invalid("options.port", "must be from 1 to 65535")
	case o.Verify != "" && o.Verify != VerifyFull && o.Verify != VerifyChain && o.Verify != VerifyNone:
		return callwright.Invalid("options.tls_verification", "must be full, chain or none")
	case strings.ContainsFunc(o.Call.Username, unicode.IsControl):
		return callwright.Invalid("options.sip_username", "holds a control character")
	case (o.Call.Username == "") != (o.Call.Password == ""):
		return callwright.Invalid("options.sip_username", "and options.sip_password go together")
	}
	return nil
}

func (s *Service) checkEndpoint(d DirectionInput) *callwright.Error {
	if orZero(d.Endpoint) == "" {
		return callwright.Invalid("sip_endpoint", "is required for the outbound direction")
	}
	to, err := uri.ParseDestination(*d.Endpoint)
	if err != nil {
		return callwright.Invalid("sip_endpoint", "%s", callwright.MessageOf(err))
	}
	if to.Transport != "" && to.Transport != uri.TLS {
		return callwright.Invalid("sip_endpoint", "must use transport=tls: signaling is encrypted always")
	}
	if to.IsPrivateIP && !s.AllowPrivate {
		return callwright.Invalid("sip_endpoint", "must not be a private address")
	}
	return nil
}

// server is where an outbound trunk's calls go.
func (t Trunk) server() (uri.URI, error) {
	to, err := uri.ParseDestination(t.Endpoint)
	if err != nil {
		return uri.URI{}, err
	}
	port := to.Port
	if t.Options.Port != 0 {
		port = uint16(t.Options.Port)
	}
	return uri.URI{
		Scheme: uri.SIP, Host: to.Host, Port: port, Params: []uri.Param{{Name: "transport", Value: string(uri.TLS)}},
	}, nil
}

// admits says whether a peer at this address may call.
func (o Options) admits(source netip.Addr) bool {
	return len(o.AllowedIPs) == 0 ||
		slices.ContainsFunc(o.AllowedIPs, func(p netip.Prefix) bool { return p.Contains(source.Unmap()) })
}
