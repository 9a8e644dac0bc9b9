package agenttest

import (
	"cmp"
	"context"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/scenario"
)

// MaxStored is the maximum number of scenarios in an organization.
const MaxStored = 1000

// CreateScenario checks and stores a new scenario, and sets its id, its timestamps and the ids of its assertions. It returns FieldErrors if
// the scenario is invalid, and CodeNotFound with the field "pathway_id" or "persona_id" if the tested object is absent. It returns
// CodeConflict with the field "name" if the pathway or the persona has a scenario with this name. It returns CodeInvalidState if the
// organization already has MaxStored scenarios.
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
			return callwright.Errorf(callwright.CodeInvalidState, "an organization can have at most %d scenarios: delete some first", MaxStored)
		}
		return s.cfg.Store.InsertScenario(ctx, sc)
	})
}

// check returns an error for an invalid scenario. If Config.Model is set, it also checks the models that assertions name.
func (s *Service) check(sc scenario.Scenario) error {
	if err := sc.Check(); err != nil || s.cfg.Model == nil {
		return err
	}
	return sc.CheckModels(s.cfg.Model)
}

// Scenario returns one scenario, or CodeNotFound if the id is unknown.
func (s *Service) Scenario(ctx context.Context, org callwright.OrgID, id string) (scenario.Scenario, error) {
	return s.cfg.Store.Scenario(ctx, org, id)
}

// ListScenarios returns a page of scenarios, newest first, each with its most recent run. It skips the first offset scenarios. A page
// contains at most f.Limit scenarios (0 means MaxStored) and about MaxRead bytes. Only Page.Next shows whether more scenarios follow.
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

// skip returns a filter for the scenarios after the first offset scenarios. found is false if there are none. It reads scenarios in short
// form, at most MaxStored at a time.
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

// UpdateScenario changes a scenario. Existing runs keep their snapshots. It returns CodeNotFound if the scenario is absent, and FieldErrors
// if the changed scenario is invalid. It returns CodeConflict with the field "name" if the name is taken, and CodeConflict without a field
// if p.Revision is set and the scenario has another revision.
func (s *Service) UpdateScenario(
	ctx context.Context, org callwright.OrgID, id string, p scenario.Patch,
) (sc scenario.Scenario, err error) {
	var refused error // a permanent error: no retry would succeed
	err = callwright.Retry(ctx, func(ctx context.Context) error {
		if sc, err = s.cfg.Store.Scenario(ctx, org, id); err != nil {
			return err
		}
		if p.Revision != nil && *p.Revision != sc.Revision {
			refused = callwright.Errorf(callwright.CodeConflict,
				"the scenario was changed after you read it: check the stored version, then save again to replace it")
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

// DeleteScenario deletes a scenario and its runs. Runs of a group that has not ended continue, and remain until the group has ended.
func (s *Service) DeleteScenario(ctx context.Context, org callwright.OrgID, id string) error {
	return s.cfg.Store.DeleteScenario(ctx, org, id)
}

// Size returns the approximate size of a scenario in a list, in bytes.
func (l Listed) Size() int { return l.Scenario.Size() }

// Keyset returns the position of a scenario in a list.
func (l Listed) Keyset() callwright.Keyset { return callwright.Keyset{At: l.CreatedAt, ID: l.ID} }

// subjects implements group.Scenarios with a Store.
type subjects struct{ Store }

// BriefScenarios returns the scenarios with these ids, without their details. It omits absent scenarios.
func (s subjects) BriefScenarios(ctx context.Context, org callwright.OrgID, ids []string) ([]scenario.Scenario, error) {
	list, err := s.FindScenarios(ctx, org, ScenarioFilter{IDs: ids, Brief: true, Limit: len(ids)})
	found := make([]scenario.Scenario, len(list))
	for i, l := range list {
		found[i] = l.Scenario
	}
	return found, err
}
