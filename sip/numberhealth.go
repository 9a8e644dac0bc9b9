package sip

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// AttachedNumber is a number with a trunk.
type AttachedNumber struct {
	Number     callwright.PhoneNumber
	Directions []Direction  // inbound first
	Endpoint   string       // of the outbound trunk; empty: none
	Health     health.State // see health.State.Public
	Active     string       // the server that calls go to first; empty: none is watched
	Uptime     *float64     // percent of the known time of the last days; nil: unknown
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
	History      health.History  // of the outbound trunk
	Alerts       map[Direction]alert.States
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

// NumbersPage returns a page of Numbers, of at most limit numbers.
func (s *Service) NumbersPage(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) (callwright.Page[AttachedNumber], error) {
	if limit < 1 || limit > maxNumbersPage {
		return callwright.Page[AttachedNumber]{}, callwright.Invalid("limit", "must be from 1 to %d", maxNumbersPage)
	}
	numbers, err := s.numbers(ctx, org, after, limit+1)
	page := callwright.Page[AttachedNumber]{Items: numbers}
	if len(numbers) > limit {
		page.Items = numbers[:limit]
		page.Next = callwright.Keyset{ID: numbers[limit-1].Number.String()}
	}
	return page, err
}

const maxNumbersPage = 500

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
	byTrunk := map[string]Status{}
	for _, status := range statuses {
		byTrunk[status.TrunkID] = status
	}
	var numbers []AttachedNumber
	for _, t := range trunks {
		if len(numbers) == 0 || numbers[len(numbers)-1].Number != t.Number {
			numbers = append(numbers, AttachedNumber{Number: t.Number, Health: health.Unchecked})
		}
		n := &numbers[len(numbers)-1]
		n.Directions = append(n.Directions, t.Direction)
		if t.Direction != Outbound {
			continue
		}
		n.Endpoint = t.Endpoint
		if status, watched := byTrunk[t.ID]; watched {
			n.Health, n.Uptime, n.Active = status.State(), known(status.History.Uptime()), status.active()
		}
	}
	return numbers, nil
}

// State returns the state of the best server, as health.State.Public shows it.
func (s Status) State() health.State { return health.Best(s.states()...).Public() }

// active returns the name of the server that calls go to first; empty without any.
func (s Status) active() string {
	current := s.Current()
	if current >= len(s.Servers) {
		return ""
	}
	return s.Servers[current].Server.String()
}

// Health returns the health of a number's trunks. CodeNotFound when the organization has not attached the number.
func (s *Service) Health(ctx context.Context, org callwright.OrgID, number string) (NumberHealth, error) {
	r, err := s.attached(ctx, org, number)
	if err != nil {
		return NumberHealth{}, err
	}
	h := healthOf(Status{})
	if r.Outbound != nil {
		status, err := s.cfg.Statuses.Status(ctx, org, r.Outbound.ID)
		if err != nil && !errors.Is(err, callwright.ErrNotFound) { // detached meanwhile
			return NumberHealth{}, err
		}
		h = healthOf(status)
		h.Number, h.Verify = r.Outbound.Number, cmp.Or(r.Outbound.Options.Verify, VerifyFull)
		h.Alerts[Outbound] = status.Alerts
	}
	if r.Inbound == nil {
		return h, nil
	}
	h.Number = r.Inbound.Number
	status, err := s.cfg.Statuses.Status(ctx, org, r.Inbound.ID)
	switch {
	case err == nil:
		h.Alerts[Inbound] = status.Alerts
	case !errors.Is(err, callwright.ErrNotFound): // no alerts yet
		return NumberHealth{}, err
	}
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
		History: s.History, Alerts: map[Direction]alert.States{},
	}
	current := s.Current()
	for i, server := range s.Servers {
		shown := ServerHealth{
			Server: server.Server, State: server.Health.State.Public(), Since: server.Health.Since, Reason: server.Health.Reason,
			CheckedAt:    known(server.Health.CheckedAt, !server.Health.CheckedAt.IsZero()),
			ResponseTime: known(server.Health.ResponseTime, server.Health.ResponseTime > 0), Active: i == current,
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
