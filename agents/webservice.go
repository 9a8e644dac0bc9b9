package agents

import (
	"cmp"
	"context"

	"github.com/callwright/callwright"
)

// CreateAgent stores a new web agent, and sets its id, times and version. It returns CodeInvalidState if the organization has MaxAgents web
// agents, and the first fault of an invalid agent. The agent must have a task, a pathway or a persona.
func (s *Service) CreateAgent(ctx context.Context, org callwright.OrgID, w WebAgent) (WebAgent, error) {
	now := s.cfg.Clock.Now()
	w.ID, w.Org, w.CreatedAt, w.UpdatedAt, w.Version = s.cfg.IDs.New(), org, now, now, 1
	if err := faultList(s.webFaults(ctx, &w)).first(); err != nil {
		return WebAgent{}, err
	}
	return w, s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		n, err := s.cfg.WebAgents.CountAgents(ctx, org)
		if err != nil {
			return err
		}
		if n >= MaxAgents {
			return callwright.Errorf(callwright.CodeInvalidState, "an organization can have at most %d web agents: delete one first", MaxAgents)
		}
		return s.cfg.WebAgents.InsertAgent(ctx, w)
	})
}

// webFaults sets a web agent's defaults, converts its number for transfers to E.164, and returns the agent's faults.
func (s *Service) webFaults(ctx context.Context, w *WebAgent) []error {
	w.setDefaults()
	var found faultList
	w.checkSizes(&found)
	w.Agent.checkPurpose(&found, "pathway_id and brain_url")
	a := w.Agent
	a.Language = LanguageTag(a.Language)
	found = append(found, s.faults(ctx, w.Org, &a)...)
	w.Agent.TransferTo = a.TransferTo
	return found
}

// Agent returns one web agent. It returns CodeNotFound for an unknown id.
func (s *Service) Agent(ctx context.Context, org callwright.OrgID, id string) (WebAgent, error) {
	return s.cfg.WebAgents.Agent(ctx, org, id)
}

// ListAgents returns the organization's web agents after a keyset, oldest first: at most limit, and at most about MaxRead bytes. A limit of
// 0 means MaxAgents. Fewer agents than limit do not mean that the list is complete: only Page.Next shows whether more follow.
func (s *Service) ListAgents(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) (callwright.Page[WebAgent], error) {
	limit, err := pageSize(limit, MaxAgents)
	if err != nil {
		return callwright.Page[WebAgent]{}, err
	}
	list, err := s.cfg.WebAgents.Agents(ctx, org, after, limit+1)
	return callwright.Fit(list, limit, MaxRead, WebAgent.Size, WebAgent.Keyset), err
}

// UpdateAgent changes a web agent, setting by setting, like UpdateInbound. A new pathway clears the settings that apply only to an agent
// without a pathway: the task, the first sentence, the model, the dynamic data and the tools. CodeConflict means that Patch.Version is
// outdated.
func (s *Service) UpdateAgent(
	ctx context.Context, org callwright.OrgID, id string, p WebAgentPatch,
) (w WebAgent, r Report, err error) {
	changes := append(p.leader(lead), p.changes()...)
	var outdated error // not retried
	err = s.again(ctx, func(ctx context.Context) error {
		if w, err = s.cfg.WebAgents.Agent(ctx, org, id); err != nil {
			return err
		}
		if outdated = p.outdated(w.Version); outdated != nil {
			return nil //nolint:nilerr // see outdated
		}
		stored := w
		r, err = apply(&w, changes, func(w *WebAgent) []error { return s.webFaults(ctx, w) })
		if err != nil {
			return err
		}
		var ok bool
		if ok, r = p.accepts(r); !ok {
			w = stored
			return nil
		}
		w.UpdatedAt = s.cfg.Clock.Now()
		if err := s.cfg.WebAgents.UpdateAgent(ctx, w); err != nil {
			return err
		}
		w.Version++
		return nil
	})
	return w, r, cmp.Or(outdated, err)
}

// DeleteAgent deletes a web agent. The records of its calls remain. It returns CodeNotFound for an unknown id.
func (s *Service) DeleteAgent(ctx context.Context, org callwright.OrgID, id string) error {
	return s.cfg.WebAgents.DeleteAgent(ctx, org, id)
}
