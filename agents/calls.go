package agents

import (
	"context"
	"errors"
	"reflect"

	"github.com/callwright/callwright"
)

// defaultTask is the task of an agent to whom nobody has given one.
const defaultTask = "Answer the telephone, ask what the caller wants, and take note of it."

// Answering returns the agent that takes a call to a number, with defaults for what nobody has configured. It is not
// checked again: what was taken away since, such as a pathway, shows when the call begins.
func (s *Service) Answering(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber,
) (Agent, error) {
	n, err := s.cfg.Store.Number(ctx, org, number)
	if err != nil && !errors.Is(err, callwright.ErrNotFound) {
		return Agent{}, err
	}
	a := n.Agent
	if a.Task == "" && a.Pathway.ID == "" {
		a.Task = defaultTask
	}
	a.setDefaults()
	return a, nil
}

// Choice says which agent makes a call: a web agent or one that is given, and what is other on this call.
type Choice struct {
	ID        string // of a web agent; empty: Agent
	Agent     Agent  // must be zero with an ID
	Overrides Patch
}

// Calling returns the agent that makes a call, with its overrides and defaults. It refuses an agent that could have no
// call, and one that nothing leads; the error names the field as the /v1 contract does.
func (s *Service) Calling(ctx context.Context, org callwright.OrgID, c Choice) (Agent, error) {
	a := c.Agent
	if c.ID != "" {
		if !reflect.ValueOf(a).IsZero() {
			return Agent{}, callwright.Invalid("agent_id", "excludes an agent of the call's own: override its settings instead")
		}
		w, err := s.cfg.WebAgents.Agent(ctx, org, c.ID)
		if err != nil {
			return Agent{}, callwright.InField("agent_id", err)
		}
		a = w.Agent
	}
	a, err := c.Overrides.override(a)
	if err != nil {
		return Agent{}, err
	}
	a.setDefaults()
	var found faultList
	a.checkPurpose(&found)
	found = append(found, s.faults(ctx, org, a)...)
	return a, found.first()
}
