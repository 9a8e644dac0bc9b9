package sip

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
)

// CallRecord is one attempt at a call over a trunk: every server that is tried for a call has a record of its own.
type CallRecord struct {
	ID        string
	Org       callwright.OrgID
	TrunkID   string
	Number    callwright.PhoneNumber // the organization's: the caller's of an outbound call, the called one of an inbound
	ParentID  string                 // the call that the attempt was for: call.Call's id, or a test call's; empty: none
	Direction Direction
	From, To  string
	SIPCallID string
	Attempt   int    // 1 for the first server
	Server    string // outbound: failover.Server.String of the server tried
	Source    string // the peer's IP address; empty while there is no connection
	Node      string // the process that has it
	StartedAt time.Time
	CallEnd   // zero while the attempt runs
}

// CallEnd is how an attempt ended.
type CallEnd struct {
	AnsweredAt *time.Time
	EndedAt    *time.Time // nil while it runs
	SIPCode    int        // of the final answer, the peer's or ours; 0: none
	Status     string     // that answer's code and phrase, such as "200 OK"; empty: none
	Cause      string     // one of the causes of call.Ending
	Reason     string     // for people
	Technical  bool       // the trunk failed, and not the callee
}

// Duration is how long the call was up, up to now for one that still is.
func (r CallRecord) Duration(now time.Time) time.Duration {
	if r.AnsweredAt == nil {
		return 0
	}
	if r.EndedAt != nil {
		now = *r.EndedAt
	}
	return max(0, now.Sub(*r.AnsweredAt))
}

// Journal hears of every attempt at a call, in order; Service is one. It never stops a call, nor keeps one waiting: it is
// told beside the call, and what can't be written is logged.
type Journal interface {
	// Begin is called when it is known whether a server is connected, or to which trunk an incoming call belongs.
	Begin(ctx context.Context, r CallRecord)
	// Answered is called when both sides have answered.
	Answered(ctx context.Context, r CallRecord, at time.Time)
	// End is called once, when nothing of the attempt is left. evidence is nil when the attempt says nothing about the
	// server: when it was never tried, or given up before a word came.
	End(ctx context.Context, r CallRecord, evidence *health.Evidence, steps []ladder.Event)
}

// CallLog keeps the records of attempts. What it is given must be UTF-8 without NUL characters: a database refuses any
// other text with CodeBadRequest, however often it is tried.
type CallLog interface {
	// BeginCall adds a record that has not ended: its CallEnd is not looked at. One whose id is taken stays as it is, and
	// that is no error.
	BeginCall(ctx context.Context, r CallRecord) error
	// AnswerCall sets AnsweredAt of a record that has not ended. One that has ended stays as it is, and that is no error;
	// CodeNotFound when the organization has none.
	AnswerCall(ctx context.Context, org callwright.OrgID, id string, at time.Time) error
	// EndCall ends a record that has not ended, and keeps its ladder. Without an AnsweredAt the record keeps the one that
	// it has; without an EndedAt it is CodeBadRequest. A record that has ended stays as it is, with its ladder, and that
	// is no error; CodeNotFound when the organization has none.
	EndCall(ctx context.Context, org callwright.OrgID, id string, end CallEnd, steps []ladder.Event) error
	// Call is one record with its ladder as EndCall got it; CodeNotFound when the organization has none.
	Call(ctx context.Context, org callwright.OrgID, id string) (CallRecord, []ladder.Event, error)
	// Calls is up to limit records of one number, which is at least 1, newest first: ordered by StartedAt and then by ID,
	// both descending. A place leaves out all records up to it, itself included; a place without an ID leaves out all but
	// those that started before its time; the zero place leaves out none.
	Calls(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, before callwright.Keyset, limit int) (
		[]CallRecord, error)
	// Failures counts a trunk's attempts that ended at since or later, and those of them that were Technical. Attempts
	// that have not ended do not count.
	Failures(ctx context.Context, org callwright.OrgID, trunkID string, since time.Time) (ended, failed int, err error)

	// ForgetCalls removes up to limit records that have ended and began before the given time, the oldest first, with their
	// ladders, and says how many.
	ForgetCalls(ctx context.Context, before time.Time, limit int) (int, error)

	// BeatNode says that a node lives, whose records LostCalls must not give.
	BeatNode(ctx context.Context, node string, at time.Time) error
	// LostCalls is up to limit records that have not ended and whose node is silent since before the given time: it has
	// not beaten since, nor begun that record. The oldest come first.
	LostCalls(ctx context.Context, silentSince time.Time, limit int) ([]CallRecord, error)
}
