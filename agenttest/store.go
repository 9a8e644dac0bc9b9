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

// Store keeps scenarios, their runs and the groups of runs. Package agenttesttest has a suite for each part.
//
// Returned values share no memory with the store. Another organization's rows look absent. Scenarios, snapshots, outcomes,
// journals and webhook addresses are encrypted at rest: they hold what people said and keys of other systems.
type Store interface {
	Scenarios
	Runs
	Journals
	Batches
}

// Scenarios is the part of a Store that keeps scenarios.
type Scenarios interface {
	// InsertScenario adds a scenario with Revision 1. CodeConflict: its id is taken, or, with the field "name", its pathway or
	// persona has a scenario of this name.
	InsertScenario(ctx context.Context, s scenario.Scenario) error
	// Scenario returns one scenario. CodeNotFound: it is absent.
	Scenario(ctx context.Context, org callwright.OrgID, id string) (scenario.Scenario, error)
	// UpdateScenario replaces a scenario whose stored Revision is s.Revision, and adds one to that. CodeConflict: the Revision
	// differs, or, with the field "name", the name is taken. CodeNotFound: it is absent. Org, Pathway, Persona and CreatedAt
	// are never replaced.
	UpdateScenario(ctx context.Context, s scenario.Scenario) error
	// DeleteScenario removes a scenario with its runs, except for those of groups that have not ended, and with what DeleteRuns
	// removes with a run. CodeNotFound: it is absent.
	DeleteScenario(ctx context.Context, org callwright.OrgID, id string) error
	// HoldScenario has a scenario stay until the transaction of ctx ends. CodeNotFound: it is absent. It is only called in a
	// transaction.
	HoldScenario(ctx context.Context, org callwright.OrgID, id string) error
	// FindScenarios returns the scenarios that f chooses, newest first, with the most recent run of each. It ends early, after
	// the second or a later scenario at which their Size exceeds MaxRead in total.
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

	Recent *Run // the most recently created run that is no Experiment, without its Outcome and Summary; nil: there is none
}

// Runs is the part of a Store that keeps runs.
type Runs interface {
	// InsertRuns adds runs with Revision 1, all or none. CodeConflict: an id is taken, or a batch has the trial of the scenario
	// already.
	InsertRuns(ctx context.Context, runs []Run) error
	// InsertSnapshots adds snapshots.
	InsertSnapshots(ctx context.Context, snapshots []Snapshot) error
	// HoldSnapshots returns those of some ids that are ids of snapshots, and has these snapshots stay until the transaction of ctx
	// ends: runs that it adds may share them. It is only called in a transaction.
	HoldSnapshots(ctx context.Context, org callwright.OrgID, ids []string) ([]string, error)
	// Snapshot returns one snapshot. CodeNotFound: it is absent.
	Snapshot(ctx context.Context, org callwright.OrgID, id string) (Snapshot, error)
	// Run returns one run with its outcome. CodeNotFound: it is absent.
	Run(ctx context.Context, org callwright.OrgID, id string) (Run, error)
	// UpdateRuns replaces runs, all or none, each if its stored Revision is that of the argument, and adds one to it.
	// CodeConflict: a Revision differs. CodeNotFound: a run is absent. Only State, Node, Attempt, Outcome, Result, Summary,
	// Scripted, StartedAt and EndedAt are replaced.
	UpdateRuns(ctx context.Context, runs []Run) error
	// CancelRun sets Cancel of a run that is Running, and leaves its Revision: the node that executes it still stores its end.
	// CodeConflict: it is not Running. CodeNotFound: it is absent.
	CancelRun(ctx context.Context, org callwright.OrgID, id string) error
	// FindRuns returns the runs that f chooses without their outcomes and summaries, newest first.
	FindRuns(ctx context.Context, org callwright.OrgID, f RunFilter) ([]Run, error)
	// CountRuns returns how many runs f chooses, whatever its page.
	CountRuns(ctx context.Context, org callwright.OrgID, f RunFilter) (int, error)
	// CountUnended returns how many runs of an organization have not ended, and with them those that its open groups have still to
	// create: Batch.Total less Created, of groups without Cancel. It sees both at one moment.
	CountUnended(ctx context.Context, org callwright.OrgID) (int, error)
	// HoldStarts keeps other transactions of an organization from HoldStarts until that of ctx ends. It is only called in a
	// transaction.
	HoldStarts(ctx context.Context, org callwright.OrgID) error
	// EachEnded calls f with the runs that w chooses, that have ended and are no Experiment, the newest first, each once. It holds
	// few of them at a time. A run that ends, or is deleted, meanwhile may be among them or not.
	EachEnded(ctx context.Context, org callwright.OrgID, w RunWindow, f func(analytics.Run)) error

	// Waiting returns the organizations that have runs to be started, at most limit.
	Waiting(ctx context.Context, limit int) ([]callwright.OrgID, error)
	// Abandoned returns runs of all organizations that are Running on a node that is not among alive, at most limit.
	Abandoned(ctx context.Context, alive []string, limit int) ([]Run, error)
	// Cancelled returns the ids of runs that are Running on a node and are to be cancelled, by themselves or with their batch. A
	// batch that is StoppedByBudget lets them go on.
	Cancelled(ctx context.Context, node string) ([]string, error)
	// DeleteRuns removes at most limit runs that ended before a time, with their journals, with their snapshots if no other run
	// has them, and with their groups if these have ended and have no other run. It returns how many runs.
	DeleteRuns(ctx context.Context, before time.Time, limit int) (int, error)
}

// RunFilter chooses a page of runs; the zero filter chooses all. All conditions must hold.
type RunFilter struct {
	Scenario string
	Pathway  string
	Persona  string
	Batch    string
	States   []State // any of these; empty: any

	NotBatches []string // not of these; only with the state Pending alone
	Oldest     bool     // oldest first
	Uncounted  bool     // the number of chosen runs, whose count reads them all, is not wanted: it is 0
	After      callwright.Keyset
	Offset     int // runs to skip after After
	Limit      int
}

// RunWindow chooses the runs of a pathway for analytics.
type RunWindow struct {
	Pathway string
	From    time.Time // when a run was created; later ones, too
	Limit   int       // the newest so many; 0: all
}

// Journals is the part of a Store that keeps what models have answered in runs that have not ended, or are judged again. Models that
// are llm.Repeatable are asked again instead.
type Journals interface {
	// AppendAnswer adds an answer to the journal of a run. It is stored when AppendAnswer returns. CodeNotFound: the run is
	// absent. CodeConflict: the run has an answer with this key, or is not Running on this node.
	AppendAnswer(ctx context.Context, org callwright.OrgID, run, node, key string, answer []byte) error
	// AppendJudgement adds an answer of a judge to the journal of a run that has ended, while its group has not. CodeNotFound: the
	// run is absent. CodeConflict: the run has an answer with this key, has not ended, or is of no group that is open.
	AppendJudgement(ctx context.Context, org callwright.OrgID, run, key string, answer []byte) error
	// Answers returns the journal of a run by key.
	Answers(ctx context.Context, org callwright.OrgID, run string) (map[string][]byte, error)
	// DeleteAnswers removes the journal of a run.
	DeleteAnswers(ctx context.Context, org callwright.OrgID, run string) error
}

// Batches is the part of a Store that keeps groups of runs.
type Batches interface {
	// InsertBatch adds a group with Revision 1. CodeConflict: its id is taken.
	InsertBatch(ctx context.Context, b Batch) error
	// Batch returns one group. CodeNotFound: it is absent.
	Batch(ctx context.Context, org callwright.OrgID, id string) (Batch, error)
	// UpdateBatch replaces a group whose stored Revision is b.Revision, and adds one to that. CodeConflict: the Revision
	// differs. CodeNotFound: it is absent.
	UpdateBatch(ctx context.Context, b Batch) error
	// AddCounts adds to the sums of a group and returns it as it is then; it is locked until the transaction of ctx ends.
	// It adds one to Revision. CodeNotFound: it is absent. It is only called in a transaction.
	AddCounts(ctx context.Context, org callwright.OrgID, id string, more Sums) (Batch, error)
	// FindBatches returns the groups that f chooses, newest first.
	FindBatches(ctx context.Context, org callwright.OrgID, f BatchFilter) ([]ListedBatch, error)
	// CountBatches returns how many groups f chooses, whatever its page.
	CountBatches(ctx context.Context, org callwright.OrgID, f BatchFilter) (int, error)
	// BatchesOf returns the newest groups of kind OneEach that test a version of a pathway, all of whose scenarios are of that
	// pathway, newest first. Those with the trigger ByTornado are left out.
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
	Limit   int
}

// ListedBatch is a group in a list: a Batch without Scenarios, Webhook, Over, Flakes and Statistics.
type ListedBatch struct {
	Batch

	Tested int // scenarios
}

// MaxRead is how many bytes a list of scenarios has at most, but for its first two.
const MaxRead = 4 << 20
