package agenttest

import (
	"context"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/tornado"
)

var _ tornado.Runs = (*Service)(nil)

// Suite returns the scenarios of a tornado session: see tornado.Runs. If ids is empty, it returns all enabled scenarios of the pathway. The
// persona must exist if it is not empty, but it does not restrict the scenarios. Required is false for scenarios that are not enabled,
// because the gate ignores them.
func (s *Service) Suite(
	ctx context.Context, org callwright.OrgID, pathway, persona string, ids []string,
) ([]tornado.Scenario, error) {
	if len(ids) > tornado.MaxScenarios {
		return nil, callwright.Invalid("scenario_ids", "must have at most %d ids", tornado.MaxScenarios)
	}
	if persona != "" {
		if err := s.versions.KnownPersona(ctx, org, persona); err != nil {
			return nil, err
		}
	}
	f := ScenarioFilter{IDs: ids, Pathway: pathway, Brief: true, Limit: tornado.MaxScenarios + 1}
	if len(ids) == 0 {
		f.Enabled = new(true)
	}
	list, err := s.cfg.Store.FindScenarios(ctx, org, f)
	switch {
	case err != nil:
		return nil, err
	case len(list) > tornado.MaxScenarios:
		return nil, callwright.Invalid("scenario_ids",
			"is required, because the pathway has more than %[1]d enabled scenarios: name at most %[1]d", tornado.MaxScenarios)
	case len(ids) == 0 && len(list) == 0:
		return nil, callwright.Invalid("scenario_ids", "is required, because the pathway has no enabled scenario")
	}
	found := make(map[string]tornado.Scenario, len(list))
	for _, l := range slices.Backward(list) {
		found[l.ID] = tornado.Scenario{ID: l.ID, Required: l.Required && l.Enabled}
		if f.Enabled != nil {
			ids = append(ids, l.ID)
		}
	}
	suite := make([]tornado.Scenario, len(ids))
	for i, id := range ids {
		sc, ok := found[id]
		switch {
		case !ok:
			return nil, callwright.InField("scenario_ids", callwright.NotFound("scenario "+callwright.Clip(id, maxNamedID)))
		case slices.Contains(ids[:i], id):
			return nil, callwright.Invalid("scenario_ids", "must be unique: %s is given twice", callwright.Clip(id, maxNamedID))
		}
		suite[i] = sc
	}
	return suite, nil
}

// maxNamedID is the length in bytes to which an error truncates an absent id.
const maxNamedID = 64
