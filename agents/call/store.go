package call

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
)

// Store stores calls. agentstest.RunCallStore tests it.
//
// Given and returned values share no memory with stored ones. They equal the stored values: times are in UTC with microseconds, durations
// have nanoseconds, a nil list or map stays nil, an empty one stays empty, and Tools of an Agent are stored byte for byte. Another
// organization's call is absent. Methods that name a call return CodeNotFound if it is absent. Tools, DynamicData and Webhook of a call's
// Agent are encrypted at rest: they may contain keys of other systems. Methods are safe for concurrent use.
type Store interface {
	Records
	Transcripts
	Notices
	Liveness
}

// Records stores the records of calls.
type Records interface {
	// Insert adds a call with Version 1; CodeConflict when any organization's call has the same id.
	Insert(ctx context.Context, c Call) error
	// Get returns a call; CodeNotFound when it is absent.
	Get(ctx context.Context, org callwright.OrgID, id string) (Call, error)
	// Update replaces a call whose stored Version is c.Version and adds one to it; CodeConflict, with nothing changed, when the
	// Version differs; of concurrent calls with the same Version exactly one succeeds. CodeNotFound when it is absent. The fields
	// of the request stay as inserted: Inbound, From, To, Agent, Plan, RequestData, Metadata, CreatedAt, StartAt and RetryOf.
	// StopRequested stays, too: only RequestStop sets it.
	Update(ctx context.Context, c Call) error
	// List returns a page of calls in descending order of (CreatedAt, ID), ascending with OldestFirst, and the number of all
	// matching calls on any page. Next is zero if no call follows. The calls omit large fields: their Agent holds the Pathway only,
	// and Plan, RequestData, Variables and Metadata are zero. With Scan, a page ends after Scan calls that match Scanned, so it may
	// be short, even empty, although it has a Next.
	List(ctx context.Context, org callwright.OrgID, f Filter) (callwright.Page[Call], int, error)
	// Revisions returns the ids and Versions of the calls that List returns for f, in the same order.
	Revisions(ctx context.Context, org callwright.OrgID, f Filter) ([]Revision, error)
	// Position returns the progress of a call; CodeNotFound when it is absent.
	Position(ctx context.Context, org callwright.OrgID, id string) (Position, error)
	// Hours returns the hours in which calls were created, the oldest first, from since until before the given time; both are whole
	// hours. It omits hours without calls; without any the result is nil. It reads no calls: they are counted on insert and update.
	Hours(ctx context.Context, org callwright.OrgID, since, before time.Time) ([]Hour, error)
}

// Transcripts stores the transcripts and the logs of calls. Lines and logs may come in any order, and numbers may be missing.
type Transcripts interface {
	// Append adds a line to a call's transcript. A repeated Seq changes nothing.
	Append(ctx context.Context, org callwright.OrgID, id string, e Entry) error
	// Transcript returns a call's lines by Seq.
	Transcript(ctx context.Context, org callwright.OrgID, id string) ([]Entry, error)
	// TranscriptBefore returns the last lines of a call whose Seq is below before, at most limit, by Seq. With 0 it returns the
	// last lines of the call.
	TranscriptBefore(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]Entry, error)
	// LinesAt returns the lines at the given places of any calls of the organization. It omits places without a line.
	LinesAt(ctx context.Context, org callwright.OrgID, places []LinePlace) (map[LinePlace]Entry, error)

	// AppendLog adds the log of a turn. A repeated Turn changes nothing.
	AppendLog(ctx context.Context, org callwright.OrgID, id string, l pathway.Log) error
	// Logs returns a call's logs by turn.
	Logs(ctx context.Context, org callwright.OrgID, id string) ([]pathway.Log, error)
	// LogsBefore returns the last logs of a call whose Turn is below before, at most limit, by Turn. With 0 it returns the last
	// logs of the call.
	LogsBefore(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]pathway.Log, error)
}

// LinePlace is the place of a line in the transcript of a call.
type LinePlace struct {
	Call string // id
	Seq  int
}

// Notices stores the notices of calls for their webhooks.
type Notices interface {
	// AppendNotice adds a notice. A repeated Seq changes nothing.
	AppendNotice(ctx context.Context, org callwright.OrgID, id string, n Notice) error
	// Notice returns a notice; CodeNotFound when it is absent.
	Notice(ctx context.Context, org callwright.OrgID, id string, seq int) (Notice, error)
}

// Liveness lets nodes stop each other's calls, and close the calls of dead nodes.
type Liveness interface {
	// RequestStop marks a call to be stopped, without a change of its Version; CodeNotFound when it is absent. A call that has
	// ended stays unchanged.
	RequestStop(ctx context.Context, org callwright.OrgID, id string) error
	// Stops returns the ids of the node's calls that are allocated or started and marked to be stopped.
	Stops(ctx context.Context, node string) ([]string, error)
	// Lost returns up to limit calls of every organization that are allocated or started, were allocated at the given time or
	// before, and whose node is not in alive.
	Lost(ctx context.Context, alive []string, before time.Time, limit int) ([]Call, error)
}

// Filter selects calls; the zero Filter selects all.
type Filter struct {
	From, To      string // the whole number; Service.List parses it with callwright.ReadNumber
	Inbound       *bool
	Completed     *bool // whether they have ended
	AnsweredBy    AnsweredBy
	Status        Status
	Pathway       string        // id
	LongerThan    time.Duration // ended calls with a greater Length; 0: no bound
	ShorterThan   time.Duration // ended calls with a smaller Length; 0: no bound
	Since, Before time.Time     // bounds of CreatedAt: Since is included, Before is not; zero: no bound
	OldestFirst   bool
	SkipCount     bool              // do not count matching calls, which reads them all: the number is 0
	Scan          int               // maximum number of calls read for a page: see Records.List; 0: unlimited
	Limit         int               // at most; 0: MaxPage
	After         callwright.Keyset // the last call (CreatedAt, ID) of the previous page
}

// Scanned returns the filter for the calls that Scan counts. In addition to the times it has one condition, by which a store can
// find calls in order.
func (f Filter) Scanned() Filter {
	of := Filter{Since: f.Since, Before: f.Before, OldestFirst: f.OldestFirst, After: f.After}
	switch {
	case f.From != "":
		of.From = f.From
	case f.To != "":
		of.To = f.To
	case f.Pathway != "":
		of.Pathway = f.Pathway
	case f.Completed != nil && !*f.Completed:
		of.Completed = f.Completed
	}
	return of
}

// MaxScan is the Scan of interactive lists, which prefer short pages to long waits.
const MaxScan = 4_000

// Revision identifies a version of a call.
type Revision struct {
	ID      string
	Version int64
}

// RevisionsOf returns the revisions of calls.
func RevisionsOf(calls []Call) []Revision {
	all := make([]Revision, len(calls))
	for i, c := range calls {
		all[i] = Revision{c.ID, c.Version}
	}
	return all
}

// Position is the progress of a call, to detect changes.
type Position struct {
	Version       int64
	StopRequested bool
	Line          int // the highest Seq of its transcript; 0: none
	Turn          int // the highest Turn of its logs; -1: none
}

// MaxPage bounds the calls, lines or logs of one page.
const MaxPage = 1000
