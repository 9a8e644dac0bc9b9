package tornado

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/engine"
)

// Pathways stores the versions of a search; pathway.Service implements it. No method publishes a version.
type Pathways interface {
	// Version returns an unarchived version and its pathway. CodeNotFound: it is absent.
	Version(ctx context.Context, org callwright.OrgID, id string, number int) (pathway.Version, pathway.Pathway, error)
	// Versions returns a pathway and a page of its versions, newest first, without documents.
	Versions(
		ctx context.Context, org callwright.OrgID, id string, after callwright.Keyset, limit int,
	) (callwright.Page[pathway.Version], pathway.Pathway, error)
	// Fork stores the pathway's next version with a parent. CodeInvalidState: the pathway has had its maximum number of versions.
	Fork(
		ctx context.Context, org callwright.OrgID, id string, parent int, name string, d *graph.Document,
	) (pathway.Version, error)
	// Discard archives a version. CodeInvalidState: the version is in an environment, or waits for its tests.
	Discard(ctx context.Context, org callwright.OrgID, id string, number int) error
}

// Runs are the tests of a Service; agenttest.Service implements it.
type Runs interface {
	// Suite returns the scenarios of a pathway with these ids, in this order, or without ids its enabled ones, the oldest first.
	// CodeNotFound with the field scenario_ids: a scenario is absent, or belongs to another pathway. CodeBadRequest with that
	// field: the result has no or more than MaxScenarios scenarios. persona is empty or an id. CodeNotFound with the field
	// persona_id: the organization has no such persona.
	Suite(ctx context.Context, org callwright.OrgID, pathway, persona string, ids []string) ([]Scenario, error)
	// Try starts the runs of a trial and waits for their ends. With the id of a started trial it waits for that trial. If ctx ends,
	// the runs continue. CodeNotFound: a scenario or the version is absent.
	Try(ctx context.Context, org callwright.OrgID, t Trial) (Tried, error)
	// StopTrial cancels the runs of a trial that have not ended. A trial that was not started or has ended does not change.
	StopTrial(ctx context.Context, org callwright.OrgID, id string) error
	// CheckBudget rejects an invalid limit of runs: CodeBadRequest with the field budget.tokens or budget.cost.
	CheckBudget(l engine.Limit) error
	// Case returns the input for the analysis of a run that has failed or is in error. CodeNotFound: it is absent.
	// CodeInvalidState: it is in another state.
	Case(ctx context.Context, org callwright.OrgID, run string) (analysis.Case, error)
}

// Trial is a set of runs of some scenarios with one version, for a session.
type Trial struct {
	ID        string // of the batch, or, with more than one run of each, of the simulation set
	Pathway   string // id
	Version   int
	Scenarios []string     // ids
	Runs      int          // of each scenario
	Budget    engine.Limit // of all runs together; the zero Limit: none
}

// Tried is the result of a Trial.
type Tried struct {
	Tallies map[string]Tally `json:"tallies"` // by scenario
	Usage   engine.Usage     `json:"usage"`
	Spend   engine.Spend     `json:"spend"`
}
