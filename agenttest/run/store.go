package run

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/analytics"
)

// Store stores runs. See agenttest.Store for the requirements of all stores of this domain.
type Store interface {
	Journals

	// InsertRuns adds runs with Revision 1, regardless of their Revision. It adds all or none. The list may be empty or contain hundreds of
	// runs. InsertRuns returns CodeConflict if an id exists, or if two runs of a batch, stored or in the list, are the same trial of a
	// scenario: they have equal Batch, Scenario and Trial, and Batch is not empty.
	InsertRuns(ctx context.Context, runs []Run) error
	// InsertSnapshots adds snapshots. The list may be empty.
	InsertSnapshots(ctx context.Context, snapshots []Snapshot) error
	// HoldSnapshots locks the organization's snapshots with the given ids until the transaction of ctx ends, and returns the ids that
	// exist. Runs that the transaction adds may share these snapshots. DeleteRuns and DeleteScenario wait, and then keep the snapshots of
	// such runs. HoldSnapshots must be called in a transaction.
	HoldSnapshots(ctx context.Context, org callwright.OrgID, ids []string) ([]string, error)
	// Snapshot returns one snapshot, or CodeNotFound if the snapshot is absent.
	Snapshot(ctx context.Context, org callwright.OrgID, id string) (Snapshot, error)
	// Run returns one run with its outcome, or CodeNotFound if the run is absent.
	Run(ctx context.Context, org callwright.OrgID, id string) (Run, error)
	// UpdateRuns replaces all of the given runs or none. It replaces only State, Node, Attempt, Outcome, Result, Summary, Scripted,
	// StartedAt and EndedAt, and increments the stored Revisions. It returns CodeConflict if a stored Revision differs from the given one,
	// and CodeNotFound if a run is absent. The list may be empty.
	UpdateRuns(ctx context.Context, runs []Run) error
	// CancelRun sets Cancel of a Running run. It does not change the Revision, so that the node that executes the run can still store its
	// end. A repeated call changes nothing. CancelRun returns CodeConflict if the run is not Running, and CodeNotFound if the run is
	// absent.
	CancelRun(ctx context.Context, org callwright.OrgID, id string) error
	// FindRuns returns the runs that f selects, without their outcomes and summaries, in descending order of (CreatedAt, ID) or, with
	// f.Oldest, in ascending order.
	FindRuns(ctx context.Context, org callwright.OrgID, f Filter) ([]Run, error)
	// CountRuns returns the number of runs that f selects, regardless of its page.
	CountRuns(ctx context.Context, org callwright.OrgID, f Filter) (int, error)
	// CountUnended returns the number of an organization's runs that have not ended, plus the number of runs that its open groups will
	// still create: Batch.Total minus Created, for groups without Cancel. It reads both in one database snapshot.
	CountUnended(ctx context.Context, org callwright.OrgID) (int, error)
	// HoldStarts locks the organization's starts until the transaction of ctx ends: HoldStarts of other transactions waits. A following
	// CountUnended counts all rows that earlier holders have committed. HoldStarts must be called in a transaction.
	HoldStarts(ctx context.Context, org callwright.OrgID) error
	// EachEnded calls f once for each run that w selects, that has ended in any state and that is not an Experiment, in descending order of
	// (CreatedAt, ID). It keeps only a few runs in memory. A run that ends or is deleted meanwhile may or may not be included.
	EachEnded(ctx context.Context, org callwright.OrgID, w Window, f func(analytics.Run)) error

	// Waiting returns at most limit organizations that have Pending runs, without duplicates, in any order.
	Waiting(ctx context.Context, limit int) ([]callwright.OrgID, error)
	// Abandoned returns at most limit runs of all organizations that are Running on a node outside the list alive, or with an empty Node,
	// in any order. Outcome and Summary may be missing.
	Abandoned(ctx context.Context, alive []string, limit int) ([]Run, error)
	// Cancelled returns the ids of those Running runs of a node whose own Cancel or whose group's Cancel is set, of all organizations and
	// in any order. It excludes runs of a group that is StoppedByBudget unless their own Cancel is set.
	Cancelled(ctx context.Context, node string) ([]string, error)
	// DeleteRuns deletes at most limit runs of all organizations that ended before a timestamp, with their journals. It also deletes their
	// snapshots that no other run uses, and their ended groups that contain no other run. It returns the number of deleted runs.
	DeleteRuns(ctx context.Context, before time.Time, limit int) (int, error)
}

// Filter selects a page of runs that satisfy all conditions. A zero condition accepts every run.
type Filter struct {
	Scenario string
	Pathway  string
	Persona  string
	Batch    string
	States   []State // any of these states; empty means any state

	NotBatches []string          // ids of groups whose runs are excluded; requires the single state Pending
	Oldest     bool              // oldest first
	SkipCount  bool              // the count is 0, because counting would read all selected runs
	After      callwright.Keyset // (CreatedAt, ID) of the last run of the previous page
	Offset     int               // number of runs to skip after After
	Limit      int               // maximum number of runs
}

// Window selects the ended runs of a pathway for analytics.
type Window struct {
	Pathway string
	From    time.Time // earliest CreatedAt of the runs
	Limit   int       // maximum number of runs, of which the newest are selected; 0 means all
}

// Journals is the part of a Store that holds the answers of models in runs that have not ended or are judged again. It contains no answers
// of llm.Repeatable models, which are called again instead.
type Journals interface {
	// AppendAnswer adds an answer of at most engine.MaxAnswer bytes to the journal of a run. The answer is durable when AppendAnswer
	// returns. AppendAnswer returns CodeNotFound if the run is absent. It returns CodeConflict if the run has an answer with this key, or
	// is not Running on the given node. node is never empty.
	AppendAnswer(ctx context.Context, org callwright.OrgID, run, node, key string, answer []byte) error
	// AppendJudgement adds an answer of a judge to the journal of an ended run whose group has not ended. It returns CodeNotFound if the
	// run is absent. It returns CodeConflict if the run has an answer with this key, has not ended, or belongs to no open group.
	AppendJudgement(ctx context.Context, org callwright.OrgID, run, key string, answer []byte) error
	// Answers returns the journal of a run by key, byte for byte. The journal of an absent run is empty.
	Answers(ctx context.Context, org callwright.OrgID, run string) (map[string][]byte, error)
	// DeleteAnswers deletes the journal of a run, so that its keys can be reused. It returns no error for an absent run.
	DeleteAnswers(ctx context.Context, org callwright.OrgID, run string) error
}
