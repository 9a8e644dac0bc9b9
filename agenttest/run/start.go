package run

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Request describes a run to start.
type Request struct {
	Version  *int           // number of the version to test; nil means the version in production
	Override map[string]any // replaces values of the scenario's request data, key by key
	Webhook  string         // URL that is notified of the end; empty means none
	Budget   engine.Limit   // the zero Limit means only engine.Config.Limit
}

// StartRun starts a run of a scenario. It returns CodeBadRequest if a field of r is invalid, CodeNotFound if the scenario is absent, and
// CodeNotFound with the field version_number if the version is absent. It returns CodeTooManyRequests if the organization has MaxPending
// runs that have not ended, including runs that its simulation sets will still create. It returns the same code with a RetryAfter if too
// many tests start concurrently.
func (s *Service) StartRun(ctx context.Context, org callwright.OrgID, id string, r Request) (Run, error) {
	if err := s.CheckWebhook(r.Webhook); err != nil {
		return Run{}, err
	}
	if err := s.CheckBudget(r.Budget); err != nil {
		return Run{}, err
	}
	release, err := s.Worker.Reserve(ctx, org, 1, 1)
	if err != nil {
		return Run{}, err
	}
	defer release()
	sc, err := s.cfg.Scenarios.Scenario(ctx, org, id)
	if err != nil {
		return Run{}, err
	}
	if sc.RequestData, err = override(sc.RequestData, r.Override); err != nil {
		return Run{}, err
	}
	tested, err := s.cfg.Versions.Find(ctx, sc, r.Version)
	if err != nil {
		return Run{}, err
	}
	snap := NewSnapshot(sc, tested, r.Override, s.cfg.Clock.Now())
	run := NewSubject(sc, tested, snap.ID).New(org, s.cfg.IDs.New(), s.cfg.Clock.Now())
	run.Webhook, run.Budget = r.Webhook, r.Budget
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		// Without the lock, a run that is created while its scenario is being deleted would remain.
		if err := s.cfg.Scenarios.HoldScenario(ctx, org, id); err != nil {
			return err
		}
		if err := s.Worker.Admit(ctx, org, 1); err != nil {
			return err
		}
		held, err := s.cfg.Store.HoldSnapshots(ctx, org, []string{snap.ID})
		if err != nil {
			return err
		}
		if len(held) == 0 {
			if err := s.cfg.Store.InsertSnapshots(ctx, []Snapshot{snap}); err != nil {
				return err
			}
		}
		return s.cfg.Store.InsertRuns(ctx, []Run{run})
	})
	if err == nil {
		s.Worker.Wake()
	}
	return run, err
}

// override returns a copy of the request data in which the given overrides replace values with the same keys. Without overrides, it returns
// the data itself. It returns an error if the result is too large or cannot be encoded as JSON.
func override(data, with map[string]any) (map[string]any, error) {
	if len(with) == 0 {
		return data, nil
	}
	merged := maps.Clone(data)
	if merged == nil {
		merged = map[string]any{}
	}
	maps.Copy(merged, with)
	raw, err := json.Marshal(merged)
	if err != nil || len(raw) > scenario.MaxRequestData {
		return nil, callwright.Invalid("request_data_override",
			"must leave the scenario's request_data at most %d bytes of JSON when it is added", scenario.MaxRequestData)
	}
	return merged, nil
}

// CheckWebhook returns CodeBadRequest for a webhook URL that is forbidden, or if the program sends no webhooks. An empty URL is valid.
func (s *Service) CheckWebhook(url string) error {
	switch {
	case url == "":
		return nil
	case s.cfg.URLs == nil || s.cfg.Notifier == nil:
		return callwright.Invalid("webhook_url", "must be empty: this server sends no webhooks")
	default:
		return callwright.InField("webhook_url", s.cfg.URLs.CheckURL(url))
	}
}

// These constants limit the budget of a run or a group.
const (
	MaxTokens = 1_000_000_000
	MaxCost   = 1_000_000 // in the currency of engine.Config.Pricer
)

// CheckBudget returns CodeBadRequest for a negative or too large budget, and for a limited cost if the prices of the models are unknown.
func (s *Service) CheckBudget(l engine.Limit) error {
	switch {
	case l.Tokens < 0 || l.Tokens > MaxTokens:
		return callwright.Invalid("budget.tokens", "must be from 1 to %d", MaxTokens)
	case l.Cost < 0 || l.Cost.Amount() > MaxCost:
		return callwright.Invalid("budget.cost", "must be more than 0 and at most %d", MaxCost)
	case l.Cost > 0 && !s.cfg.Engine.Prices():
		return callwright.Invalid("budget.cost",
			"must be absent: this server does not know the prices of its models; set budget.tokens instead")
	}
	return nil
}
