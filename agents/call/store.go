package call

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
)

// Store keeps calls. What it returns shares no memory with what it keeps. Another organization's call is absent.
type Store interface {
	Records
	Transcripts
	Notices
	Liveness
}

// Records keeps the records of calls.
type Records interface {
	// Insert adds a call with Version 1; CodeConflict when its id is taken.
	Insert(ctx context.Context, c Call) error
	// Get is one call; CodeNotFound when it is absent.
	Get(ctx context.Context, org callwright.OrgID, id string) (Call, error)
	// Update replaces a call whose stored Version is c.Version and adds one to it; CodeConflict, with nothing changed,
	// when somebody else was first; CodeNotFound when it is absent. What a call was asked for stays as it was inserted:
	// Inbound, From, To, Agent, Plan, RequestData, Metadata, CreatedAt, StartAt and RetryOf.
	// StopRequested is not touched: RequestStop owns it.
	Update(ctx context.Context, c Call) error
	// List is a page of calls, newest first unless the filter turns it round, and how many match in all. The calls are
	// without what may be large: of Agent they have the Pathway, and no Plan, RequestData, Variables and Metadata.
	List(ctx context.Context, org callwright.OrgID, f Filter) (callwright.Page[Call], int, error)
}

// Transcripts keeps what was said and done on calls.
type Transcripts interface {
	// Append adds a line to a call's transcript. The same Seq again changes nothing.
	Append(ctx context.Context, org callwright.OrgID, id string, e Entry) error
	// Transcript is a call's lines by Seq.
	Transcript(ctx context.Context, org callwright.OrgID, id string) ([]Entry, error)

	// AppendLog adds what happened in a turn. The same Turn again changes nothing.
	AppendLog(ctx context.Context, org callwright.OrgID, id string, l pathway.Log) error
	// Logs is what happened on a call by turn.
	Logs(ctx context.Context, org callwright.OrgID, id string) ([]pathway.Log, error)
}

// Notices keeps what webhooks are to be told of calls under way.
type Notices interface {
	// AppendNotice adds something that the webhook is to be told. The same Seq again changes nothing.
	AppendNotice(ctx context.Context, org callwright.OrgID, id string, n Notice) error
	// Notice is one of those; CodeNotFound when it is absent.
	Notice(ctx context.Context, org callwright.OrgID, id string, seq int) (Notice, error)
}

// Liveness tells the nodes of each other's live calls.
type Liveness interface {
	// RequestStop marks a call that has not ended; CodeNotFound when it is absent. One that has ended stays as it is.
	RequestStop(ctx context.Context, org callwright.OrgID, id string) error
	// Stops returns the ids of the node's calls that are allocated or started and that somebody wants stopped.
	Stops(ctx context.Context, node string) ([]string, error)
	// Lost returns up to limit calls of every organization that are allocated or started, were taken at the given time or
	// before, and whose node is not among those that are alive.
	Lost(ctx context.Context, alive []string, before time.Time, limit int) ([]Call, error)
}

// Filter chooses calls; the zero Filter all of them.
type Filter struct {
	From, To      string // the whole number
	Inbound       *bool
	Completed     *bool // whether they have ended
	AnsweredBy    AnsweredBy
	Status        Status
	Pathway       string        // id
	LongerThan    time.Duration // calls that have ended and whose Length is more; 0: no bound
	ShorterThan   time.Duration // calls that have ended and whose Length is less; 0: no bound
	Since, Before time.Time     // bounds of CreatedAt: Since is included, Before is not; zero: no bound
	OldestFirst   bool
	Limit         int               // at most; 0: MaxPage
	After         callwright.Keyset // the last call (CreatedAt, ID) of the page before
}

// MaxPage is the most calls that one page has.
const MaxPage = 1000
