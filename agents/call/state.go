package call

import (
	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
)

// QueueStatus names the state of a call. See the constants for the moves between states.
type QueueStatus string

// The moves of a call:
//
//	new ─▶ queued ─▶ allocated ─▶ started ─▶ complete
//	          │          │           └─────▶ complete_error   (answered, then failed)
//	          │          ├─────────────────▶ call_error       (never answered)
//	          ├──────────┴─────────────────▶ complete         (canceled by its owner)
//	          └────────────────────────────▶ queue_error      (could not be placed)
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

// Event names an event that moves a call to its next state.
type Event string

// The events of the state machine.
const (
	EventQueue    Event = "queue"    // the call was accepted, and its task is enqueued
	EventAllocate Event = "allocate" // a node has claimed the call
	EventAnswer   Event = "answer"   // both sides are connected
	EventFinish   Event = "finish"   // the call ended normally
	EventCancel   Event = "cancel"   // the call was stopped, or an inbound caller gave up, before the answer
	EventFail     Event = "fail"     // the call was not answered, or failed
)

// moves lists the legal moves of the state machine. All other moves are refused.
var moves = map[QueueStatus]map[Event]QueueStatus{
	QueueNew:       {EventQueue: QueueQueued, EventAllocate: QueueAllocated, EventFail: QueuePreQueueError},
	QueueQueued:    {EventAllocate: QueueAllocated, EventCancel: QueueComplete, EventFail: QueueError},
	QueueAllocated: {EventAnswer: QueueStarted, EventCancel: QueueComplete, EventFail: QueueCallError},
	QueueStarted:   {EventFinish: QueueComplete, EventFail: QueueCompleteError},
}

// Move returns the state after an event. It returns CodeInvalidState, and the unchanged state, if the state does not allow the event.
func (q QueueStatus) Move(e Event) (QueueStatus, error) {
	if next, ok := moves[q][e]; ok {
		return next, nil
	}
	return q, callwright.Errorf(callwright.CodeInvalidState, "a call in state %s does not allow the event %s", q, e)
}

// outcomes maps each cause to the status and the human-readable message of the call. A cause that is missing here means StatusFailed.
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
	CauseNotAcceptable: {StatusFailed, "the other side offers no media that this server accepts: SRTP with a common codec is required"},
	CauseUnreachable:   {StatusFailed, "the trunk's server could not be reached"},
	CauseAuthFailed:    {StatusFailed, "the trunk's server refused the credentials"},
	CauseMediaTimeout:  {StatusFailed, "the other side's audio stopped"},
	CauseOverload:      {StatusFailed, "no capacity was left for the call"},
	CauseNoACK:         {StatusFailed, "the caller never confirmed the answer"},
	CauseNodeLost:      {StatusFailed, "the server that ran the call stopped"},
	CauseDrained:       {StatusFailed, "drained: the server is stopping, and the call did not end in time"},
	CauseModelRefused:  {StatusFailed, llm.Reason(&llm.Failure{Class: llm.ClassPermanent})},
	CauseModelFailed:   {StatusFailed, "the language model failed"},
	CauseServiceFailed: {StatusFailed, "a service that the conversation needs failed"},
	CauseFax:           {StatusFailed, "a fax machine answered the call"},
	CauseAnnouncement:  {StatusFailed, "an announcement of the network answered the call"},
	CauseSIT:           {StatusFailed, "the network answered the call with special information tones: the number cannot be reached"},
	CauseNoAgent:       {StatusFailed, "the number called has no task, pathway, persona or brain"},
	CauseNoPathway: {
		StatusFailed,
		"the call's pathway or persona, its version or its start node no longer exists or cannot be used",
	},
}

// codeMessages maps SIP response codes to messages that are more precise than the message of the cause.
var codeMessages = map[int]string{
	404: "the number called was not found",
	480: "the number called is not available",
	486: "the number called is busy",
	608: "a network between the two sides blocked the call",
}

// causesWithMessage lists the causes whose Reason, if not empty, is the message.
var causesWithMessage = map[Cause]bool{CauseModelFailed: true, CauseServiceFailed: true, CauseRedirected: true, CauseMediaTimeout: true, CauseNoAgent: true}

// notReached is the message of a call whose end the other side did not confirm.
const notReached = "the other side was not reached at the end, and may still be in the call"

// outcome returns the status and the human-readable message of a call that ended for this reason.
func (e *HangupReason) outcome() (Status, string) {
	o, ok := outcomes[e.Cause]
	if !ok {
		return StatusFailed, "the call failed"
	}
	if m, ok := codeMessages[e.SIPCode]; ok && o.message != "" && e.Cause != CauseNoPathway && e.Cause != CauseNoAgent {
		return o.status, m
	}
	if e.Cause == CauseUnreachable && e.SIPCode == 0 && e.Reason != "" {
		return o.status, o.message + ": " + e.Reason // this server wrote the reason, not a peer
	}
	if causesWithMessage[e.Cause] && e.Reason != "" {
		return o.status, e.Reason
	}
	return o.status, o.message
}
