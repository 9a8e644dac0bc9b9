package tornado

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/engine"
)

// Pathways stores the versions that a search forks; pathway.Service implements it. No method publishes a version.
type Pathways interface {
	// Version returns a version that is not archived, and its pathway. Number 0 is the draft. The error is CodeNotFound if the version or
	// the pathway is absent.
	Version(ctx context.Context, org callwright.OrgID, id string, number int) (pathway.Version, pathway.Pathway, error)
	// Versions returns a pathway and a page of its versions, newest first, without documents.
	Versions(
		ctx context.Context, org callwright.OrgID, id string, after callwright.Keyset, limit int,
	) (callwright.Page[pathway.Version], pathway.Pathway, error)
	// Fork stores d as the pathway's next version, with the given parent. The error is CodeInvalidState if the pathway has reached its
	// maximum number of versions.
	Fork(
		ctx context.Context, org callwright.OrgID, id string, parent int, name string, d *graph.Document,
	) (pathway.Version, error)
	// Discard archives a version. The error is CodeInvalidState if the version is in an environment, or waits for its tests.
	Discard(ctx context.Context, org callwright.OrgID, id string, number int) error
}

// Runs runs the tests of a Service; agenttest.Service implements it.
type Runs interface {
	// Suite returns the scenarios with the given ids in this order, or without ids the pathway's enabled scenarios, oldest first. The error
	// is CodeNotFound with the field scenario_ids if a scenario is absent or belongs to another pathway. It is CodeBadRequest with that
	// field if an id is repeated, or if the result is empty or exceeds MaxScenarios. persona is an id or empty. The error is CodeNotFound
	// with the field persona_id if the organization has no such persona.
	Suite(ctx context.Context, org callwright.OrgID, pathway, persona string, ids []string) ([]Scenario, error)
	// Try starts the runs of a trial and waits until all have ended. If a trial with this id was started before, Try only waits for it. The
	// runs continue if ctx ends. The error is CodeNotFound if a scenario or the version is absent.
	Try(ctx context.Context, org callwright.OrgID, t Trial) (Tried, error)
	// StopTrial cancels the runs of a trial that have not ended. It does nothing if the trial has ended or was never started.
	StopTrial(ctx context.Context, org callwright.OrgID, id string) error
	// CheckBudget rejects an invalid limit for runs. The error is CodeBadRequest with the field budget.tokens or budget.cost.
	CheckBudget(l engine.Limit) error
	// Case returns the input for the analysis of a run that has failed or is in error. The error is CodeNotFound if the run is absent, and
	// CodeInvalidState if it is in another state.
	Case(ctx context.Context, org callwright.OrgID, run string) (analysis.Case, error)
}

// Trial is a request to run scenarios with one version, for a session.
type Trial struct {
	ID        string // id of the batch, or of the simulation set if Runs exceeds 1
	Pathway   string // id of the pathway
	Version   int
	Scenarios []string     // ids of the scenarios
	Runs      int          // number of runs of each scenario
	Budget    engine.Limit // limit of all runs together; the zero value means no limit
}

// Tried is the result of a Trial, with the usage of all of its runs.
type Tried struct {
	Tallies map[string]Tally `json:"tallies"` // by id of the scenario
	Usage   engine.Usage     `json:"usage"`
	Spend   engine.Spend     `json:"spend"`
}
