package agenttest

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/run"
)

// Documents returns the sources of pathway versions. pathway.Service implements it.
type Documents interface {
	// Version returns a version that is not archived. It returns CodeNotFound if the version is absent or archived.
	Version(ctx context.Context, org callwright.OrgID, id string, number int) (pathway.Version, pathway.Pathway, error)
}

// analyzeTime is the timeout of a model's analysis of a run.
const analyzeTime = time.Minute

// AnalyzeRun determines the cause of a FAILED or ERROR run, and suggests changes to the agent. For an ERROR run, and if Config.Analyst is
// nil or not capable of analyses, it returns the analysis of the rules: see analysis.ByRules. It does not store the analysis: every call
// queries the model again. It returns CodeNotFound if the run is absent, CodeInvalidState if the run is in another state, and
// CodeTooManyRequests or CodeUnavailable if the model fails.
func (s *Service) AnalyzeRun(ctx context.Context, org callwright.OrgID, id string) (analysis.Analysis, error) {
	c, err := s.Case(ctx, org, id)
	if err != nil {
		return analysis.Analysis{}, err
	}
	asking, cancel := context.WithTimeout(ctx, analyzeTime)
	defer cancel()
	a, err := analysis.Analyze(asking, s.cfg.Analyst, c)
	if err != nil {
		err = s.asked(ctx, org, "the model that analyzes runs", err)
	}
	return a, err
}

// Case returns the input of a run's analysis, with the source of the tested version. It returns CodeNotFound if the run is absent, and
// CodeInvalidState if the run is neither FAILED nor ERROR, or has no outcome.
func (s *Service) Case(ctx context.Context, org callwright.OrgID, id string) (analysis.Case, error) {
	r, snap, err := s.GetRun(ctx, org, id)
	switch {
	case err != nil:
		return analysis.Case{}, err
	case r.State != run.Failed && r.State != run.Error || r.Outcome == nil:
		return analysis.Case{}, callwright.Errorf(callwright.CodeInvalidState,
			"only a run that is FAILED or ERROR can be analyzed: this one is %s", r.State)
	}
	c := analysis.Case{Scenario: snap.Scenario, Outcome: *r.Outcome}
	c.Nodes, err = s.written(ctx, r)
	return c, err
}

// written returns the source of the tested version as nodes. A persona is a single node. The result is empty if the version is absent or
// archived, or if Config.Personas (for a persona) or Config.Documents (for a pathway) is nil.
func (s *Service) written(ctx context.Context, r run.Run) ([]analysis.Node, error) {
	if r.Persona != "" {
		if s.cfg.Personas == nil {
			return nil, nil
		}
		v, err := s.cfg.Personas.LoadPinned(ctx, r.Org, r.Persona, r.Version)
		if err != nil {
			return nil, callwright.IgnoreNotFound(err)
		}
		return []analysis.Node{{ID: "persona", Name: "the persona", Text: v.Personality + "\n\n" + v.Orchestration}}, nil
	}
	if s.cfg.Documents == nil {
		return nil, nil
	}
	v, _, err := s.cfg.Documents.Version(ctx, r.Org, r.Pathway, r.Version)
	if err != nil {
		return nil, callwright.IgnoreNotFound(err)
	}
	return analysis.NodesOf(v.Document), nil
}
