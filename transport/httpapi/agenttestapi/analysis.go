package agenttestapi

import (
	"context"

	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// AnalyzeTestRun serves POST /v1/agent-testing/runs/{id}/analyze. It returns the reason why a run failed or ended with an error, and
// suggested fixes.
func (a *api) AnalyzeTestRun(ctx context.Context, params oas.AnalyzeTestRunParams) (*oas.TestAnalysisReply, error) {
	found, err := a.cfg.Tests.AnalyzeRun(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	record := oas.TestAnalysis{
		RootCause: found.Cause, Suggestions: make([]oas.TestSuggestion, len(found.Suggestions)), NodeIDToName: found.Names,
		Fault: oas.TestAnalysisFault(found.Fault), BlamedNodeID: wire.NilText(found.Node), AnalyzedBy: found.By,
	}
	for i, s := range found.Suggestions {
		record.Suggestions[i] = oas.TestSuggestion{
			Type: oas.TestFixKind(s.Kind), TargetNodeID: wire.NilText(s.Node), TargetNodeName: wire.NilText(s.Name),
			Description: s.Description, SuggestedChange: s.Change, Confidence: s.Confidence,
		}
	}
	return &oas.TestAnalysisReply{Data: oas.TestAnalysisResult{Analysis: record}}, nil
}
