package agenttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/node"
)

// RunRequest starts a run.
type RunRequest struct {
	Version  *int           // number of the version to test; nil: the version in production
	Override map[string]any // replaces members of the scenario's request data, key by key
	Webhook  string         // receives the end; empty: none
	Budget   engine.Limit   // the zero Limit: only engine.Config.Limit
}

// StartRun starts a run of a scenario. CodeNotFound: the scenario, or, with the field version_number, the version is absent.
// CodeTooManyRequests: the organization has MaxPending unended runs, including runs that its simulation sets will create; with
// RetryAfter: too many concurrent starts.
func (s *Service) StartRun(ctx context.Context, org callwright.OrgID, id string, r RunRequest) (Run, error) {
	if err := s.checkWebhook(r.Webhook); err != nil {
		return Run{}, err
	}
	if err := s.CheckBudget(r.Budget); err != nil {
		return Run{}, err
	}
	release, err := s.reserve(ctx, org, 1, 1)
	if err != nil {
		return Run{}, err
	}
	defer release()
	sc, err := s.cfg.Store.Scenario(ctx, org, id)
	if err != nil {
		return Run{}, err
	}
	if sc.RequestData, err = override(sc.RequestData, r.Override); err != nil {
		return Run{}, err
	}
	tested, err := s.tested(ctx, sc, r.Version)
	if err != nil {
		return Run{}, err
	}
	snap := s.snapshot(sc, tested, r.Override)
	run := s.newRun(org, partOf(sc, tested, snap.ID))
	run.Webhook, run.Budget = r.Webhook, r.Budget
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		// A run created during the deletion of its scenario would not be deleted with it.
		if err := s.cfg.Store.HoldScenario(ctx, org, id); err != nil {
			return err
		}
		if err := s.admit(ctx, org, 1); err != nil {
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
		s.wakeUp()
	}
	return run, err
}

// override returns request data with members replaced.
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
			"must be an object with which the request data has at most %d bytes as JSON", scenario.MaxRequestData)
	}
	return merged, nil
}

func (s *Service) checkWebhook(url string) error {
	switch {
	case url == "":
		return nil
	case s.cfg.URLs == nil || s.cfg.Notifier == nil:
		return callwright.Invalid("webhook_url", "cannot be used: this program sends no webhooks")
	default:
		return callwright.InField("webhook_url", s.cfg.URLs.CheckURL(url))
	}
}

// version is a version to be tested.
type version struct {
	number int
	hash   string
}

// tested finds the version to test: a number, or nil for the version in production. A draft is not tested, because it may change
// during a run.
func (s *Service) tested(ctx context.Context, sc scenario.Scenario, number *int) (version, error) {
	if number != nil && *number < 1 {
		return version{}, callwright.Invalid("version_number", "must be the number of a saved version: the draft is not tested")
	}
	if sc.Persona != "" {
		return s.testedPersona(ctx, sc, number)
	}
	sel := pathway.Selector{Environment: pathway.Production}
	if number != nil {
		sel = pathway.Selector{Number: *number}
	}
	g, n, err := s.cfg.Pathways.Load(ctx, sc.Org, sc.Pathway, sel)
	if e, ok := errors.AsType[*callwright.Error](err); ok && e.Field == "pathway_version" {
		named := *e
		named.Field = "version_number"
		if number == nil {
			named.Message = "is required, because no version of the pathway is in production"
		}
		return version{}, &named
	}
	if err != nil {
		return version{}, err
	}
	return version{n, g.Hash}, nil
}

// inProduction returns the number of a pathway's version in production; 0: none.
func (s *Service) inProduction(ctx context.Context, org callwright.OrgID, id string) (int, error) {
	_, n, err := s.cfg.Pathways.Load(ctx, org, id, pathway.Selector{Environment: pathway.Production})
	if errors.Is(err, callwright.ErrInvalidState) { // no longer valid, and may be replaced
		return n, nil
	}
	return n, ignoreAbsent(err)
}

// testedPersona finds the version of a persona to test. It hands over to the pathways that are in production when a run begins.
func (s *Service) testedPersona(ctx context.Context, sc scenario.Scenario, number *int) (version, error) {
	if s.cfg.Personas == nil {
		return version{}, errNoPersonas
	}
	if number == nil {
		_, v, err := s.cfg.Personas.Load(ctx, sc.Org, sc.Persona)
		return version{number: v.Number}, err
	}
	v, err := s.cfg.Personas.LoadPinned(ctx, sc.Org, sc.Persona, *number)
	if errors.Is(err, callwright.ErrNotFound) {
		err = &callwright.Error{
			Code: callwright.CodeNotFound, Field: "version_number",
			Message: fmt.Sprintf("the persona has no version %d that is or was in production: promote a draft to test it", *number),
		}
	}
	return version{number: v.Number}, err
}

// snapshot returns the snapshot of the current test.
func (s *Service) snapshot(sc scenario.Scenario, v version, override map[string]any) Snapshot {
	return Snapshot{
		ID: snapshotID(sc, v, override), Org: sc.Org, Scenario: sc, Version: v.number, Hash: v.hash, CreatedAt: s.cfg.Clock.Now(),
	}
}

// snapshotID returns the id of a snapshot. It is derived from the test, so that all runs with the same test share a snapshot. It
// needs only the scenario's fields of brief lists.
func snapshotID(sc scenario.Scenario, v version, override map[string]any) string {
	raw, err := json.Marshal([]any{sc.Org, sc.ID, sc.Revision, v.number, v.hash, override})
	if err != nil { // overrides of request data are JSON
		panic(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// partOf returns the common fields of a snapshot's runs.
func partOf(sc scenario.Scenario, v version, snapshot string) Part {
	return Part{
		Scenario: sc.ID, Revision: sc.Revision, Name: sc.Name, Pathway: sc.Pathway, Persona: sc.Persona, Version: v.number,
		Snapshot: snapshot,
	}
}

// newRun returns a run of a scenario.
func (s *Service) newRun(org callwright.OrgID, p Part) Run {
	return Run{
		ID: s.cfg.IDs.New(), Org: org, Scenario: p.Scenario, Name: p.Name, Pathway: p.Pathway, Persona: p.Persona,
		Version: p.Version, Snapshot: p.Snapshot, State: Pending, CreatedAt: s.cfg.Clock.Now(), Revision: 1,
	}
}

// checkPending refuses more unended runs than an organization may have.
func (s *Service) checkPending(ctx context.Context, org callwright.OrgID, more int) error {
	n, err := s.cfg.Store.CountUnended(ctx, org)
	if err != nil {
		return err
	}
	if n+more > MaxPending {
		return callwright.Errorf(callwright.CodeTooManyRequests,
			"at most %d runs of an organization may be waiting or running; %d are, and this would start %d: try again when they have ended",
			MaxPending, n, more)
	}
	return nil
}

// admit calls checkPending, and locks out other starts of the organization until the transaction of ctx ends, so that no two of
// them count the same runs.
func (s *Service) admit(ctx context.Context, org callwright.OrgID, more int) error {
	if err := s.cfg.Store.HoldStarts(ctx, org); err != nil {
		return err
	}
	return s.checkPending(ctx, org, more)
}

// The limits of concurrent starts on a node, in scenarios in memory: a group counts as several. Further starts wait.
const (
	maxStarts      = 16 // of all organizations
	maxStartsOfOrg = 8
	startsOfGroup  = 4
	startWait      = 5 * time.Second
)

func newStarts() *node.Budget {
	return &node.Budget{
		Total: maxStarts, Share: maxStartsOfOrg, Wait: startWait,
		Busy: "too many tests are being started at once: send the request again later",
	}
}

// reserve refuses a start of too many runs before reading large data, and waits for memory.
func (s *Service) reserve(ctx context.Context, org callwright.OrgID, runs int, weight int64) (release func(), err error) {
	if err := s.checkPending(ctx, org, runs); err != nil {
		return nil, err
	}
	release, err = s.starts.Claim(ctx, string(org), weight)
	return release, tooMany(ctx, err)
}
