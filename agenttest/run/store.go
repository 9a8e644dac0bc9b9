package run

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/analytics"
)

// Store stores runs: see agenttest.Store for the duties of all stores of this domain.
type Store interface {
	Journals

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
	FindRuns(ctx context.Context, org callwright.OrgID, f Filter) ([]Run, error)
	// CountRuns returns how many runs f chooses, whatever its page.
	CountRuns(ctx context.Context, org callwright.OrgID, f Filter) (int, error)
	// CountUnended returns how many runs of an organization have not ended, and with them those that its open groups have still to
	// create: Batch.Total less Created, of groups without Cancel. It sees both at one moment.
	CountUnended(ctx context.Context, org callwright.OrgID) (int, error)
	// HoldStarts has HoldStarts of other transactions for the organization wait until the transaction of ctx ends. CountUnended then
	// counts all that earlier holders have committed. It is only called in a transaction.
	HoldStarts(ctx context.Context, org callwright.OrgID) error
	// EachEnded calls f with the runs that w chooses, that have ended in whatever way and are no Experiment, in descending order of
	// (CreatedAt, ID), each once. It holds few of them at a time. A run that ends, or is deleted, meanwhile may be among them or not.
	EachEnded(ctx context.Context, org callwright.OrgID, w Window, f func(analytics.Run)) error

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

// Filter chooses a page of runs; the zero filter chooses all. All conditions must hold.
type Filter struct {
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

// Window chooses the runs of a pathway for analytics.
type Window struct {
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
