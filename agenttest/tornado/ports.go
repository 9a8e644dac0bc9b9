package tornado

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/engine"
)

// Pathways keep the versions that are searched; pathway.Service implements it. Nothing here publishes a version.
type Pathways interface {
	// Version returns a version that is not archived, and its pathway. CodeNotFound: there is none.
	Version(ctx context.Context, org callwright.OrgID, id string, number int) (pathway.Version, pathway.Pathway, error)
	// Versions returns a pathway and a page of its versions, newest first, without documents.
	Versions(
		ctx context.Context, org callwright.OrgID, id string, after callwright.Keyset, limit int,
	) (callwright.Page[pathway.Version], pathway.Pathway, error)
	// Fork stores the pathway's next version with a parent. CodeInvalidState: the pathway has had its most versions.
	Fork(
		ctx context.Context, org callwright.OrgID, id string, parent int, name string, d *graph.Document,
	) (pathway.Version, error)
	// Discard archives a version. CodeInvalidState: the version is in an environment, or waits for its tests.
	Discard(ctx context.Context, org callwright.OrgID, id string, number int) error
}

// Runs are the tests of a Service; agenttest.Service implements it.
type Runs interface {
	// Suite returns the scenarios of a pathway with these ids, in this order, or its enabled ones if there are no ids, the oldest
	// first. CodeNotFound with the field scenario_ids: one is absent, or is not of the pathway. CodeBadRequest with that field:
	// there is none, or there are more than MaxScenarios. persona: "" or an id, CodeNotFound with the field persona_id when the
	// organization has no such persona.
	Suite(ctx context.Context, org callwright.OrgID, pathway, persona string, ids []string) ([]Scenario, error)
	// Try starts the runs of a trial and waits for their ends. With the id of a trial that was started before it goes on to wait
	// for that. If ctx ends, the runs go on. CodeNotFound: a scenario or the version is absent.
	Try(ctx context.Context, org callwright.OrgID, t Trial) (Tried, error)
	// StopTrial cancels the runs of a trial that have not ended. One that was not started, or has ended, stays as it is.
	StopTrial(ctx context.Context, org callwright.OrgID, id string) error
	// CheckBudget refuses a limit that the runs cannot have; CodeBadRequest with the field budget.tokens or budget.cost.
	CheckBudget(l engine.Limit) error
	// Case returns a run that has failed or is in error, as it is analyzed. CodeNotFound: it is absent. CodeInvalidState: it is in
	// another state.
	Case(ctx context.Context, org callwright.OrgID, run string) (analysis.Case, error)
}

// Trial is a piece of the tests of a session: runs of some scenarios with one version.
type Trial struct {
	ID        string // of the batch, or, with more than one run of each, of the simulation set
	Pathway   string // id
	Version   int
	Scenarios []string     // ids
	Runs      int          // of each scenario
	Budget    engine.Limit // of all runs together; the zero Limit: none
}

// Tried holds what came of a Trial.
type Tried struct {
	Tallies map[string]Tally `json:"tallies"` // by scenario
	Usage   engine.Usage     `json:"usage"`
	Spend   engine.Spend     `json:"spend"`
}
