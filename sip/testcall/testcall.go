package testcall

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/ladder"
)

// Status is the status of a test call.
type Status string

// The statuses. Completed, Failed, Busy and NoAnswer are final.
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

// Result is the result of a test call. It is Pending until the call has ended.
type Result string

// The results of a test call.
const (
	Pending        Result = "pending"
	Connected      Result = "connected"
	ResultFailed   Result = "failed"
	ResultBusy     Result = "busy"
	ResultNoAnswer Result = "no_answer"
)

// Call is the stored state of a test call.
type Call struct {
	ID         string // "tc_" and a UUID without dashes
	Org        callwright.OrgID
	Number     callwright.PhoneNumber
	Status     Status
	Result     Result
	Timeline   []Event
	StartedAt  time.Time
	AnsweredAt *time.Time
	EndedAt    *time.Time // nil while the call runs
	Version    int64      // incremented by every update, for optimistic concurrency
}

// Event is one step of a test call.
type Event struct {
	Name   string // for example "initiated", "connected", "ringing", "answered", "completed"
	At     time.Time
	Detail string // may be empty
}

// Line places test calls. siptest.RunTestCallLine tests it.
type Line interface {
	// Place calls p.To over the outbound trunk of p.Number, with p.Number as the caller, and waits for the answer. If p.To is empty, the
	// callee is p.Number. When ctx ends, Place cancels the call, frees its resources, and returns an error. It calls observe with every
	// step, in order, until Place fails or the leg is done; observe must not block. If the call is not answered, Place returns a *Failure.
	Place(ctx context.Context, p Placement, observe func(ladder.Event)) (Leg, error)
}

// Placement describes a test call.
type Placement struct {
	ID     string
	Org    callwright.OrgID
	Number callwright.PhoneNumber
	To     callwright.PhoneNumber // the callee; if empty, Number
	Ring   time.Duration
}

// Leg is an answered test call.
type Leg interface {
	// Info returns the codec, SRTP suite and TLS version of the call, which are never empty, and the peer.
	Info() Carriage
	// Rate returns the sample rate in Hz, at least 8000.
	Rate() int
	// Write queues audio, and waits while the queue is full. Queued returns the number of samples not yet played.
	Write(ctx context.Context, samples []int16) error
	Queued() int
	// Read waits for the next 20 ms of the peer's audio. When the call has ended, it returns the remaining audio and then io.EOF.
	Read(ctx context.Context) ([]int16, error)
	// Hangup ends the call and waits for its end. If the call has ended, Hangup does nothing and returns nil.
	Hangup(ctx context.Context) error
	// Done is closed when either side has ended the call.
	Done() <-chan struct{}
}

// Carriage describes how a call was carried: the codec, the SRTP suite, the TLS version, and the peer's address.
type Carriage struct{ Codec, SRTPSuite, TLS, Peer string }

// Failure is the error that Line.Place returns for a call that was not answered.
type Failure struct {
	Status Status // Busy after 486 and 600, NoAnswer after 408, 480 and the ringing time, otherwise Failed
	Code   int    // of the final SIP response; 0 if there was none
	Reason string // never empty
}

// Error returns Reason.
func (f *Failure) Error() string { return f.Reason }

// Prompt makes the audio of a test call. siptest.RunPrompt tests it.
type Prompt interface {
	// Prompt returns half a second to 20 seconds of mono audio, such as speech. rate is 8000, 16000 or 48000 Hz. The loudest sample is at
	// least 1000.
	Prompt(ctx context.Context, rate int) ([]int16, error)
}

// Store stores test calls. Arguments and results share no memory with the stored calls. Every field is returned as it was stored; times are
// returned in UTC, exact to the microsecond. siptest.RunTestCallStore tests it.
type Store interface {
	// Insert adds a call with Version 1, unless limit or more calls of the organization started after the time since; limit is at least 1.
	// If it adds nothing, oldest is the start of the organization's call in position limit, counted from the newest call; otherwise oldest
	// is zero. Of concurrent calls of Insert, on any nodes, exactly as many add a call as the limit allows; the others return no error.
	// Insert returns CodeConflict if a call of any organization has the same ID.
	Insert(ctx context.Context, c Call, limit int, since time.Time) (added bool, oldest time.Time, err error)
	// Update replaces the call whose stored Version is c.Version, and increments the stored Version. It returns CodeConflict if the stored
	// Version differs, and CodeNotFound if c.Org has no such call.
	Update(ctx context.Context, c Call) error
	// Get returns a call, or CodeNotFound if the organization has no such call.
	Get(ctx context.Context, org callwright.OrgID, id string) (Call, error)
	// Unfinished returns up to limit calls of all organizations that started before the given time and have not ended, the oldest first.
	Unfinished(ctx context.Context, before time.Time, limit int) ([]Call, error)
	// DeleteOld deletes the ended calls of all organizations that started before the given time.
	DeleteOld(ctx context.Context, before time.Time) error
}
