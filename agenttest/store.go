package agenttest

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// ErrNameTaken means that another scenario of the same pathway or persona already has the name.
var ErrNameTaken = &callwright.Error{
	Code: callwright.CodeConflict, Field: "name", Message: "must be unique among the scenarios of the pathway or the persona",
}

// Store stores scenarios, their runs and the groups of runs. Package agenttesttest contains a test suite for each part, and RunStore for
// the whole.
//
// Returned values share no memory with the store. They equal the stored values: times are in UTC with microseconds, and a nil list, map or
// json.RawMessage stays nil. JSON null stays null, and JSON keeps its values; the order of members and the spelling of numbers may change.
// Texts of outcomes and results may contain any characters, including U+0000. Another organization's rows count as absent. Inserting an id
// that a row of any organization has returns CodeConflict. Of conflicting concurrent calls exactly one succeeds. The store checks no
// references: a run may name a scenario, a snapshot or a group that is absent. Methods take part in the transaction of ctx: see
// callwright.Atomic.
//
// The following are encrypted at rest, because they contain people's speech and keys of other systems: scenarios with their texts, mocks,
// assertions and metadata, snapshots, outcomes, the Error and Failure of results, journals, webhook addresses, and the Names in a group's
// Scenarios.
type Store interface {
	Scenarios
	run.Store
	group.Store
}

// Scenarios is the part of a Store that holds scenarios.
type Scenarios interface {
	// InsertScenario adds a scenario with Revision 1, regardless of s.Revision. It returns CodeConflict if the id exists, and ErrNameTaken
	// if another scenario of the organization has the same Pathway, Persona and Name. Names are case-sensitive.
	InsertScenario(ctx context.Context, s scenario.Scenario) error
	// Scenario returns one scenario, or CodeNotFound if the scenario is absent.
	Scenario(ctx context.Context, org callwright.OrgID, id string) (scenario.Scenario, error)
	// UpdateScenario replaces a scenario whose stored Revision is s.Revision, and increments the stored Revision. It never replaces Org,
	// Pathway, Persona and CreatedAt. It returns CodeConflict if the Revision differs, even if the name is taken too; ErrNameTaken if
	// another scenario has the name; and CodeNotFound if the scenario is absent.
	UpdateScenario(ctx context.Context, s scenario.Scenario) error
	// DeleteScenario deletes a scenario and its runs, including running ones. With each run it deletes the run's journal, the run's
	// snapshot if no other run uses it, and the run's group if it contains no other run. Runs of groups that have not ended remain.
	// DeleteScenario returns CodeNotFound if the scenario is absent.
	DeleteScenario(ctx context.Context, org callwright.OrgID, id string) error
	// HoldScenario locks a scenario until the transaction of ctx ends. DeleteScenario waits for it, and then also deletes the runs that the
	// transaction added. HoldScenario returns CodeNotFound if the scenario is absent. It must be called in a transaction.
	HoldScenario(ctx context.Context, org callwright.OrgID, id string) error
	// FindScenarios returns the scenarios that f selects, in descending order of (CreatedAt, ID), with the most recent run of each. After
	// the second scenario, it stops as soon as the total Size exceeds MaxRead.
	FindScenarios(ctx context.Context, org callwright.OrgID, f ScenarioFilter) ([]Listed, error)
	// RequiredScenarios returns the Revisions, by id, of at most limit enabled scenarios of a pathway that are required for promotion.
	RequiredScenarios(ctx context.Context, org callwright.OrgID, pathway string, limit int) (map[string]int64, error)
	// CountScenarios returns the number of an organization's scenarios.
	CountScenarios(ctx context.Context, org callwright.OrgID) (int, error)
}

// ScenarioFilter selects a page of scenarios that satisfy all conditions. A zero condition accepts every scenario, but a Limit of 0 selects
// none.
type ScenarioFilter struct {
	IDs      []string // empty means any
	Pathway  string
	Persona  string
	Category scenario.Category
	Enabled  *bool
	Required *bool
	Brief    bool              // only ids, Name, Category, Required, Enabled, times and Revision; no recent runs
	After    callwright.Keyset // (CreatedAt, ID) of the last scenario of the previous page
	Limit    int
}

// Listed is a scenario with its most recent run.
type Listed struct {
	scenario.Scenario

	Recent *run.Run // the run with the highest (CreatedAt, ID) that is no Experiment, without Outcome and Summary; nil means none
}

// MaxRead is the size in bytes after which a list of scenarios ends: only its last scenario may exceed it. The list always includes its
// first two scenarios.
const MaxRead = 4 << 20
