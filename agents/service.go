package agents

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

// Config is what a Service needs. Everything is required but what says otherwise.
type Config struct {
	Store     Store
	WebAgents WebAgents
	Atomic    callwright.Atomic
	Checker   Checker          // nil: nothing is asked of agents but what is said here; may be set after New, before use
	Clock     callwright.Clock // nil: the machine's
	IDs       callwright.IDs   // nil: UUIDs
}

// Checker refuses agents that no call could have; call.Service is one.
type Checker interface {
	// CheckAgent fills in an agent's defaults and refuses what no call could do.
	CheckAgent(ctx context.Context, org callwright.OrgID, a *call.Agent) error
}

var _ Checker = (*call.Service)(nil)

// Service keeps agents: web agents, and those that answer at inbound numbers.
type Service struct{ Config }

// New checks the configuration.
func New(c Config) (*Service, error) {
	if c.Store == nil || c.WebAgents == nil || c.Atomic == nil {
		return nil, errors.New("agents: Store, WebAgents and Atomic are required")
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.IDs == nil {
		c.IDs = new(callwright.UUIDs)
	}
	return &Service{Config: c}, nil
}

// RegisterInbound makes a number one that is answered, with an agent that has no settings yet. A number that is
// registered keeps its agent. It is what trunks and ports call when a number begins to reach this platform.
func (s *Service) RegisterInbound(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error {
	now := s.Clock.Now()
	return s.Atomic.Do(ctx, func(ctx context.Context) error {
		_, err := s.Store.Number(ctx, org, number)
		if !errors.Is(err, callwright.ErrNotFound) {
			return err
		}
		return s.Store.InsertNumber(ctx, InboundNumber{
			Org: org, Number: number, Agent: call.Agent{MaxDuration: call.DefaultMaxDuration}, CreatedAt: now, UpdatedAt: now,
		})
	})
}

// Inbound is one inbound number.
func (s *Service) Inbound(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber,
) (InboundNumber, error) {
	return s.Store.Number(ctx, org, number)
}

// ListInbound is all inbound numbers of an organization, by number.
func (s *Service) ListInbound(ctx context.Context, org callwright.OrgID) ([]InboundNumber, error) {
	return s.Store.Numbers(ctx, org)
}

// UpdateInbound changes the agent of a number. change sees the stored agent; it may be called again when somebody else
// changes the number meanwhile, and its error is given back as it is.
func (s *Service) UpdateInbound(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, change func(*call.Agent) error,
) (n InboundNumber, err error) {
	err = s.again(ctx, func(ctx context.Context) error {
		if n, err = s.Store.Number(ctx, org, number); err != nil {
			return err
		}
		if err := change(&n.Agent); err != nil {
			return err
		}
		n.UpdatedAt = s.Clock.Now()
		return s.Store.UpdateNumber(ctx, n)
	})
	n.Version++
	return n, err
}

// again does something in a transaction, and once more while others are quicker.
func (s *Service) again(ctx context.Context, do func(ctx context.Context) error) error {
	return callwright.Retry(ctx, func(ctx context.Context) error { return s.Atomic.Do(ctx, do) })
}

// unconfigured is the task of an agent to whom nobody has given one.
const unconfigured = "Answer the telephone, ask what the caller wants, and take note of it."

// Answering is the agent at a number, with defaults for what nobody has configured: see call.Agents.
func (s *Service) Answering(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber,
) (call.Agent, error) {
	n, err := s.Store.Number(ctx, org, number)
	if err != nil && !errors.Is(err, callwright.ErrNotFound) {
		return call.Agent{}, err
	}
	a := n.Agent
	if a.Task == "" && a.Pathway.ID == "" {
		a.Task = unconfigured
	}
	if a.MaxDuration == 0 {
		a.MaxDuration = call.DefaultMaxDuration
	}
	return a, nil
}
