package call

import (
	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
)

// QueueStatus is the state of a call.
type QueueStatus string

// The moves of a call:
//
//	new ─▶ queued ─▶ allocated ─▶ started ─▶ complete
//	          │          │           └─────▶ complete_error   (answered, then failed)
//	          │          ├─────────────────▶ call_error       (never answered)
//	          ├──────────┴─────────────────▶ complete         (cancelled by its owner)
//	          └────────────────────────────▶ queue_error      (could not even be tried)
//	new ──────────────────────────────────▶ pre_queue_error  (was never queued)
//
// An incoming call begins as allocated.
const (
	QueueNew           QueueStatus = "new"
	QueueQueued        QueueStatus = "queued"
	QueueAllocated     QueueStatus = "allocated"
	QueueStarted       QueueStatus = "started"
	QueueComplete      QueueStatus = "complete"
	QueuePreQueueError QueueStatus = "pre_queue_error"
	QueueError         QueueStatus = "queue_error"
	QueueCallError     QueueStatus = "call_error"
	QueueCompleteError QueueStatus = "complete_error"
)

// Ended reports whether the state is final.
func (q QueueStatus) Ended() bool {
	switch q {
	case QueueComplete, QueuePreQueueError, QueueError, QueueCallError, QueueCompleteError:
		return true
	default:
		return false
	}
}

// Event is an event of a call.
type Event string

// The events.
const (
	EventQueue    Event = "queue"    // accepted, its work is enqueued
	EventAllocate Event = "allocate" // a node has claimed it
	EventAnswer   Event = "answer"   // both sides are connected
	EventFinish   Event = "finish"   // ended normally
	EventCancel   Event = "cancel"   // its owner gave it up before the answer
	EventFail     Event = "fail"     // was not answered, or failed
)

// moves is the whole state machine.
var moves = map[QueueStatus]map[Event]QueueStatus{
	QueueNew:       {EventQueue: QueueQueued, EventAllocate: QueueAllocated, EventFail: QueuePreQueueError},
	QueueQueued:    {EventAllocate: QueueAllocated, EventCancel: QueueComplete, EventFail: QueueError},
	QueueAllocated: {EventAnswer: QueueStarted, EventCancel: QueueComplete, EventFail: QueueCallError},
	QueueStarted:   {EventFinish: QueueComplete, EventFail: QueueCompleteError},
}

// Move returns the state after an event; CodeInvalidState when the state has no such move.
func (q QueueStatus) Move(e Event) (QueueStatus, error) {
	if next, ok := moves[q][e]; ok {
		return next, nil
	}
	return q, callwright.Errorf(callwright.CodeInvalidState, "a call that is %s can't %s", q, e)
}

// outcomes maps each cause to the status and the human-readable message of the call. Any other cause is StatusFailed.
var outcomes = map[Cause]struct {
	status  Status
	message string
}{
	CauseLocalHangup:   {StatusCompleted, ""},
	CauseRemoteHangup:  {StatusCompleted, ""},
	CauseTransferred:   {StatusCompleted, ""},
	CauseMaxDuration:   {StatusCompleted, ""},
	CauseBusy:          {StatusBusy, "the number called is busy"},
	CauseNoAnswer:      {StatusNoAnswer, "nobody answered"},
	CauseUnavailable:   {StatusNoAnswer, "the number called is not available"},
	CauseCancelled:     {StatusCanceled, ""},
	CauseRejected:      {StatusFailed, "the call was declined"},
	CauseRedirected:    {StatusFailed, "the other side redirected the call"},
	CauseNotAcceptable: {StatusFailed, "the other side offers no media that is accepted here: SRTP with a common codec is required"},
	CauseUnreachable:   {StatusFailed, "the trunk's server could not be reached"},
	CauseAuthFailed:    {StatusFailed, "the trunk's server refused the credentials"},
	CauseMediaTimeout:  {StatusFailed, "the other side's audio stopped"},
	CauseOverload:      {StatusFailed, "no capacity was left for the call"},
	CauseNoACK:         {StatusFailed, "the caller never confirmed the answer"},
	CauseNodeLost:      {StatusFailed, "the server that ran the call stopped"},
	CauseDrained:       {StatusFailed, "drained: the server is stopping, and did not wait longer for the call to end"},
	CauseModelRefused:  {StatusFailed, llm.Reason(&llm.Failure{Class: llm.ClassPermanent})},
	CauseModelFailed:   {StatusFailed, "the language model failed"},
	CauseServiceFailed: {StatusFailed, "a service that the conversation needs failed"},
	CauseNoPathway: {
		StatusFailed,
		"the pathway or the persona that was to lead the call, or its version or start node, is not there or can't be used any more",
	},
}

// codeMessages lists SIP responses with a narrower meaning than their cause.
var codeMessages = map[int]string{
	404: "the number called was not found",
	480: "the number called is not available",
	486: "the number called is busy",
	608: "the call was blocked on its way",
}

// causesWithMessage lists the causes whose reason, if any, is the message.
var causesWithMessage = map[Cause]bool{CauseModelFailed: true, CauseServiceFailed: true, CauseRedirected: true, CauseMediaTimeout: true}

// notReached is the message of an unconfirmed end.
const notReached = "the other side was not reached at the end, and may still be in the call"

// outcome returns the status of a call with this reason, and a human-readable message.
func (e *HangupReason) outcome() (Status, string) {
	o, ok := outcomes[e.Cause]
	if !ok {
		return StatusFailed, "the call failed"
	}
	if m, ok := codeMessages[e.SIPCode]; ok && o.message != "" && e.Cause != CauseNoPathway {
		return o.status, m
	}
	if e.Cause == CauseUnreachable && e.SIPCode == 0 && e.Reason != "" {
		return o.status, o.message + ": " + e.Reason // the reason does not come from a peer
	}
	if causesWithMessage[e.Cause] && e.Reason != "" {
		return o.status, e.Reason
	}
	return o.status, o.message
}
