package sip

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
)

// InboundNumbers hears of numbers that begin to reach this platform; agents.Service has it.
type InboundNumbers interface {
	// RegisterInbound makes a number one that is answered; one that is registered already stays as it is.
	RegisterInbound(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error
}

// Config is what a Service needs. Everything is required but what says otherwise.
type Config struct {
	Store         Store
	Atomic        callwright.Atomic
	Numbers       InboundNumbers
	Log           CallLog
	Statuses      Statuses
	Registrations Registrations
	Monitor       Monitor
	Organizations callwright.Tenants
	Hooks         alert.Hooks       // nil: alerts can't go to URLs
	Mail          bool              // alerts can go by mail
	SMS           bool              // alerts can go by SMS
	Codecs        []string          // SDP names with an engine
	Regions       map[string]Region // nil: those of Regions
	Region        string            // that of organizations without one of their own
	DerivationKey callwright.Secret // makes the passwords that we register with; at least 32 bytes
	KeepCalls     time.Duration     // how long calls stay in the log; 0: 90 days, at least a day
	AllowPrivate  bool              // trunks may point at private and loopback addresses
	Node          string            // this process, different from every other one's, those before it included
	Clock         callwright.Clock  // nil: the machine's
	IDs           callwright.IDs    // nil: UUIDs
	Logger        *slog.Logger      // nil discards
}

// minKey is the fewest bytes of a key that passwords are derived with: those of the hash.
const minKey = 32

// Service keeps trunks, routes calls over them and keeps the log of these calls. A number has at most one inbound and
// one outbound trunk, which with three servers of a failover stays below the ten configurations that a number may have.
type Service struct{ Config }

// New checks the configuration.
func New(c Config) (*Service, error) {
	switch {
	case c.Store == nil || c.Atomic == nil || c.Numbers == nil || c.Log == nil || c.Statuses == nil || c.Registrations == nil:
		return nil, errors.New("sip: Store, Atomic, Numbers, Log, Statuses and Registrations are required")
	case c.Monitor == nil || c.Organizations == nil || c.Node == "":
		return nil, errors.New("sip: Monitor, Organizations and Node are required")
	case len(c.DerivationKey) < minKey:
		return nil, errors.New("sip: DerivationKey must have at least 32 bytes")
	}
	if c.KeepCalls = cmp.Or(c.KeepCalls, standardKeep); c.KeepCalls < minKeep {
		return nil, errors.New("sip: KeepCalls must be at least a day")
	}
	if err := checkEngines(c.Codecs); err != nil {
		return nil, err
	}
	if c.Regions == nil {
		c.Regions = Regions()
	}
	if _, ok := c.Regions[c.Region]; !ok {
		return nil, errors.New("sip: Region must be one of Regions")
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.IDs == nil {
		c.IDs = new(callwright.UUIDs)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Service{Config: c}, nil
}

// Record is the trunks of one number; nil where a direction is not attached.
type Record struct{ Inbound, Outbound *Trunk }

// Get is the record of a number. A number that is not attached has an empty one.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, number string) (Record, error) {
	n, err := numberOf(number)
	if err != nil {
		return Record{}, err
	}
	return s.record(ctx, org, n)
}

// record is the trunks of a number.
func (s *Service) record(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (Record, error) {
	trunks, err := s.Store.Trunks(ctx, org, number)
	var r Record
	for _, t := range trunks {
		r.put(t)
	}
	return r, err
}

func (r *Record) put(t Trunk) { *r.at(t.Direction) = &t }

// of is the trunk of a direction; nil when there is none.
func (r Record) of(d Direction) *Trunk { return *r.at(d) }

func (r *Record) at(d Direction) **Trunk {
	if d == Inbound {
		return &r.Inbound
	}
	return &r.Outbound
}
