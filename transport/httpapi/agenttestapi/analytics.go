package agenttestapi

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/stats"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// GetTestAnalytics serves GET /v1/agent-testing/analytics/{pathwayId}. It returns the counts and rates of a pathway's runs.
func (a *api) GetTestAnalytics(ctx context.Context, params oas.GetTestAnalyticsParams) (*oas.TestAnalyticsReply, error) {
	found, err := a.cfg.Tests.BasicAnalytics(ctx, httpapi.Org(ctx), agenttest.AnalyticsQuery{
		Pathway: params.PathwayId, Days: params.Days.Or(0), Scripted: params.IncludeScripted.Or(false),
	})
	if err != nil {
		return nil, err
	}
	b := found.About
	return &oas.TestAnalyticsReply{Data: oas.TestAnalytics{
		TotalRuns: b.Total, Passed: b.Passed, Failed: b.Failed, Errors: b.Errors, PassRate: wire.NilPtr(b.PassRate),
		FailureRate: wire.NilPtr(b.FailureRate), AvgScore: wire.NilPtr(b.Score), Coverage: wire.NilPtr(b.Coverage),
		ExcludedScripted: found.LeftOut, ExcludedReason: whyExcluded(found.WhyLeftOut()), Runs: recentRecords(b.Recent, found.ScenarioName),
	}}, nil
}

// GetEnhancedTestAnalytics serves GET /v1/agent-testing/analytics/{pathwayId}/enhanced. It adds scores, a trend and the failures by node to
// the basic analytics.
func (a *api) GetEnhancedTestAnalytics(
	ctx context.Context, params oas.GetEnhancedTestAnalyticsParams,
) (*oas.TestEnhancedAnalyticsReply, error) {
	found, err := a.cfg.Tests.EnhancedAnalytics(ctx, httpapi.Org(ctx), agenttest.AnalyticsQuery{
		Pathway: params.PathwayId, Days: params.Days.Or(0), Scripted: params.IncludeScripted.Or(false),
	})
	if err != nil {
		return nil, err
	}
	r := found.About
	answer := oas.TestEnhancedAnalytics{
		TotalRuns: r.Total, Passed: r.Passed, Failed: r.Failed, Errors: r.Errors, PassRate: wire.NilPtr(r.PassRate),
		FailureRate: wire.NilPtr(r.FailureRate), AvgScore: wire.NilPtr(r.Score), Coverage: wire.NilPtr(r.Coverage),
		ExcludedScripted: found.LeftOut, ExcludedReason: whyExcluded(found.WhyLeftOut()), Runs: recentRecords(r.Recent, found.ScenarioName), HealthScore: wire.NilPtr(r.Health), ReliabilityScore: wire.NilPtr(r.Reliability),
		Trend:              oas.TestTrend{Weekly: oas.TestTrendDirection(r.Trend), DailyPassRates: make([]oas.TestDailyRate, len(r.Days))},
		NodeFailureHeatmap: make([]oas.TestNodeFailures, len(r.Heatmap)), UnplacedFailures: r.Unplaced, WeakestLink: oas.NilTestWeakestLink{Null: true},
		SankeyData: sankeyRecord(r.Flow),
	}
	for i, d := range r.Days {
		answer.Trend.DailyPassRates[i] = oas.TestDailyRate{Date: d.Date, Rate: d.Rate, Count: d.Scored}
	}
	for i, n := range r.Heatmap {
		answer.NodeFailureHeatmap[i] = oas.TestNodeFailures{
			NodeID: n.Node, NodeName: shown(n.Name), FailureCount: n.Failed, TotalTraversals: n.Visits, FailureRate: n.Rate(),
		}
	}
	if n := r.Weakest; n != nil {
		answer.WeakestLink = oas.NewNilTestWeakestLink(oas.TestWeakestLink{
			NodeID: n.Node, NodeName: shown(n.Name), FailureRate: n.Rate(),
		})
	}
	return &oas.TestEnhancedAnalyticsReply{Data: answer}, nil
}

// whyExcluded appends the client's remedy to the reason why runs are not counted. It returns null for an empty reason.
func whyExcluded(reason string) oas.NilString {
	if reason == "" {
		return oas.NilString{Null: true}
	}
	return oas.NewNilString(reason + "; include_scripted=true counts all.")
}

// maxShown is the maximum length of a shown name, in bytes.
const maxShown = 200

func shown(name string) string { return callwright.Clip(name, maxShown) }

// states maps the states of statistics to the contract's names.
var states = map[stats.State]run.State{
	stats.Passed: run.Passed, stats.Failed: run.Failed, stats.Error: run.Error, stats.Cancelled: run.Cancelled,
}

func recentRecords(runs []analytics.Run, scenarioName func(id string) string) []oas.TestAnalyticsRun {
	list := make([]oas.TestAnalyticsRun, len(runs))
	for i, r := range runs {
		list[i] = oas.TestAnalyticsRun{
			ID: r.ID, ScenarioID: r.Scenario, ScenarioName: shown(scenarioName(r.Scenario)), Status: oas.TestRunStatus(states[r.State]),
			Score: wire.NilPtr(r.Summary.Score()), CreatedAt: r.CreatedAt,
		}
	}
	return list
}

func sankeyRecord(f analytics.Flow) oas.TestSankey {
	record := oas.TestSankey{Nodes: make([]oas.TestSankeyNode, len(f.Entries)), Links: make([]oas.TestSankeyLink, len(f.Links))}
	for i, e := range f.Entries {
		record.Nodes[i] = oas.TestSankeyNode{
			ID: e.ID, Name: shown(e.Name), Type: e.Type, Category: oas.TestSankeyNodeCategory(e.Category),
		}
	}
	for i, l := range f.Links {
		record.Links[i] = oas.TestSankeyLink{
			Source: l.Source, Target: l.Target, Value: l.Runs, PassCount: l.Passed, FailCount: l.Failed, ErrorCount: l.Unscored,
		}
	}
	return record
}
