package agenttest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
)

// Documents reads how versions were written; pathway.Service implements it.
type Documents interface {
	// Version returns a version that is not archived. CodeNotFound: there is none.
	Version(ctx context.Context, org callwright.OrgID, id string, number int) (pathway.Version, pathway.Pathway, error)
}

// analyzeTime bounds how long a model analyzes a run.
const analyzeTime = time.Minute

// AnalyzeRun finds out why a run has failed or is in error, and what could mend the agent. Without a Config.Analyst that can,
// it says what the rules know: see analysis.ByRules. Nothing is stored: every analysis asks the model anew. CodeNotFound: there is
// no such run. CodeInvalidState: the run is in another state. CodeTooManyRequests, CodeUnavailable: the model has failed.
func (s *Service) AnalyzeRun(ctx context.Context, org callwright.OrgID, id string) (analysis.Analysis, error) {
	r, snap, err := s.GetRun(ctx, org, id)
	switch {
	case err != nil:
		return analysis.Analysis{}, err
	case r.State != Failed && r.State != Error || r.Outcome == nil:
		return analysis.Analysis{}, callwright.Errorf(callwright.CodeInvalidState,
			"only a run that is FAILED or ERROR can be analyzed: this one is %s", r.State)
	}
	c := analysis.Case{Scenario: snap.Scenario, Outcome: *r.Outcome}
	if c.Nodes, err = s.written(ctx, r); err != nil {
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

// written returns how the tested version was written: its nodes, or the persona as one. A version that was archived since, or whose
// documents nobody reads, has none.
func (s *Service) written(ctx context.Context, r Run) ([]analysis.Node, error) {
	if r.Persona != "" {
		if s.cfg.Personas == nil {
			return nil, nil
		}
		v, err := s.cfg.Personas.LoadPinned(ctx, r.Org, r.Persona, r.Version)
		if err != nil {
			return nil, ignoreAbsent(err)
		}
		return []analysis.Node{{ID: "persona", Name: "the persona", Text: v.Personality + "\n\n" + v.Orchestration}}, nil
	}
	if s.cfg.Documents == nil {
		return nil, nil
	}
	v, _, err := s.cfg.Documents.Version(ctx, r.Org, r.Pathway, r.Version)
	if err != nil {
		return nil, ignoreAbsent(err)
	}
	return nodesOf(v.Document), nil
}

// shown lists the members of a node that a model reads. Addresses, headers and bodies of requests are not among them: they may
// hold keys.
var shown = []string{
	"name", "text", "prompt", "condition", "extractVars", "isStart", "isGlobal", "globalLabel", "globalDescription",
	"enableGlobalAutoReturn", "digits", "kb",
}

// nodesOf returns the nodes of a document, each with the edges that lead on from it.
func nodesOf(d graph.Document) []analysis.Node {
	type edge struct {
		Target string `json:"target"`
		Data   struct {
			Label       string `json:"label,omitempty"`
			Description string `json:"description,omitempty"`
			AlwaysPick  bool   `json:"alwaysPick,omitempty"`
		} `json:"data"`
	}
	edges := map[string][]edge{}
	for _, raw := range d.Edges {
		var e struct {
			Source string `json:"source"`
			edge
		}
		if json.Unmarshal(raw, &e) == nil {
			edges[e.Source] = append(edges[e.Source], e.edge)
		}
	}
	nodes := make([]analysis.Node, 0, len(d.Nodes))
	for _, raw := range d.Nodes {
		var n struct {
			ID   string                     `json:"id"`
			Type string                     `json:"type"`
			Data map[string]json.RawMessage `json:"data"`
		}
		if json.Unmarshal(raw, &n) != nil || n.ID == "" {
			continue
		}
		text := map[string]any{"type": n.Type, "edges": edges[n.ID]}
		for _, name := range shown {
			if value, given := n.Data[name]; given {
				text[name] = value
			}
		}
		var name string
		_ = json.Unmarshal(n.Data["name"], &name) // it stays empty if it is no text
		if written, err := json.Marshal(text); err == nil {
			nodes = append(nodes, analysis.Node{ID: n.ID, Name: name, Text: callwright.Redact(string(written))})
		}
	}
	return nodes
}
