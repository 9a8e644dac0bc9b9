package sip

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// AttachedNumber is a number with a trunk.
type AttachedNumber struct {
	Number     callwright.PhoneNumber
	Directions []Direction  // inbound first
	Endpoint   string       // of the outbound trunk; empty: none
	Health     health.State // see health.State.Public
}

// NumberHealth is the health of a number's trunks. A number without an outbound trunk is Unchecked.
type NumberHealth struct {
	Number       callwright.PhoneNumber
	State        health.State    // of the best server; see health.State.Public
	CheckedAt    *time.Time      // of the last evidence about any server; nil: none
	ResponseTime *time.Duration  // of the active server's last answered probe; nil: none
	Uptime       *float64        // percent of the known time of the last days; nil: unknown
	Average, P95 *time.Duration  // of the last answered probes; nil: none
	Verify       TLSVerification // of the servers' certificates; empty: no outbound trunk
	Servers      []ServerHealth  // by priority
	Registration *Registration   // of the inbound trunk, with AuthRegister; nil: none
}

// ServerHealth is the health of one server of a trunk.
type ServerHealth struct {
	Server       failover.Server
	State        health.State // see health.State.Public
	Since        time.Time    // of the state; zero: never checked
	CheckedAt    *time.Time
	ResponseTime *time.Duration
	Reason       string // the last response or failure; empty: never checked
	Active       bool   // calls try it first
}

// MaxListedNumbers is the most numbers that Numbers returns.
const MaxListedNumbers = 50_000

// Numbers returns an organization's numbers that have a trunk, in order, up to MaxListedNumbers.
func (s *Service) Numbers(ctx context.Context, org callwright.OrgID) ([]AttachedNumber, error) {
	page := func(after callwright.Keyset, limit int) ([]AttachedNumber, error) {
		return s.numbers(ctx, org, after, limit)
	}
	place := func(n AttachedNumber) callwright.Keyset { return callwright.Keyset{ID: n.Number.String()} }
	return callwright.Collect(MaxListedNumbers, page, place)
}

// numbers returns one page of Numbers.
func (s *Service) numbers(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) ([]AttachedNumber, error) {
	trunks, err := s.cfg.Store.List(ctx, org, after, limit)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, t := range trunks {
		ids = append(ids, t.ID)
	}
	statuses, err := s.cfg.Statuses.StatusesOf(ctx, org, ids)
	if err != nil {
		return nil, err
	}
	states := map[string]health.State{}
	for _, status := range statuses {
		states[status.TrunkID] = status.State()
	}
	var numbers []AttachedNumber
	for _, t := range trunks {
		if len(numbers) == 0 || numbers[len(numbers)-1].Number != t.Number {
			numbers = append(numbers, AttachedNumber{Number: t.Number, Health: health.Unchecked})
		}
		n := &numbers[len(numbers)-1]
		n.Directions = append(n.Directions, t.Direction)
		if state, known := states[t.ID]; known && t.Direction == Outbound {
			n.Health = state
		}
		if t.Direction == Outbound {
			n.Endpoint = t.Endpoint
		}
	}
	return numbers, nil
}

// State returns the state of the best server, as health.State.Public shows it.
func (s Status) State() health.State {
	var states []health.State
	for _, server := range s.Servers {
		states = append(states, server.Health.State)
	}
	return health.Best(states...).Public()
}

// Health returns the health of a number's trunks. CodeNotFound when the organization has not attached the number.
func (s *Service) Health(ctx context.Context, org callwright.OrgID, number string) (NumberHealth, error) {
	r, err := s.attached(ctx, org, number)
	if err != nil {
		return NumberHealth{}, err
	}
	h := NumberHealth{State: health.Unchecked}
	if r.Outbound != nil {
		status, err := s.cfg.Statuses.Status(ctx, org, r.Outbound.ID)
		if err != nil && !errors.Is(err, callwright.ErrNotFound) { // detached meanwhile
			return NumberHealth{}, err
		}
		h = healthOf(status)
		h.Number, h.Verify = r.Outbound.Number, cmp.Or(r.Outbound.Options.Verify, VerifyFull)
	}
	if r.Inbound == nil {
		return h, nil
	}
	h.Number = r.Inbound.Number
	registration, err := s.cfg.Registrations.Registration(ctx, org, r.Inbound.ID)
	if errors.Is(err, callwright.ErrNotFound) { // it does not register
		return h, nil
	}
	h.Registration = &registration
	return h, err
}

// healthOf returns a status as it is shown.
func healthOf(s Status) NumberHealth {
	h := NumberHealth{
		State: s.State(), Uptime: known(s.History.Uptime()), Average: known(s.History.Average()), P95: known(s.History.P95()),
	}
	for i, server := range s.Servers {
		shown := ServerHealth{
			Server: server.Server, State: server.Health.State.Public(), Since: server.Health.Since, Reason: server.Health.Reason,
			CheckedAt:    known(server.Health.CheckedAt, !server.Health.CheckedAt.IsZero()),
			ResponseTime: known(server.Health.ResponseTime, server.Health.ResponseTime > 0), Active: i == s.Active,
		}
		h.Servers = append(h.Servers, shown)
		if shown.Active {
			h.ResponseTime = shown.ResponseTime
		}
		if shown.CheckedAt != nil && (h.CheckedAt == nil || shown.CheckedAt.After(*h.CheckedAt)) {
			h.CheckedAt = shown.CheckedAt
		}
	}
	return h
}

func known[T any](value T, ok bool) *T {
	if !ok {
		return nil
	}
	return &value
}

// attached returns the record of a number. CodeNotFound when the organization has not attached it.
func (s *Service) attached(ctx context.Context, org callwright.OrgID, number string) (Record, error) {
	r, err := s.Get(ctx, org, number)
	if err == nil && r == (Record{}) {
		err = callwright.NotFound("number")
	}
	return r, err
}
