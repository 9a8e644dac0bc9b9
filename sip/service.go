package sip

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/uri"
)

// InboundNumbers hears of numbers that begin to reach this platform; agents.Service has it.
type InboundNumbers interface {
	// RegisterInbound makes a number one that is answered; one that is registered already stays as it is.
	RegisterInbound(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error
}

// Config is what a Service needs.
type Config struct {
	Store         Store
	Atomic        callwright.Atomic
	Numbers       InboundNumbers
	Log           CallLog
	Statuses      Statuses
	Registrations Registrations
	Monitor       Monitor
	Organizations callwright.Tenants
	Hooks         alert.Hooks
	Mail          bool              // there is an engine that sends alerts by mail
	SMS           bool              // likewise by SMS
	Codecs        []string          // SDP names with an engine, in the order of preference
	Regions       map[string]Region // nil: those of Regions
	Region        string            // of organizations that have none
	DerivationKey callwright.Secret // makes the passwords that we register with
	AllowPrivate  bool              // trunks may point at private and loopback addresses
	Node          string            // this process, among those with the same Log
	Clock         callwright.Clock  // nil: the machine's
	IDs           callwright.IDs    // nil: UUIDs
	Logger        *slog.Logger      // nil: nothing is logged
}

// Service keeps trunks and routes calls over them.
type Service struct{ Config }

// New checks the configuration.
func New(c Config) (*Service, error) {
	if c.Store == nil || c.Atomic == nil || c.Numbers == nil {
		return nil, errors.New("sip: Store, Atomic and Numbers are required")
	}
	if len(c.Codecs) == 0 {
		return nil, errors.New("sip: at least one codec is required")
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.IDs == nil {
		c.IDs = new(callwright.UUIDs)
	}
	return &Service{Config: c}, nil
}

// Record is the trunks of one number; nil where a direction is not attached.
type Record struct{ Inbound, Outbound *Trunk }

// Get is the record of a number. A number that is not attached has an empty one.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, number string) (Record, error) {
	n, err := callwright.ParsePhoneNumber(number)
	if err != nil {
		return Record{}, callwright.InField("phone_number", err)
	}
	trunks, err := s.Store.Trunks(ctx, org, n)
	var r Record
	for _, t := range trunks {
		switch t.Direction {
		case Inbound:
			r.Inbound = &t
		case Outbound:
			r.Outbound = &t
		}
	}
	return r, err
}

// Caller is the number that an organization's call goes out with: see call.Routes.
func (s *Service) Caller(
	ctx context.Context, org callwright.OrgID, from callwright.PhoneNumber,
) (callwright.PhoneNumber, error) {
	if from != "" {
		_, err := s.outbound(ctx, org, from)
		return from, err
	}
	trunks, err := s.Store.Outbound(ctx, org, 2)
	if err != nil {
		return "", err
	}
	if len(trunks) != 1 {
		return "", callwright.Invalid("from", "is required unless exactly one number is attached for outbound calls")
	}
	return trunks[0].Number, nil
}

// outbound is the outbound trunk of a number.
func (s *Service) outbound(ctx context.Context, org callwright.OrgID, from callwright.PhoneNumber) (Trunk, error) {
	trunks, err := s.Store.Trunks(ctx, org, from)
	if err != nil {
		return Trunk{}, err
	}
	for _, t := range trunks {
		if t.Direction == Outbound {
			return t, nil
		}
	}
	return Trunk{}, callwright.Invalid("from", "%s is not attached for outbound calls", from)
}

// Outbound is the route of a call that goes out: see Routes.
func (s *Service) Outbound(ctx context.Context, org callwright.OrgID, from callwright.PhoneNumber) (Route, error) {
	t, err := s.outbound(ctx, org, from)
	if err != nil {
		return Route{}, err
	}
	server, err := t.server()
	if err != nil {
		return Route{}, err
	}
	return s.route(t, server), nil
}

// Inbound is the route of a call that comes in: see Routes.
func (s *Service) Inbound(ctx context.Context, to callwright.PhoneNumber, peer Peer) (Route, error) {
	t, err := s.Store.Owner(ctx, to, Inbound)
	if err != nil {
		return Route{}, err
	}
	if !t.Options.admits(peer.Address) {
		return s.route(t), callwright.ErrForbidden
	}
	return s.route(t), nil
}

func (s *Service) route(t Trunk, servers ...uri.URI) Route {
	verify := t.Options.Verify
	if verify == "" {
		verify = VerifyFull
	}
	return Route{
		Org: t.Org, TrunkID: t.ID, Number: t.Number, Servers: servers, Codecs: s.Codecs,
		Credentials: t.Options.Call, Verify: verify,
	}
}
