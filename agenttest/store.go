package agenttest

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// ErrNameTaken is the error of a name that another scenario of the same pathway or persona has.
var ErrNameTaken = &callwright.Error{
	Code: callwright.CodeConflict, Field: "name", Message: "must be unique among the scenarios of the pathway or the persona",
}

// Store stores scenarios, their runs and the groups of runs. Package agenttesttest has a suite for each part, and RunStore for all of them.
//
// Returned values share no memory with the store. They equal what was stored: times are in UTC with microseconds, a nil list, map or
// json.RawMessage stays nil, JSON null stays null, and JSON keeps its values; the order of members and the spelling of numbers may
// change. Texts of outcomes and results may hold any characters, U+0000 included. Another organization's rows look absent. An id that a
// row of any organization has is taken: CodeConflict. Of concurrent calls that exclude each other exactly one succeeds. The store
// checks no references: a run may name a scenario, a snapshot or a group that is absent. Methods take part in the transaction of ctx: see
// callwright.Atomic.
//
// Scenarios with their texts, mocks, assertions and metadata, snapshots, outcomes, the Error and Failure of results, journals, webhook
// addresses and the Names in a group's Scenarios are encrypted at rest: they hold what people said and keys of other systems.
type Store interface {
	Scenarios
	run.Store
	group.Store
}

// Scenarios is the part of a Store that keeps scenarios.
type Scenarios interface {
	// InsertScenario adds a scenario with Revision 1, whatever s says. CodeConflict: its id is taken. ErrNameTaken: another
	// scenario of the organization has the same Pathway, Persona and Name; case matters.
	InsertScenario(ctx context.Context, s scenario.Scenario) error
	// Scenario returns one scenario. CodeNotFound: it is absent.
	Scenario(ctx context.Context, org callwright.OrgID, id string) (scenario.Scenario, error)
	// UpdateScenario replaces a scenario whose stored Revision is s.Revision, and adds one to that. CodeConflict: the Revision
	// differs, whether or not the name is taken. ErrNameTaken: the name is taken. CodeNotFound: it is absent. Org, Pathway,
	// Persona and CreatedAt are never replaced.
	UpdateScenario(ctx context.Context, s scenario.Scenario) error
	// DeleteScenario removes a scenario with its runs, running ones too, and with what DeleteRuns removes with a run. Runs of groups that
	// have not ended stay. CodeNotFound: it is absent.
	DeleteScenario(ctx context.Context, org callwright.OrgID, id string) error
	// HoldScenario has a scenario stay until the transaction of ctx ends: DeleteScenario waits, and then removes the runs that the
	// transaction has added, too. CodeNotFound: it is absent. It is only called in a transaction.
	HoldScenario(ctx context.Context, org callwright.OrgID, id string) error
	// FindScenarios returns the scenarios that f chooses, in descending order of (CreatedAt, ID), with the most recent run of each. It ends
	// early, after the second or a later scenario at which their Size exceeds MaxRead in total.
	FindScenarios(ctx context.Context, org callwright.OrgID, f ScenarioFilter) ([]Listed, error)
	// RequiredScenarios returns the Revisions, by id, of the enabled scenarios of a pathway that are required for promotion, at
	// most limit of them.
	RequiredScenarios(ctx context.Context, org callwright.OrgID, pathway string, limit int) (map[string]int64, error)
	// CountScenarios returns how many scenarios an organization has.
	CountScenarios(ctx context.Context, org callwright.OrgID) (int, error)
}

// ScenarioFilter chooses a page of scenarios; the zero filter chooses all. All conditions must hold.
type ScenarioFilter struct {
	IDs      []string // these; empty: any
	Pathway  string
	Persona  string
	Category scenario.Category
	Enabled  *bool
	Required *bool
	Brief    bool              // only with ids, Name, Category, Required, Enabled, times and Revision, and without recent runs
	After    callwright.Keyset // (CreatedAt, ID) of the last scenario of the page before
	Limit    int
}

// Listed is a scenario in a list.
type Listed struct {
	scenario.Scenario

	Recent *run.Run // the run with the highest (CreatedAt, ID) that is no Experiment, without its Outcome and Summary; nil: there is none
}

// MaxRead is how many bytes a list of scenarios has at most, but for its first two.
const MaxRead = 4 << 20
