package agenttest

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/analytics"
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
	Runs
	Journals
	Batches
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

	Recent *Run // the run with the highest (CreatedAt, ID) that is not an Experiment, without its Outcome and Summary; nil: none
}

// Runs is the part of a Store that stores runs.
type Runs interface {
	// InsertRuns adds runs with Revision 1, regardless of runs. It adds all or none, hundreds at a time; an empty list is no error.
	// CodeConflict: an id exists, or two runs of a batch are the same trial of a scenario: they share Batch, Scenario and Trial,
	// with a Batch that is not empty. Both may be in runs.
	InsertRuns(ctx context.Context, runs []Run) error
	// InsertSnapshots adds snapshots; an empty list is no error.
	InsertSnapshots(ctx context.Context, snapshots []Snapshot) error
	// HoldSnapshots locks the organization's snapshots with the given ids until the transaction of ctx ends, and returns the ids
	// that exist. Runs that the transaction adds may share these snapshots. DeleteRuns and DeleteScenario wait, and keep a snapshot
	// of such a run. It is only called in a transaction.
	HoldSnapshots(ctx context.Context, org callwright.OrgID, ids []string) ([]string, error)
	// Snapshot returns one snapshot. CodeNotFound: it is absent.
	Snapshot(ctx context.Context, org callwright.OrgID, id string) (Snapshot, error)
	// Run returns one run with its outcome. CodeNotFound: it is absent.
	Run(ctx context.Context, org callwright.OrgID, id string) (Run, error)
	// UpdateRuns replaces runs, all or none, each if its stored Revision equals the given one, and increments it; an empty list is
	// no error. CodeConflict: a Revision differs. CodeNotFound: a run is absent. Only State, Node, Attempt, Outcome, Result,
	// Summary, Scripted, StartedAt and EndedAt are replaced.
	UpdateRuns(ctx context.Context, runs []Run) error
	// CancelRun sets Cancel of a run that is Running, but not its Revision: the node that executes it still stores its end. A
	// repeated call changes nothing. CodeConflict: it is not Running. CodeNotFound: it is absent.
	CancelRun(ctx context.Context, org callwright.OrgID, id string) error
	// FindRuns returns the runs that f selects without their outcomes and summaries, in descending order of (CreatedAt, ID),
	// ascending with Oldest.
	FindRuns(ctx context.Context, org callwright.OrgID, f RunFilter) ([]Run, error)
	// CountRuns returns the number of runs that f selects on all pages.
	CountRuns(ctx context.Context, org callwright.OrgID, f RunFilter) (int, error)
	// CountUnended returns the number of an organization's runs that have not ended, and of runs that its open groups will still
	// create: Batch.Total less Created, for groups without Cancel. It reads both in one snapshot.
	CountUnended(ctx context.Context, org callwright.OrgID) (int, error)
	// HoldStarts locks the organization's starts until the transaction of ctx ends: HoldStarts in other transactions waits.
	// CountUnended then counts all rows that earlier holders have committed. It is only called in a transaction.
	HoldStarts(ctx context.Context, org callwright.OrgID) error
	// EachEnded calls f once with each run that w selects, has ended with any result and is not an Experiment, in descending order
	// of (CreatedAt, ID). It holds few of them in memory. A run that ends or is deleted meanwhile may be among them or not.
	EachEnded(ctx context.Context, org callwright.OrgID, w RunWindow, f func(analytics.Run)) error

	// Waiting returns the organizations that have Pending runs, each once, in any order, at most limit.
	Waiting(ctx context.Context, limit int) ([]callwright.OrgID, error)
	// Abandoned returns runs of all organizations that are Running on a node that is not in alive, or with an empty Node, in any
	// order, at most limit. Outcome and Summary may be missing.
	Abandoned(ctx context.Context, alive []string, limit int) ([]Run, error)
	// Cancelled returns the ids of runs of all organizations that are Running on a node and have Cancel, or a batch with Cancel, in
	// any order. The other runs of a batch that is StoppedByBudget continue.
	Cancelled(ctx context.Context, node string) ([]string, error)
	// DeleteRuns deletes at most limit runs of all organizations that ended before a time, with their journals. It also deletes
	// their snapshots that no other run has, and their groups that have ended and have no other run. It returns the number of
	// deleted runs.
	DeleteRuns(ctx context.Context, before time.Time, limit int) (int, error)
}

// RunFilter selects a page of runs; the zero filter selects all. All conditions must hold.
type RunFilter struct {
	Scenario string
	Pathway  string
	Persona  string
	Batch    string
	States   []State // any of these; empty: any

	NotBatches []string          // not of these; only with the state Pending alone
	Oldest     bool              // oldest first
	Uncounted  bool              // skip counting the selected runs, which reads them all: the count is 0
	After      callwright.Keyset // (CreatedAt, ID) of the last run of the previous page
	Offset     int               // runs to skip after After
	Limit      int               // at most
}

// RunWindow selects the runs of a pathway for analytics.
type RunWindow struct {
	Pathway string
	From    time.Time // runs created then or later
	Limit   int       // number of the newest runs; 0: all
}

// Journals is the part of a Store that stores the answers of models in runs that have not ended or are judged again. llm.Repeatable
// models are asked again instead.
type Journals interface {
	// AppendAnswer adds an answer of at most engine.MaxAnswer bytes to the journal of a run. The answer is durable when
	// AppendAnswer returns. CodeNotFound: the run is absent. CodeConflict: the run has an answer with this key, or is not Running
	// on this node, which is never empty.
	AppendAnswer(ctx context.Context, org callwright.OrgID, run, node, key string, answer []byte) error
	// AppendJudgement adds an answer of a judge to the journal of a run that has ended and whose group has not. CodeNotFound: the
	// run is absent. CodeConflict: the run has an answer with this key, has not ended, or belongs to no open group.
	AppendJudgement(ctx context.Context, org callwright.OrgID, run, key string, answer []byte) error
	// Answers returns the journal of a run by key, byte for byte. An absent run has an empty journal.
	Answers(ctx context.Context, org callwright.OrgID, run string) (map[string][]byte, error)
	// DeleteAnswers deletes the journal of a run, and so frees its keys. An absent run is no error.
	DeleteAnswers(ctx context.Context, org callwright.OrgID, run string) error
}

// Batches is the part of a Store that stores groups of runs.
type Batches interface {
	// InsertBatch adds a group with Revision 1, regardless of b. CodeConflict: its id exists.
	InsertBatch(ctx context.Context, b Batch) error
	// Batch returns one group. CodeNotFound: it is absent.
	Batch(ctx context.Context, org callwright.OrgID, id string) (Batch, error)
	// UpdateBatch replaces a group whose stored Revision is b.Revision, and increments it. CodeConflict: the Revision differs.
	// CodeNotFound: it is absent.
	UpdateBatch(ctx context.Context, b Batch) error
	// AddCounts adds to the sums of a group (Counts, Usage, Spend), increments its Revision and returns the new group. It locks the
	// group until the transaction of ctx ends, so that concurrent calls wait and add up. CodeNotFound: it is absent. It is only
	// called in a transaction.
	AddCounts(ctx context.Context, org callwright.OrgID, id string, more Sums) (Batch, error)
	// FindBatches returns the groups that f selects, in descending order of (CreatedAt, ID).
	FindBatches(ctx context.Context, org callwright.OrgID, f BatchFilter) ([]ListedBatch, error)
	// CountBatches returns the number of groups that f selects on all pages.
	CountBatches(ctx context.Context, org callwright.OrgID, f BatchFilter) (int, error)
	// BatchesOf returns the newest groups of kind OneEach with this Pathway and Version, at most limit, in descending order of
	// (CreatedAt, ID). Groups with the trigger ByTornado are excluded.
	BatchesOf(ctx context.Context, org callwright.OrgID, pathway string, version int, limit int) ([]Batch, error)
}

// BatchFilter selects a page of groups. All conditions must hold.
type BatchFilter struct {
	Kind    Kind    // required
	Pathway string  // all scenarios are of it; empty: any
	Persona string  // likewise
	State   State   // empty: any
	Trigger Trigger // empty: any
	Offset  int
	Limit   int // at most; 0: none
}

// ListedBatch is a group in a list: a Batch without Scenarios, Webhook, Over, Flakes and Statistics.
type ListedBatch struct {
	Batch

	Tested int // scenarios
}

// MaxRead is the maximum size of a list of scenarios in bytes; its first two are always included.
const MaxRead = 4 << 20
