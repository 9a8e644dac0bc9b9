package call

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
)

// Store stores calls. agentstest.RunCallStore tests it.
//
// Given and returned values share no memory with stored values. Returned values equal the stored values: times are in UTC with
// microseconds, durations have nanoseconds, a nil list or map stays nil, an empty list or map stays empty, and Tools of an Agent are stored
// byte for byte. Another organization's call counts as absent. Methods that name a call return CodeNotFound if the call is absent. Tools,
// DynamicData and Webhook of a call's Agent are encrypted at rest: they may contain keys of other systems. Methods are safe for concurrent
// use.
type Store interface {
	Records
	Transcripts
	Notices
	Liveness
}

// Records stores the records of calls.
type Records interface {
	// Insert adds a call with Version 1. It returns CodeConflict if a call of any organization has the same id.
	Insert(ctx context.Context, c Call) error
	// Get returns a call. It returns CodeNotFound if the call is absent.
	Get(ctx context.Context, org callwright.OrgID, id string) (Call, error)
	// Update replaces a call whose stored Version is c.Version, and increments the Version. It returns CodeConflict, and changes nothing,
	// if the Version differs. Of concurrent updates with the same Version, exactly one succeeds. It returns CodeNotFound if the call is
	// absent. The fields of the request stay as inserted: Inbound, From, To, Agent, Plan, RequestData, Metadata, CreatedAt, StartAt and
	// RetryOf. StopRequested stays, too: only RequestStop sets it.
	Update(ctx context.Context, c Call) error
	// List returns a page of calls and, unless f.SkipCount is set, the number of all matching calls, regardless of the page. The order of
	// calls is descending by (CreatedAt, ID), or ascending with OldestFirst. Next is zero if no call follows. The calls omit large fields:
	// their Agent contains only the Pathway, and Plan, RequestData, Variables and Metadata are zero. With Scan, a page ends after Scan
	// calls that match Scanned: it may be short, or even empty, although Next is set.
	List(ctx context.Context, org callwright.OrgID, f Filter) (callwright.Page[Call], int, error)
	// Revisions returns the ids and Versions of the calls that List returns for f, in the same order.
	Revisions(ctx context.Context, org callwright.OrgID, f Filter) ([]Revision, error)
	// Position returns how far a call has progressed. It returns CodeNotFound if the call is absent.
	Position(ctx context.Context, org callwright.OrgID, id string) (Position, error)
	// Hours returns the hours in which calls were created, the oldest first. The first possible hour begins at the first given time, and
	// the last one ends at the second; both times are full hours. Hours omits hours without calls, and returns nil if all are omitted. It
	// reads no calls, because Insert and Update count them.
	Hours(ctx context.Context, org callwright.OrgID, since, before time.Time) ([]Hour, error)
}

// Transcripts stores the transcripts and the logs of calls. Lines and logs may arrive in any order, and numbers may be missing.
type Transcripts interface {
	// Append adds a line to a call's transcript. A repeated Seq changes nothing.
	Append(ctx context.Context, org callwright.OrgID, id string, e Entry) error
	// Speak stores the line that the agent is speaking, as far as it was heard, and replaces the line of an earlier Speak. The line belongs to no
	// transcript, and its Seq is ignored. Append of a line of SpeakerAssistant deletes it.
	Speak(ctx context.Context, org callwright.OrgID, id string, e Entry) error
	// Spoken returns the line of the last Speak with the Seq 0. It returns false if there is none, or if Append has deleted it.
	Spoken(ctx context.Context, org callwright.OrgID, id string) (e Entry, ok bool, err error)
	// Transcript returns a call's lines in the order of Seq.
	Transcript(ctx context.Context, org callwright.OrgID, id string) ([]Entry, error)
	// TranscriptBefore returns the last lines of a call, at most limit, in the order of Seq. Unless the parameter before is 0, it returns
	// only lines with a lower Seq.
	TranscriptBefore(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]Entry, error)
	// LinesAt returns the lines at the given places, which may belong to several calls of the organization. It omits places without a line.
	LinesAt(ctx context.Context, org callwright.OrgID, places []LinePlace) (map[LinePlace]Entry, error)

	// AppendLog adds the log of a turn. A repeated Turn changes nothing.
	AppendLog(ctx context.Context, org callwright.OrgID, id string, l pathway.Log) error
	// Logs returns a call's logs in the order of turns.
	Logs(ctx context.Context, org callwright.OrgID, id string) ([]pathway.Log, error)
	// LogsBefore returns the last logs of a call, at most limit, in the order of Turn. Unless the parameter before is 0, it returns only
	// logs with a lower Turn.
	LogsBefore(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]pathway.Log, error)
}

// LinePlace identifies a line in the transcript of a call.
type LinePlace struct {
	Call string // id of the call
	Seq  int
}

// Notices stores the notices of calls for their webhooks.
type Notices interface {
	// AppendNotice adds a notice. A repeated Seq changes nothing.
	AppendNotice(ctx context.Context, org callwright.OrgID, id string, n Notice) error
	// Notice returns a notice. It returns CodeNotFound if the notice is absent.
	Notice(ctx context.Context, org callwright.OrgID, id string, seq int) (Notice, error)
}

// Liveness lets nodes request stops of each other's calls, and find the calls of dead nodes.
type Liveness interface {
	// RequestStop marks a call to be stopped, without a change of its Version. It changes nothing if the call has ended, and returns
	// CodeNotFound if the call is absent.
	RequestStop(ctx context.Context, org callwright.OrgID, id string) error
	// Stops returns the ids of the node's calls that are allocated or started and marked to be stopped.
	Stops(ctx context.Context, node string) ([]string, error)
	// Lost returns up to limit calls of all organizations that are allocated or started, were allocated at or before the given time, and
	// whose node is not in the given list of live nodes.
	Lost(ctx context.Context, alive []string, before time.Time, limit int) ([]Call, error)
}

// Filter selects calls. The zero Filter selects all calls.
type Filter struct {
	From, To      string // complete numbers; Service.List parses them with callwright.ReadNumber
	Inbound       *bool
	Completed     *bool // whether the calls have ended; nil selects both
	AnsweredBy    AnsweredBy
	Status        Status
	Pathway       string        // id of a pathway
	LongerThan    time.Duration // selects ended calls with a greater Length; 0 means no bound
	ShorterThan   time.Duration // selects ended calls with a smaller Length; 0 means no bound
	Since, Before time.Time     // bounds of CreatedAt: Since is included, Before is not; zero means no bound
	OldestFirst   bool
	SkipCount     bool              // does not count the matching calls, because that reads all of them; the number is then 0
	Scan          int               // maximum number of calls that a page reads: see Records.List; 0 means no limit
	Limit         int               // maximum number of calls per page; 0 means MaxPage
	After         callwright.Keyset // (CreatedAt, ID) of the previous page's last call
}

// Scanned returns the filter for the calls that Scan counts. In addition to the bounds of CreatedAt it contains at most one condition of f,
// by which a store can find calls in order.
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

// MaxScan is the Scan of interactive lists. Their pages may be short, so that the user does not wait long.
const MaxScan = 4_000

// Revision identifies a version of a call's record.
type Revision struct {
	ID      string
	Version int64
}

// RevisionsOf returns the revisions of calls in the same order.
func RevisionsOf(calls []Call) []Revision {
	all := make([]Revision, len(calls))
	for i, c := range calls {
		all[i] = Revision{c.ID, c.Version}
	}
	return all
}

// Position describes how far a call has progressed, so that a client detects changes.
type Position struct {
	Version       int64
	StopRequested bool
	Line          int // highest Seq of the transcript; 0 means no lines
	Turn          int // highest Turn of the logs; -1 means no logs
}

// MaxPage bounds the calls, lines or logs of one page.
const MaxPage = 1000
