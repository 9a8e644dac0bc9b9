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
	FindRuns(ctx context.Context, org callwright.OrgID, f Filter) ([]Run, error)
	// CountRuns returns the number of runs that f selects on all pages.
	CountRuns(ctx context.Context, org callwright.OrgID, f Filter) (int, error)
	// CountUnended returns the number of an organization's runs that have not ended, and of runs that its open groups will still
	// create: Batch.Total less Created, for groups without Cancel. It reads both in one snapshot.
	CountUnended(ctx context.Context, org callwright.OrgID) (int, error)
	// HoldStarts locks the organization's starts until the transaction of ctx ends: HoldStarts in other transactions waits.
	// CountUnended then counts all rows that earlier holders have committed. It is only called in a transaction.
	HoldStarts(ctx context.Context, org callwright.OrgID) error
	// EachEnded calls f once with each run that w selects, has ended with any result and is not an Experiment, in descending order
	// of (CreatedAt, ID). It holds few of them in memory. A run that ends or is deleted meanwhile may be among them or not.
	EachEnded(ctx context.Context, org callwright.OrgID, w Window, f func(analytics.Run)) error

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

// Filter selects a page of runs; the zero filter selects all. All conditions must hold.
type Filter struct {
	Scenario string
	Pathway  string
	Persona  string
	Batch    string
	States   []State // any of these; empty: any

	NotBatches []string          // not of these; only with the state Pending alone
	Oldest     bool              // oldest first
	SkipCount  bool              // skip counting the selected runs, which reads them all: the count is 0
	After      callwright.Keyset // (CreatedAt, ID) of the last run of the previous page
	Offset     int               // runs to skip after After
	Limit      int               // at most
}

// Window selects the runs of a pathway for analytics.
type Window struct {
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
