package agents

import (
	"context"
	"errors"
	"reflect"

	"github.com/callwright/callwright"
)

// defaultTask is the task of an agent that has none.
const defaultTask = "Answer the telephone, ask what the caller wants, and take note of it."

// Answering returns the agent that answers at a number, with defaults for what is not configured. It does not check
// the agent again: a pathway that was deleted since is found when the call begins.
func (s *Service) Answering(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber,
) (Agent, error) {
	n, err := s.Inbound(ctx, org, number)
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

// Choice selects the agent of a call: a web agent or one that is given, and the settings that differ on this call.
type Choice struct {
	ID        string // of a web agent; empty: Agent
	Agent     Agent  // must be zero with an ID
	Overrides Patch
}

// Calling returns the agent that makes a call, with its overrides and defaults. It refuses an agent that no call
// could have, and one without a task and a pathway; the error names the field as the /v1 contract does.
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
