package agenttest

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/run"
)

// Documents reads the sources of versions; pathway.Service implements it.
type Documents interface {
	// Version returns a version that is not archived. CodeNotFound: it is absent or archived.
	Version(ctx context.Context, org callwright.OrgID, id string, number int) (pathway.Version, pathway.Pathway, error)
}

// analyzeTime bounds a model's analysis of a run.
const analyzeTime = time.Minute

// AnalyzeRun determines the cause of a FAILED or ERROR run, and suggests changes to the agent. Without a capable Config.Analyst, it
// returns the analysis of the rules: see analysis.ByRules. The analysis is not stored: every call asks the model again.
// CodeNotFound: the run is absent. CodeInvalidState: the run is in another state. CodeTooManyRequests, CodeUnavailable: the model
// has failed.
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

// Case returns the input of a run's analysis, with the source of the tested version. CodeNotFound: the run is absent.
// CodeInvalidState: it is neither FAILED nor ERROR.
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

// written returns the source of the tested version: its nodes, or the persona as one. It returns none for an archived version, and
// without Config.Documents.
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
