package testcall

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/ladder"
)

// Status is the status of a test call.
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

// Result is the result of a test call.
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

// Line places test calls. siptest.RunTestCallLine tests it.
type Line interface {
	// Place calls p.To over a number's outbound trunk, with the number as the caller, and waits for the answer. An empty p.To means
	// the number itself. When ctx ends, the call is canceled, its resources are freed, and Place returns an error. observe is
	// called with every step, in order, until Place fails or the leg is done; it must not block. A call that is not answered is a
	// *Failure.
	Place(ctx context.Context, p Placement, observe func(ladder.Event)) (Leg, error)
}

// Placement describes a test call.
type Placement struct {
	ID     string
	Org    callwright.OrgID
	Number callwright.PhoneNumber
	To     callwright.PhoneNumber // the callee; empty: Number
	Ring   time.Duration
}

// Leg is an answered test call.
type Leg interface {
	// Info returns the negotiated codec, SRTP suite and TLS version, none of them empty, and the peer.
	Info() Carriage
	// Rate returns the samples a second, at least 8000.
	Rate() int
	// Write queues audio, and waits while the queue is full. Queued returns the number of samples not yet played.
	Write(ctx context.Context, samples []int16) error
	Queued() int
	// Read waits for the next 20 ms of the peer's audio. It returns io.EOF when the call has ended, after the audio that is left.
	Read(ctx context.Context) ([]int16, error)
	// Hangup ends the call and waits for its end. For a call that has ended it does nothing, without an error.
	Hangup(ctx context.Context) error
	// Done is closed when the call has ended, from either side.
	Done() <-chan struct{}
}

// Carriage describes the transport of a call.
type Carriage struct{ Codec, SRTPSuite, TLS, Peer string }

// Failure is the error of a test call that was not answered.
type Failure struct {
	Status Status // Busy after 486 and 600, NoAnswer after 408, 480 and the ringing time, otherwise Failed
	Code   int    // of the final SIP response; 0: none
	Reason string // never empty
}

// Error returns the reason.
func (f *Failure) Error() string { return f.Reason }

// Prompt makes the audio of a test call. siptest.RunPrompt tests it.
type Prompt interface {
	// Prompt returns half a second to 20 seconds of speech or other sounds, mono, at a rate of 8000, 16000 or 48000 samples a
	// second. The loudest sample is at least 1000.
	Prompt(ctx context.Context, rate int) ([]int16, error)
}

// Store stores test calls. Given and returned values share no memory with stored ones. Every field comes back unchanged; times are
// returned in UTC, exact to the microsecond. siptest.RunTestCallStore tests it.
type Store interface {
	// Insert adds a call with Version 1, unless limit calls of the organization, at least 1, started after since. Then it adds
	// nothing, and oldest is the start of the oldest among the limit newest calls; oldest is zero when the call is added. Of
	// concurrent calls, on any nodes, exactly as many are added as the limit allows; the others are no error. CodeConflict when any
	// organization's call has the same ID.
	Insert(ctx context.Context, c Call, limit int, since time.Time) (added bool, oldest time.Time, err error)
	// Update replaces the call whose stored Version is c.Version, and adds one to the Version. CodeConflict when the stored
	// Version differs, CodeNotFound when c.Org has no such call.
	Update(ctx context.Context, c Call) error
	// Get returns a call; CodeNotFound when the organization has no such call.
	Get(ctx context.Context, org callwright.OrgID, id string) (Call, error)
	// Unfinished returns up to limit calls of all organizations that started before the given time and have not ended, the oldest first.
	Unfinished(ctx context.Context, before time.Time, limit int) ([]Call, error)
	// DeleteOld deletes the ended calls of all organizations that started before the given time.
	DeleteOld(ctx context.Context, before time.Time) error
}
