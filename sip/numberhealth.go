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

// AttachedNumber is a number with at least one trunk, and the health of its outbound trunk.
type AttachedNumber struct {
	Number     callwright.PhoneNumber
	Directions []Direction  // inbound first
	Endpoint   string       // Trunk.Endpoint of the outbound trunk; empty if none
	Health     health.State // as health.State.Public shows it
	Active     string       // server that calls try first; empty if no server is watched
	Uptime     *float64     // percentage of the recorded time of the last days; nil if unknown
}

// NumberHealth is the health of a number's trunks. Its State is Unchecked if the number has no outbound trunk.
type NumberHealth struct {
	Number       callwright.PhoneNumber
	State        health.State    // state of the best server, as health.State.Public shows it
	CheckedAt    *time.Time      // time of the latest evidence about any server; nil if none
	ResponseTime *time.Duration  // of the active server's last answered probe; nil if none
	Uptime       *float64        // percentage of the recorded time of the last days; nil if unknown
	Average, P95 *time.Duration  // response times of the last answered probes; nil if none
	Verify       TLSVerification // verification of the servers' certificates; empty without an outbound trunk
	Servers      []ServerHealth  // servers of the outbound trunk, by priority
	Registration *Registration   // registration of the inbound trunk; nil without AuthRegister
	History      health.History  // history of the outbound trunk
	Alerts       map[Direction]alert.States
}

// ServerHealth is the health of one server of an outbound trunk.
type ServerHealth struct {
	Server       failover.Server
	State        health.State // as health.State.Public shows it
	Since        time.Time    // time of the last change of State; zero if never checked
	CheckedAt    *time.Time
	ResponseTime *time.Duration
	Reason       string // last response or failure; empty if never checked
	Active       bool   // calls try this server first
}

// MaxListedNumbers is the maximum number of results of Numbers.
const MaxListedNumbers = 50_000

// Numbers returns the numbers of an organization that have a trunk, in ascending order, at most MaxListedNumbers.
func (s *Service) Numbers(ctx context.Context, org callwright.OrgID) ([]AttachedNumber, error) {
	page := func(after callwright.Keyset, limit int) ([]AttachedNumber, error) {
		return s.numbers(ctx, org, after, limit)
	}
	place := func(n AttachedNumber) callwright.Keyset { return callwright.Keyset{ID: n.Number.String()} }
	return callwright.Collect(MaxListedNumbers, page, place)
}

// NumbersPage returns a page of the numbers that Numbers returns. limit must be from 1 to 500.
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

// numbers returns at most limit numbers after a keyset, with the health of their outbound trunks.
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

// State returns the state of the trunk's best server, as health.State.Public shows it.
func (s Status) State() health.State { return health.Best(s.states()...).Public() }

// active returns the name of the server that calls try first, or "" if the status has no server.
func (s Status) active() string {
	current := s.Current()
	if current >= len(s.Servers) {
		return ""
	}
	return s.Servers[current].Server.String()
}

// Health returns the health of a number's trunks. It returns CodeNotFound if the organization has not attached the number.
func (s *Service) Health(ctx context.Context, org callwright.OrgID, number string) (NumberHealth, error) {
	r, err := s.attached(ctx, org, number)
	if err != nil {
		return NumberHealth{}, err
	}
	h := healthOf(Status{})
	if r.Outbound != nil {
		status, err := s.cfg.Statuses.Status(ctx, org, r.Outbound.ID)
		if err != nil && !errors.Is(err, callwright.ErrNotFound) { // no status: the trunk was detached meanwhile
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
	case !errors.Is(err, callwright.ErrNotFound): // without alerts the trunk has no status
		return NumberHealth{}, err
	}
	registration, err := s.cfg.Registrations.Registration(ctx, org, r.Inbound.ID)
	if errors.Is(err, callwright.ErrNotFound) { // the trunk does not register
		return h, nil
	}
	h.Registration = &registration
	return h, err
}

// healthOf converts a status to the form in which Health returns it.
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

// attached returns the trunks of a number. It returns CodeNotFound if the organization has not attached the number.
func (s *Service) attached(ctx context.Context, org callwright.OrgID, number string) (Record, error) {
	r, err := s.Get(ctx, org, number)
	if err == nil && r == (Record{}) {
		err = callwright.NotFound("number")
	}
	return r, err
}
