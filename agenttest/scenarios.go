package agenttest

import (
	"cmp"
	"context"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/scenario"
)

// MaxStored is the maximum number of an organization's scenarios.
const MaxStored = 1000

// CreateScenario checks and stores a new scenario, and sets its id, its times and the ids of its assertions. FieldErrors: the
// scenario is invalid. CodeNotFound with the field pathway_id or persona_id: the tested object is absent. CodeConflict with the
// field name: the pathway has a scenario with this name. CodeInvalidState: the organization has MaxStored scenarios.
func (s *Service) CreateScenario(ctx context.Context, org callwright.OrgID, sc scenario.Scenario) (scenario.Scenario, error) {
	now := s.cfg.Clock.Now()
	sc.ID, sc.Org, sc.CreatedAt, sc.UpdatedAt, sc.Revision = s.cfg.IDs.New(), org, now, now, 1
	for i := range sc.Assertions {
		sc.Assertions[i].ID = ""
	}
	sc.SetDefaults(s.cfg.IDs.New)
	if err := s.check(sc); err != nil {
		return scenario.Scenario{}, err
	}
	if err := s.versions.Known(ctx, sc); err != nil {
		return scenario.Scenario{}, err
	}
	return sc, s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		n, err := s.cfg.Store.CountScenarios(ctx, org)
		if err != nil {
			return err
		}
		if n >= MaxStored {
			return callwright.Errorf(callwright.CodeInvalidState, "an organization can have at most %d scenarios", MaxStored)
		}
		return s.cfg.Store.InsertScenario(ctx, sc)
	})
}

// check refuses an invalid scenario, and one with an unknown model.
func (s *Service) check(sc scenario.Scenario) error {
	if err := sc.Check(); err != nil || s.cfg.Model == nil {
		return err
	}
	return sc.CheckModels(s.cfg.Model)
}

// Scenario returns one scenario. CodeNotFound: unknown id.
func (s *Service) Scenario(ctx context.Context, org callwright.OrgID, id string) (scenario.Scenario, error) {
	return s.cfg.Store.Scenario(ctx, org, id)
}

// ListScenarios returns a page of scenarios, newest first, each with its most recent run: at most f.Limit (0: MaxStored), and at
// most MaxRead bytes. It skips the first offset ones. Only Page.Next shows whether more follow.
func (s *Service) ListScenarios(
	ctx context.Context, org callwright.OrgID, f ScenarioFilter, offset int,
) (callwright.Page[Listed], error) {
	f, found, err := s.skip(ctx, org, f, offset)
	if err != nil || !found {
		return callwright.Page[Listed]{}, err
	}
	limit := f.Limit
	if limit <= 0 || limit > MaxStored {
		limit = MaxStored
	}
	f.Limit = limit + 1
	list, err := s.cfg.Store.FindScenarios(ctx, org, f)
	return callwright.Fit(list, limit, MaxRead, Listed.Size, Listed.Keyset), err
}

// skip returns the filter that begins offset scenarios later; false: fewer exist. An organization has at most MaxStored scenarios,
// of which it reads only the names.
func (s *Service) skip(
	ctx context.Context, org callwright.OrgID, f ScenarioFilter, offset int,
) (after ScenarioFilter, found bool, err error) {
	for offset > 0 {
		names := f
		names.Brief, names.Limit = true, min(offset, MaxStored)
		list, err := s.cfg.Store.FindScenarios(ctx, org, names)
		if err != nil || len(list) == 0 {
			return f, false, err
		}
		offset -= len(list)
		f.After = list[len(list)-1].Keyset()
	}
	return f, true, nil
}

// UpdateScenario changes a scenario. Existing runs keep their snapshot. Errors are as of CreateScenario, and CodeConflict: the
// scenario has a different revision than p.Revision.
func (s *Service) UpdateScenario(
	ctx context.Context, org callwright.OrgID, id string, p scenario.Patch,
) (sc scenario.Scenario, err error) {
	var refused error // no other attempt would succeed
	err = callwright.Retry(ctx, func(ctx context.Context) error {
		if sc, err = s.cfg.Store.Scenario(ctx, org, id); err != nil {
			return err
		}
		if p.Revision != nil && *p.Revision != sc.Revision {
			refused = callwright.Errorf(callwright.CodeConflict,
				"the scenario was changed since it was read: see what is stored now; saving again replaces that")
			return nil
		}
		sc = p.Apply(sc)
		sc.SetDefaults(s.cfg.IDs.New)
		if err := s.check(sc); err != nil {
			return err
		}
		sc.UpdatedAt = s.cfg.Clock.Now()
		err := s.cfg.Store.UpdateScenario(ctx, sc)
		if e, ok := errors.AsType[*callwright.Error](err); ok && e.Field == ErrNameTaken.Field {
			refused = err
			return nil
		}
		return err
	})
	if err = cmp.Or(refused, err); err != nil {
		return scenario.Scenario{}, err
	}
	sc.Revision++
	return sc, nil
}

// DeleteScenario deletes a scenario with its runs. Runs of groups that have not ended continue and stay until their group has
// ended.
func (s *Service) DeleteScenario(ctx context.Context, org callwright.OrgID, id string) error {
	return s.cfg.Store.DeleteScenario(ctx, org, id)
}

// Size returns the approximate size of a scenario in a list, in bytes.
func (l Listed) Size() int { return l.Scenario.Size() }

// Keyset returns the place of a scenario in a list.
func (l Listed) Keyset() callwright.Keyset { return callwright.Keyset{At: l.CreatedAt, ID: l.ID} }

// subjects is the group.Scenarios of a Store.
type subjects struct{ Store }

// BriefScenarios returns the existing ones of some scenarios.
func (s subjects) BriefScenarios(ctx context.Context, org callwright.OrgID, ids []string) ([]scenario.Scenario, error) {
	list, err := s.FindScenarios(ctx, org, ScenarioFilter{IDs: ids, Brief: true, Limit: len(ids)})
	found := make([]scenario.Scenario, len(list))
	for i, l := range list {
		found[i] = l.Scenario
	}
	return found, err
}
