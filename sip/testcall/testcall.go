package testcall

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/ladder"
)

// Status is where a test call stands.
type Status string

// The statuses.
const (
	Queued     Status = "queued"
	Initiated  Status = "initiated"
	Ringing    Status = "ringing"
	InProgress Status = "in-progress"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Busy       Status = "busy"
	NoAnswer   Status = "no-answer"
)

// Result is what a test call has shown.
type Result string

// The results.
const (
	Pending        Result = "pending"
	Connected      Result = "connected"
	ResultFailed   Result = "failed"
	ResultBusy     Result = "busy"
	ResultNoAnswer Result = "no_answer"
)

// Call is one test call.
type Call struct {
	ID         string // "tc_" and a UUID without dashes
	Org        callwright.OrgID
	Number     callwright.PhoneNumber
	Status     Status
	Result     Result
	Timeline   []Event
	StartedAt  time.Time
	AnsweredAt *time.Time
	EndedAt    *time.Time // nil while it runs
	Version    int64      // for the compare-and-set
}

// Event is one step of a test call.
type Event struct {
	Name   string // such as "initiated", "connected", "ringing", "answered", "completed"
	At     time.Time
	Detail string // empty: none
}

// Line places test calls.
type Line interface {
	// Place calls the trunk of an outbound number, with that number as the caller and the called one, and waits until it
	// is answered. Ending ctx gives it up and leaves nothing behind. observe hears of every step, in order, until Place
	// returns or, after that, the leg is done; it must not block. A call that does not come about is a *Failure.
	Place(ctx context.Context, p Placement, observe func(ladder.Event)) (Leg, error)
}

// Placement is a test call to place.
type Placement struct {
	ID     string
	Org    callwright.OrgID
	Number callwright.PhoneNumber
	Ring   time.Duration
}

// Leg is an answered test call.
type Leg interface {
	// Info is how it is carried: codec, SRTP suite, TLS version.
	Info() Carriage
	// Rate is the samples a second. Write queues audio and waits while too much is queued; Queued is what is not yet
	// played. Read waits for the next 20 ms of the peer's audio; io.EOF when the call is over.
	Rate() int
	Write(ctx context.Context, samples []int16) error
	Queued() int
	Read(ctx context.Context) ([]int16, error)
	// Hangup ends the call and waits until it has ended; one that has ended stays as it is. Done is closed then.
	Hangup(ctx context.Context) error
	Done() <-chan struct{}
}

// Carriage says how a call is carried.
type Carriage struct{ Codec, SRTPSuite, TLS, Peer string }

// Failure is why a test call was not answered.
type Failure struct {
	Status Status // Failed, Busy or NoAnswer
	Code   int    // SIP; 0: no answer came
	Reason string
}

// Error is the reason.
func (f *Failure) Error() string { return f.Reason }

// Prompt gives the audio that a test call plays.
type Prompt interface {
	// Prompt is a few seconds of speech or of sounds at a rate in samples a second.
	Prompt(ctx context.Context, rate int) ([]int16, error)
}

// Store keeps test calls.
type Store interface {
	// Insert adds a call with Version 1, unless the organization has limit calls, at least 1, that began after since: then
	// nothing is added, and oldest is when the oldest of those limit newest began. Of many that come at once, on whichever
	// nodes, no more than limit are added.
	Insert(ctx context.Context, c Call, limit int, since time.Time) (added bool, oldest time.Time, err error)
	// Update replaces the call whose stored Version is c.Version and adds one to it; CodeConflict when somebody else was
	// first, CodeNotFound when it is absent.
	Update(ctx context.Context, c Call) error
	// Get is one call; CodeNotFound when the organization has none.
	Get(ctx context.Context, org callwright.OrgID, id string) (Call, error)
	// Unfinished is up to limit calls that began before the given time and have not ended.
	Unfinished(ctx context.Context, before time.Time, limit int) ([]Call, error)
	// Forget removes the ended calls that began before the given time.
	Forget(ctx context.Context, before time.Time) error
}
