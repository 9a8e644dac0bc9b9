package agenttest

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// ErrNameTaken reports that another scenario of the same pathway or persona has the name.
var ErrNameTaken = &callwright.Error{
	Code: callwright.CodeConflict, Field: "name", Message: "must be unique among the scenarios of the pathway or the persona",
}

// Store stores scenarios, their runs and the groups of runs. Package agenttesttest tests each part with a suite, and all with
// RunStore.
//
// Returned values share no memory with the store. They equal what was stored: times are in UTC with microseconds, a nil list, map
// or json.RawMessage stays nil, JSON null stays null, and JSON keeps its values; the order of members and the spelling of numbers
// may change. Texts of outcomes and results may hold any characters, U+0000 included. Another organization's rows look absent. An
// id of a row of any organization exists: CodeConflict. Exactly one of conflicting concurrent calls succeeds. The store checks no
// references: a run may name a scenario, a snapshot or a group that is absent. Methods take part in the transaction of ctx: see
// callwright.Atomic.
//
// Scenarios with their texts, mocks, assertions and metadata, snapshots, outcomes, the Error and Failure of results, journals,
// webhook addresses and the Names in a group's Scenarios are encrypted at rest: they contain speech of people and keys of other
// systems.
type Store interface {
	Scenarios
	run.Store
	group.Store
}

// Scenarios is the part of a Store that stores scenarios.
type Scenarios interface {
	// InsertScenario adds a scenario with Revision 1, regardless of s. CodeConflict: its id exists. ErrNameTaken: another scenario
	// of the organization has the same Pathway, Persona and Name; case matters.
	InsertScenario(ctx context.Context, s scenario.Scenario) error
	// Scenario returns one scenario. CodeNotFound: it is absent.
	Scenario(ctx context.Context, org callwright.OrgID, id string) (scenario.Scenario, error)
	// UpdateScenario replaces a scenario whose stored Revision is s.Revision, and increments it. CodeConflict: the Revision
	// differs, even if the name exists too. ErrNameTaken: the name exists. CodeNotFound: it is absent. Org, Pathway, Persona and
	// CreatedAt are never replaced.
	UpdateScenario(ctx context.Context, s scenario.Scenario) error
	// DeleteScenario deletes a scenario with its runs, also running ones, and everything that DeleteRuns deletes with a run. Runs
	// of groups that have not ended stay. CodeNotFound: it is absent.
	DeleteScenario(ctx context.Context, org callwright.OrgID, id string) error
	// HoldScenario locks a scenario until the transaction of ctx ends: DeleteScenario waits, and then also deletes the runs that
	// the transaction has added. CodeNotFound: it is absent. It is only called in a transaction.
	HoldScenario(ctx context.Context, org callwright.OrgID, id string) error
	// FindScenarios returns the scenarios that f selects, in descending order of (CreatedAt, ID), with the most recent run of each.
	// It ends early, after two or more scenarios, as soon as their total Size exceeds MaxRead.
	FindScenarios(ctx context.Context, org callwright.OrgID, f ScenarioFilter) ([]Listed, error)
	// RequiredScenarios returns the Revisions, by id, of the enabled scenarios of a pathway that are required for promotion, at
	// most limit.
	RequiredScenarios(ctx context.Context, org callwright.OrgID, pathway string, limit int) (map[string]int64, error)
	// CountScenarios returns the number of an organization's scenarios.
	CountScenarios(ctx context.Context, org callwright.OrgID) (int, error)
}

// ScenarioFilter selects a page of scenarios; the zero filter selects all. All conditions must hold.
type ScenarioFilter struct {
	IDs      []string // these; empty: any
	Pathway  string
	Persona  string
	Category scenario.Category
	Enabled  *bool
	Required *bool
	Brief    bool              // only with ids, Name, Category, Required, Enabled, times and Revision, and without recent runs
	After    callwright.Keyset // (CreatedAt, ID) of the last scenario of the previous page
	Limit    int
}

// Listed is a scenario in a list.
type Listed struct {
	scenario.Scenario

	Recent *run.Run // the run with the highest (CreatedAt, ID) that is not an Experiment, without its Outcome and Summary; nil: none
}

// MaxRead is the maximum size of a list of scenarios in bytes; its first two are always included.
const MaxRead = 4 << 20
