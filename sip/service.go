package sip

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"hash"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/self"
)

// InboundNumbers registers the numbers that receive inbound calls; agents.Service implements it.
type InboundNumbers interface {
	// RegisterInbound registers a number, so that calls to it are answered. It leaves a registered number unchanged.
	RegisterInbound(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error
	// ReleaseInbound undoes RegisterInbound. It is called when the inbound direction of a number is detached or an operator releases the
	// number, in the same transaction.
	ReleaseInbound(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error
}

// Reservations finds numbers that belong to an organization even if it has not attached them; porting.Reserved implements it.
type Reservations interface {
	// ReservedElsewhere returns the given numbers that an organization other than org has reserved. If org is empty, it returns all that
	// are reserved.
	ReservedElsewhere(ctx context.Context, org callwright.OrgID, numbers []callwright.PhoneNumber) ([]callwright.PhoneNumber, error)
}

// Proofs reports which numbers organizations have proven to be theirs; proof.Proven implements it.
type Proofs interface {
	// Proven reports whether an organization has recently proven that it answers a number.
	Proven(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (bool, error)
}

// Config configures a Service.
type Config struct {
	Store         Store             `required:"always"`
	Atomic        callwright.Atomic `required:"always"`
	Statuses      Statuses          `required:"always"`
	Registrations Registrations     `required:"always"`
	Codecs        []string          `required:"always"` // SDP names of the codecs that have an engine; at least one
	DerivationKey callwright.Secret `required:"always"` // key from which passwords of registrations are derived; at least 32 bytes

	Monitor      Monitor              // if nil, trunks are not watched, their health is unchecked, and alert channels are refused
	Numbers      InboundNumbers       // if nil, inbound numbers are not registered
	Deliveries   Deliveries           // records the deliveries of alerts; may be nil
	Reservations Reservations         // if nil, no number is reserved
	Proofs       Proofs               // if nil, attaching numbers inbound requires no proof
	Numbering    callwright.Numbering // default countries and limits of organizations; nil means the defaults
	Changed      func()               // called after a change of trunks; must not block; may be nil
	Self         *self.Server         // this server, to which no trunk may point; may be nil
	AllowPrivate bool                 // trunks may point at private and loopback addresses

	callwright.Runtime
}

// minKey is the minimum length of Config.DerivationKey in bytes. It equals the length of the hash.
const minKey = 32

// Service manages trunks and routes calls over them. A number has at most one inbound trunk and one outbound trunk; the outbound trunk has
// at most failover.MaxServers servers.
type Service struct {
	cfg Config           // without its DerivationKey
	mac func() hash.Hash // keyed with DerivationKey; a closure, because fmt would print the key in an unexported field
}

// New returns a service. It returns an error if a required field of c is missing, the DerivationKey is too short, or a codec cannot be
// negotiated.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if len(c.DerivationKey) < minKey {
		return nil, errors.New("sip: Config.DerivationKey must have at least 32 bytes")
	}
	if err := checkEngines(c.Codecs); err != nil {
		return nil, err
	}
	if c.Monitor == nil {
		c.Monitor = noMonitor{}
	}
	if c.Numbers == nil {
		c.Numbers = noNumbers{}
	}
	key := []byte(c.DerivationKey.Reveal())
	c.DerivationKey = ""
	return &Service{cfg: c, mac: func() hash.Hash { return hmac.New(sha256.New, key) }}, nil
}

// Record contains the trunks of one number. A direction that is not attached is nil.
type Record struct{ Inbound, Outbound *Trunk }

// Get returns the trunks of a number. It returns an empty Record, and no error, if the organization has not attached the number.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, number string) (Record, error) {
	n, err := s.Number(ctx, org, number)
	if err != nil {
		return Record{}, err
	}
	return s.record(ctx, org, n)
}

// Trunk returns the trunk of one direction of a number. It returns CodeNotFound if the organization has not attached that direction.
func (s *Service) Trunk(ctx context.Context, org callwright.OrgID, number string, d Direction) (Trunk, error) {
	if err := checkDirection(d); err != nil {
		return Trunk{}, callwright.InField("direction", err)
	}
	r, err := s.Get(ctx, org, number)
	if err != nil {
		return Trunk{}, err
	}
	if r.of(d) == nil {
		return Trunk{}, callwright.NotFound("trunk")
	}
	return *r.of(d), nil
}

// record returns the trunks that an organization has attached for a number.
func (s *Service) record(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (Record, error) {
	trunks, err := s.cfg.Store.Trunks(ctx, org, number)
	var r Record
	for _, t := range trunks {
		r.storeDraft(t)
	}
	return r, err
}

func (r *Record) storeDraft(t Trunk) { *r.at(t.Direction) = &t }

// of returns the trunk of a direction, or nil if it is not attached.
func (r Record) of(d Direction) *Trunk { return *r.at(d) }

func (r *Record) at(d Direction) **Trunk {
	if d == Inbound {
		return &r.Inbound
	}
	return &r.Outbound
}
