package call

import (
	"context"
	"maps"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
)

// Request is a request to place a call. Fields of its errors have the names of the /v1 contract.
type Request struct {
	From        string // in a form that callwright.ReadNumber accepts; empty means the organization's only outbound number
	To          string // in a form that callwright.ReadNumber accepts
	Agent       agents.Agent
	AgentID     string       // id of the web agent that makes the call; requires a zero Agent
	Overrides   agents.Patch // settings that differ for this call
	Plan        Plan
	StartAt     *time.Time // earliest time to place the call; nil or past means immediately
	RequestData map[string]any
	Metadata    map[string]any
}

// Create checks a call and queues it. It refuses an invalid number, a caller's number that is not attached, an agent or a plan that no call
// can use, a StartAt that is too far ahead, and every call while Config.Ready returns an error.
func (s *Service) Create(ctx context.Context, org callwright.OrgID, r Request) (Call, error) {
	to, err := callwright.ReadNumber(ctx, s.cfg.Numbering, org, r.To)
	if err != nil {
		return Call{}, callwright.InField("phone_number", err)
	}
	agent, err := s.cfg.Agents.Calling(ctx, org, agents.Choice{ID: r.AgentID, Agent: r.Agent, Overrides: r.Overrides})
	if err != nil {
		return Call{}, err
	}
	if err := s.checkParts(agent); err != nil {
		return Call{}, err
	}
	if err := s.checkPlan(r.Plan, agent); err != nil {
		return Call{}, err
	}
	now := s.cfg.Clock.Now()
	if err := r.checkStart(now); err != nil {
		return Call{}, err
	}
	from, err := s.callerNumber(ctx, org, r.From)
	if err != nil {
		return Call{}, err
	}
	if err := s.cfg.Ready(); err != nil {
		return Call{}, err
	}
	c := Call{
		ID: s.cfg.IDs.New(), Org: org, From: from.String(), To: to.String(), Agent: agent, Plan: r.Plan,
		RequestData: r.RequestData, Variables: maps.Clone(r.RequestData), Metadata: r.Metadata,
		Queue: QueueQueued, CreatedAt: now, StartAt: r.StartAt, Version: 1,
	}
	return c, s.cfg.Atomic.Do(ctx, func(ctx context.Context) error { return s.queue(ctx, c) })
}

// queue stores a new call with its first notice, and enqueues the task that places it, in the transaction of ctx.
func (s *Service) queue(ctx context.Context, c Call) error {
	if err := s.cfg.Store.Insert(ctx, c); err != nil {
		return err
	}
	place := callwright.Task{Kind: taskPlace, Key: c.ID, Org: c.Org, Unique: true}
	message := "queued"
	if c.StartAt != nil {
		place.RunAt = *c.StartAt
		message = "queued, not to be placed before " + c.StartAt.Format(time.RFC3339)
	}
	first := Notice{Seq: firstNotice, Category: EventsQueue, Level: EventInfo, Message: message, CreatedAt: c.CreatedAt}
	if err := s.announce(ctx, c, first); err != nil {
		return err
	}
	return s.cfg.Work.Enqueue(ctx, place)
}

// callerNumber returns the number that the call shows as its caller: the number in the request or, if the request contains none, the
// organization's only outbound number.
func (s *Service) callerNumber(
	ctx context.Context, org callwright.OrgID, given string,
) (callwright.PhoneNumber, error) {
	if given == "" {
		return s.cfg.Routes.Caller(ctx, org, "")
	}
	from, err := callwright.ReadNumber(ctx, s.cfg.Numbering, org, given)
	if err != nil {
		return "", callwright.InField("from", err)
	}
	return s.cfg.Routes.Caller(ctx, org, from)
}

// farthestStart bounds how far ahead a call may be scheduled.
const farthestStart = 30 * 24 * time.Hour

// checkStart refuses a StartAt beyond farthestStart, and sets a StartAt in the past to nil. It converts any other StartAt to UTC and
// truncates it to microseconds.
func (r *Request) checkStart(now time.Time) error {
	switch {
	case r.StartAt == nil:
	case !r.StartAt.After(now):
		r.StartAt = nil
	case r.StartAt.Sub(now) > farthestStart:
		return callwright.Invalid("start_time", "must be at most %d days ahead", int(farthestStart.Hours()/24))
	default:
		r.StartAt = new(r.StartAt.UTC().Truncate(time.Microsecond))
	}
	return nil
}
