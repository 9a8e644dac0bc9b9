package agenttest

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/analytics"
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
	Runs
	Journals
	Batches
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

	Recent *Run // the run with the highest (CreatedAt, ID) that is no Experiment, without its Outcome and Summary; nil: there is none
}

// Runs is the part of a Store that keeps runs.
type Runs interface {
	// InsertRuns adds runs with Revision 1, whatever they say, all or none, hundreds at a time; none is no error. CodeConflict: an id is
	// taken, or a batch has the trial of the scenario already (Batch, Scenario and Trial, if Batch is not empty), also by another of runs.
	InsertRuns(ctx context.Context, runs []Run) error
	// InsertSnapshots adds snapshots; none is no error.
	InsertSnapshots(ctx context.Context, snapshots []Snapshot) error
	// HoldSnapshots returns the given ids that the organization has snapshots of, and has these snapshots stay until the transaction of ctx
	// ends: runs that it adds may share them. DeleteRuns and DeleteScenario wait, and leave a snapshot that such a run has. It is only called
	// in a transaction.
	HoldSnapshots(ctx context.Context, org callwright.OrgID, ids []string) ([]string, error)
	// Snapshot returns one snapshot. CodeNotFound: it is absent.
	Snapshot(ctx context.Context, org callwright.OrgID, id string) (Snapshot, error)
	// Run returns one run with its outcome. CodeNotFound: it is absent.
	Run(ctx context.Context, org callwright.OrgID, id string) (Run, error)
	// UpdateRuns replaces runs, all or none, each if its stored Revision equals the given one, and adds one to it; none is no error.
	// CodeConflict: a Revision differs. CodeNotFound: a run is absent. Only State, Node, Attempt, Outcome, Result, Summary,
	// Scripted, StartedAt and EndedAt are replaced.
	UpdateRuns(ctx context.Context, runs []Run) error
	// CancelRun sets Cancel of a run that is Running, and leaves its Revision: the node that executes it still stores its end. Cancelling
	// again changes nothing. CodeConflict: it is not Running. CodeNotFound: it is absent.
	CancelRun(ctx context.Context, org callwright.OrgID, id string) error
	// FindRuns returns the runs that f chooses without their outcomes and summaries, in descending order of (CreatedAt, ID), ascending with
	// Oldest.
	FindRuns(ctx context.Context, org callwright.OrgID, f RunFilter) ([]Run, error)
	// CountRuns returns how many runs f chooses, whatever its page.
	CountRuns(ctx context.Context, org callwright.OrgID, f RunFilter) (int, error)
	// CountUnended returns how many runs of an organization have not ended, and with them those that its open groups have still to
	// create: Batch.Total less Created, of groups without Cancel. It sees both at one moment.
	CountUnended(ctx context.Context, org callwright.OrgID) (int, error)
	// HoldStarts has HoldStarts of other transactions for the organization wait until the transaction of ctx ends. CountUnended then
	// counts all that earlier holders have committed. It is only called in a transaction.
	HoldStarts(ctx context.Context, org callwright.OrgID) error
	// EachEnded calls f with the runs that w chooses, that have ended in whatever way and are no Experiment, in descending order of
	// (CreatedAt, ID), each once. It holds few of them at a time. A run that ends, or is deleted, meanwhile may be among them or not.
	EachEnded(ctx context.Context, org callwright.OrgID, w RunWindow, f func(analytics.Run)) error

	// Waiting returns the organizations that have Pending runs, each once, in any order, at most limit.
	Waiting(ctx context.Context, limit int) ([]callwright.OrgID, error)
	// Abandoned returns runs of all organizations that are Running on a node that is not among alive, or on none (an empty Node), in any
	// order, at most limit. Outcome and Summary may be left out.
	Abandoned(ctx context.Context, alive []string, limit int) ([]Run, error)
	// Cancelled returns the ids of runs of all organizations that are Running on a node and have Cancel, or whose batch has it, in any
	// order. A batch that is StoppedByBudget lets its other runs go on.
	Cancelled(ctx context.Context, node string) ([]string, error)
	// DeleteRuns removes at most limit runs of all organizations that ended before a time, with their journals, with their snapshots if
	// no other run has them, and with their groups if these have ended and have no other run. It returns how many runs.
	DeleteRuns(ctx context.Context, before time.Time, limit int) (int, error)
}

// RunFilter chooses a page of runs; the zero filter chooses all. All conditions must hold.
type RunFilter struct {
	Scenario string
	Pathway  string
	Persona  string
	Batch    string
	States   []State // any of these; empty: any

	NotBatches []string          // not of these; only with the state Pending alone
	Oldest     bool              // oldest first
	Uncounted  bool              // the number of chosen runs, whose count reads them all, is not wanted: it is 0
	After      callwright.Keyset // (CreatedAt, ID) of the last run of the page before
	Offset     int               // runs to skip after After
	Limit      int               // at most
}

// RunWindow chooses the runs of a pathway for analytics.
type RunWindow struct {
	Pathway string
	From    time.Time // runs that were created then or later
	Limit   int       // the newest so many; 0: all
}

// Journals is the part of a Store that keeps what models have answered in runs that have not ended, or are judged again. Models that
// are llm.Repeatable are asked again instead.
type Journals interface {
	// AppendAnswer adds an answer of at most engine.MaxAnswer bytes to the journal of a run. It is stored when AppendAnswer returns.
	// CodeNotFound: the run is absent. CodeConflict: the run has an answer with this key, or is not Running on this node, which is never
	// empty.
	AppendAnswer(ctx context.Context, org callwright.OrgID, run, node, key string, answer []byte) error
	// AppendJudgement adds an answer of a judge to the journal of a run that has ended, while its group has not. CodeNotFound: the
	// run is absent. CodeConflict: the run has an answer with this key, has not ended, or is of no group that is open.
	AppendJudgement(ctx context.Context, org callwright.OrgID, run, key string, answer []byte) error
	// Answers returns the journal of a run by key, byte for byte; a run that is absent has an empty one.
	Answers(ctx context.Context, org callwright.OrgID, run string) (map[string][]byte, error)
	// DeleteAnswers removes the journal of a run, whose keys are free then. A run that is absent is no error.
	DeleteAnswers(ctx context.Context, org callwright.OrgID, run string) error
}

// Batches is the part of a Store that keeps groups of runs.
type Batches interface {
	// InsertBatch adds a group with Revision 1, whatever b says. CodeConflict: its id is taken.
	InsertBatch(ctx context.Context, b Batch) error
	// Batch returns one group. CodeNotFound: it is absent.
	Batch(ctx context.Context, org callwright.OrgID, id string) (Batch, error)
	// UpdateBatch replaces a group whose stored Revision is b.Revision, and adds one to that. CodeConflict: the Revision
	// differs. CodeNotFound: it is absent.
	UpdateBatch(ctx context.Context, b Batch) error
	// AddCounts adds to the sums of a group (Counts, Usage, Spend) and returns it as it is then; it is locked until the transaction of ctx
	// ends, so that concurrent calls wait and add up. It adds one to Revision. CodeNotFound: it is absent. It is only called in a transaction.
	AddCounts(ctx context.Context, org callwright.OrgID, id string, more Sums) (Batch, error)
	// FindBatches returns the groups that f chooses, in descending order of (CreatedAt, ID).
	FindBatches(ctx context.Context, org callwright.OrgID, f BatchFilter) ([]ListedBatch, error)
	// CountBatches returns how many groups f chooses, whatever its page.
	CountBatches(ctx context.Context, org callwright.OrgID, f BatchFilter) (int, error)
	// BatchesOf returns the newest groups of kind OneEach with this Pathway and Version, at most limit, in descending order of (CreatedAt,
	// ID). Groups with the trigger ByTornado are left out.
	BatchesOf(ctx context.Context, org callwright.OrgID, pathway string, version int, limit int) ([]Batch, error)
}

// BatchFilter chooses a page of groups. All conditions must hold.
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

// MaxRead is how many bytes a list of scenarios has at most, but for its first two.
const MaxRead = 4 << 20
