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

// InboundNumbers registers the numbers of inbound calls; agents.Service implements it.
type InboundNumbers interface {
	// RegisterInbound lets calls to a number be answered. A registered number stays unchanged.
	RegisterInbound(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error
	// ReleaseInbound is called when the inbound direction of a number is detached, in the same transaction.
	ReleaseInbound(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error
}

// Reservations reports the numbers that belong to an organization even if it has not attached them; porting.Reserved implements it.
type Reservations interface {
	// ReservedElsewhere returns the given numbers that belong to another organization than org; with an empty org, all that belong
	// to any organization.
	ReservedElsewhere(ctx context.Context, org callwright.OrgID, numbers []callwright.PhoneNumber) ([]callwright.PhoneNumber, error)
}

// Proofs reports the numbers that organizations have proven to be theirs; proof.Proven implements it.
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
	DerivationKey callwright.Secret `required:"always"` // derives the passwords of registrations; at least 32 bytes

	Monitor      Monitor              // nil: no trunk is watched, so that health is unchecked, and alerts over channels are refused
	Numbers      InboundNumbers       // nil: inbound numbers are registered nowhere
	Deliveries   Deliveries           // deliveries of alerts; nil: not recorded
	Reservations Reservations         // nil: no number is reserved
	Proofs       Proofs               // nil: numbers are attached inbound without a proof
	Numbering    callwright.Numbering // the default countries and limits of organizations; nil: no defaults
	Changed      func()               // called after a change of trunks; must not block; nil: not called
	Self         *self.Server         // no trunk may point at it; nil: none
	AllowPrivate bool                 // trunks may point at private and loopback addresses

	callwright.Runtime
}

// minKey is the least length of a DerivationKey in bytes: the length of the hash.
const minKey = 32

// Service manages trunks and routes calls over them. A number has at most one inbound and one outbound trunk. With the three
// servers of a failover this stays below the limit of ten configurations per number.
type Service struct {
	cfg Config           // without its DerivationKey
	mac func() hash.Hash // over the DerivationKey, which fmt would print if it were a field that is not exported
}

// New checks the configuration.
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

// Record holds the trunks of one number; nil where a direction is not attached.
type Record struct{ Inbound, Outbound *Trunk }

// Get returns the record of a number. A number that is not attached has an empty record.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, number string) (Record, error) {
	n, err := s.Number(ctx, org, number)
	if err != nil {
		return Record{}, err
	}
	return s.record(ctx, org, n)
}

// Trunk returns the trunk of one direction of a number. CodeNotFound when the organization has not attached it.
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

// record returns the trunks of a number.
func (s *Service) record(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (Record, error) {
	trunks, err := s.cfg.Store.Trunks(ctx, org, number)
	var r Record
	for _, t := range trunks {
		r.storeDraft(t)
	}
	return r, err
}

func (r *Record) storeDraft(t Trunk) { *r.at(t.Direction) = &t }

// of returns the trunk of a direction; nil without one.
func (r Record) of(d Direction) *Trunk { return *r.at(d) }

func (r *Record) at(d Direction) **Trunk {
	if d == Inbound {
		return &r.Inbound
	}
	return &r.Outbound
}
