package call

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
)

// Store stores calls. agentstest.RunCallStore tests one.
//
// Returned values share no memory with stored ones. They equal what was stored: times are in UTC with microseconds, durations have
// nanoseconds, a nil list or map stays nil, an empty one stays empty, and Tools of an Agent are kept byte for byte. Another
// organization's call is absent. Methods that name a call return CodeNotFound if it is absent. Tools, DynamicData and Webhook of a
// call's Agent are encrypted at rest: they may hold keys of other systems. Methods are safe for concurrent use.
type Store interface {
	Records
	Transcripts
	Notices
	Liveness
}

// Records keeps the records of calls.
type Records interface {
	// Insert adds a call with Version 1; CodeConflict when its id is taken, by any organization.
	Insert(ctx context.Context, c Call) error
	// Get returns a call; CodeNotFound when it is absent.
	Get(ctx context.Context, org callwright.OrgID, id string) (Call, error)
	// Update replaces a call whose stored Version is c.Version and adds one to it; CodeConflict, with nothing changed, when the Version
	// differs; of concurrent calls with the same Version exactly one succeeds. CodeNotFound when it is absent. What a call was asked
	// for stays as it was inserted: Inbound, From, To, Agent, Plan, RequestData, Metadata, CreatedAt, StartAt and RetryOf.
	// StopRequested is not touched: RequestStop owns it.
	Update(ctx context.Context, c Call) error
	// List returns a page of calls in descending order of (CreatedAt, ID), ascending with OldestFirst, and the number of all calls that
	// match, on whichever page they are. Next is zero if no call follows. The calls lack what may be large: their Agent holds the
	// Pathway only, and Plan, RequestData, Variables and Metadata are zero. With Scan, a page ends after as many calls that match
	// Scanned, so that it may be short, even empty, although its Next leads on.
	List(ctx context.Context, org callwright.OrgID, f Filter) (callwright.Page[Call], int, error)
	// Revisions returns the ids and Versions of the calls that List returns for f, in the same order.
	Revisions(ctx context.Context, org callwright.OrgID, f Filter) ([]Revision, error)
	// Position returns how far a call is; CodeNotFound when it is absent.
	Position(ctx context.Context, org callwright.OrgID, id string) (Position, error)
	// Hours returns the hours in which calls were created, the oldest first, from since on and before a time, which are whole hours.
	// Hours without calls are left out; without any the result is nil. It reads no calls: they are counted as they are inserted and
	// updated.
	Hours(ctx context.Context, org callwright.OrgID, since, before time.Time) ([]Hour, error)
}

// Transcripts keeps the transcripts and the logs of calls. Lines and logs may come in any order, and numbers may be missing.
type Transcripts interface {
	// Append adds a line to a call's transcript. The same Seq again changes nothing.
	Append(ctx context.Context, org callwright.OrgID, id string, e Entry) error
	// Transcript returns a call's lines by Seq.
	Transcript(ctx context.Context, org callwright.OrgID, id string) ([]Entry, error)
	// TranscriptBefore returns the last lines of a call whose Seq is below before, at most limit, by Seq. With 0 they are the
	// last of all.
	TranscriptBefore(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]Entry, error)
	// LinesAt returns the lines at some places, of any calls of the organization. Places without a line are left out.
	LinesAt(ctx context.Context, org callwright.OrgID, places []LinePlace) (map[LinePlace]Entry, error)

	// AppendLog adds the log of a turn. The same Turn again changes nothing.
	AppendLog(ctx context.Context, org callwright.OrgID, id string, l pathway.Log) error
	// Logs returns a call's logs by turn.
	Logs(ctx context.Context, org callwright.OrgID, id string) ([]pathway.Log, error)
	// LogsBefore returns the last logs of a call whose Turn is below before, at most limit, by Turn. With 0 they are the last
	// of all.
	LogsBefore(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]pathway.Log, error)
}

// LinePlace is the place of a line in the transcript of a call.
type LinePlace struct {
	Call string // id
	Seq  int
}

// Notices keeps the notices of calls for their webhooks.
type Notices interface {
	// AppendNotice adds a notice. The same Seq again changes nothing.
	AppendNotice(ctx context.Context, org callwright.OrgID, id string, n Notice) error
	// Notice returns a notice; CodeNotFound when it is absent.
	Notice(ctx context.Context, org callwright.OrgID, id string, seq int) (Notice, error)
}

// Liveness lets nodes stop each other's calls and close those of dead nodes.
type Liveness interface {
	// RequestStop marks a call to be stopped and leaves its Version; CodeNotFound when it is absent. A call that has ended stays as it is.
	RequestStop(ctx context.Context, org callwright.OrgID, id string) error
	// Stops returns the ids of the node's calls that are allocated or started and marked to be stopped.
	Stops(ctx context.Context, node string) ([]string, error)
	// Lost returns up to limit calls of every organization that are allocated or started, were taken at the given time or
	// before, and whose node is not among those that are alive.
	Lost(ctx context.Context, alive []string, before time.Time, limit int) ([]Call, error)
}

// Filter selects calls; the zero Filter selects all.
type Filter struct {
	From, To      string // the whole number; Service.List reads it as callwright.ReadNumber does
	Inbound       *bool
	Completed     *bool // whether they have ended
	AnsweredBy    AnsweredBy
	Status        Status
	Pathway       string        // id
	LongerThan    time.Duration // calls that have ended and whose Length is more; 0: no bound
	ShorterThan   time.Duration // calls that have ended and whose Length is less; 0: no bound
	Since, Before time.Time     // bounds of CreatedAt: Since is included, Before is not; zero: no bound
	OldestFirst   bool
	Uncounted     bool              // the number of matching calls, whose count reads them all, is not wanted: it is 0
	Scan          int               // at most so many calls are read for a page: see Records.List; 0: as many as it takes
	Limit         int               // at most; 0: MaxPage
	After         callwright.Keyset // the last call (CreatedAt, ID) of the page before
}

// Scanned returns the filter that chooses the calls which Scan counts: its one condition, beside the times, is one by which a store
// finds calls in their order.
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

// MaxScan is the Scan of lists for people, who would rather go on than wait.
const MaxScan = 4_000

// Revision is a call as it was at a time.
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

// Position tells whether anything of a call has changed.
type Position struct {
	Version       int64
	StopRequested bool
	Line          int // the highest Seq of its transcript; 0: none
	Turn          int // the highest Turn of its logs; -1: none
}

// MaxPage bounds the calls, lines or logs of one page.
const MaxPage = 1000
