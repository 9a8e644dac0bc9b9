package call

import (
	"context"
	"io"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
)

// Agents selects the agent of a call. agents.Service implements it, and agentstest.RunAgents tests it.
type Agents interface {
	// Answering returns the agent that answers at a number. The agent has a MaxDuration, and a task, a pathway or a persona. For a number
	// without all three, it returns CodeInvalidState with the field "phone_number": the call is refused. It may return an agent together with
	// an error, for the call's record.
	Answering(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (agents.Agent, error)
	// Calling returns the agent that makes a call, with its overrides and defaults. It returns CodeBadRequest if no call can use the agent.
	// The field has the name of the /v1 contract, for example "max_duration", or "task" for an agent without a task and a pathway. It
	// returns CodeNotFound with the field "agent_id" if the organization has no web agent with this id.
	Calling(ctx context.Context, org callwright.OrgID, c agents.Choice) (agents.Agent, error)
}

// Recordings stores the recordings of calls. agentstest.RunRecordings tests it. Ids of organizations and calls consist of 1 to
// MaxRecordingID ASCII letters, digits, "-" and "_". Other ids may be refused, and never address the data of another id. Another
// organization's recording counts as absent. The methods, the files and the readers may be used concurrently.
type Recordings interface {
	// Create begins the recording of a call, and replaces a recording that a crash has interrupted. Written data can be read immediately,
	// even before the file is closed, and survives the end of the process.
	//
	// If an error of Create or of the file has a code, its message is human-readable, for example about a full disk.
	Create(ctx context.Context, org callwright.OrgID, id string) (RecordingFile, error)
	// Open opens the current state of a recording, or a later state. It returns CodeNotFound if the recording is absent, or if the
	// organization or the id is empty. Each reader has a separate position.
	Open(ctx context.Context, org callwright.OrgID, id string) (io.ReadSeekCloser, error)
}

// MaxRecordingID is the maximum length of an id that Recordings must accept.
const MaxRecordingID = 128

// RecordingFile is the file of a recording in progress. Close finishes the recording.
type RecordingFile interface {
	io.WriteSeeker
	io.Closer
}

// Notifier notifies the webhook of a call. agentstest.RunNotifier tests it. Each message has a distinct id, and a signature that is valid
// only for its organization. A record or notice has the same id and the same body at every attempt. If ctx ends, the delivery fails; if ctx
// has ended before, nothing is sent. Error messages are human-readable: they are not empty, name the failure, and contain no part of the
// URL except its host. This also applies to wrapped errors.
type Notifier interface {
	// Notify sends the record of an ended call to url, with its transcript and logs. An error means that the record was not delivered.
	// CodeForbidden without a RetryAfter means that the receiver refuses the record permanently, or that url is forbidden. After any other
	// error the caller retries, not before the error's RetryAfter. The RetryAfter is the Retry-After of the receiver's answer, if any, and
	// at most an hour.
	Notify(
		ctx context.Context, org callwright.OrgID, url string, c Call, transcript []Entry, logs []pathway.Log,
	) error
	// NotifyEvent sends an event of a call, which may still be live. Its errors have the same meaning as the errors of Notify. The message
	// contains the call's id and the notice.
	NotifyEvent(ctx context.Context, org callwright.OrgID, url string, c Call, n Notice) error
}

// Routes selects the numbers that calls show as their caller. sip.Service implements it, and agentstest.RunRoutes tests it.
type Routes interface {
	// Caller returns the number that a call shows as its caller. If from is empty, it returns the organization's only outbound number. It
	// returns CodeBadRequest with the field "from" if from is not attached for outbound calls, or if from is empty and the organization has
	// none or several such numbers.
	Caller(ctx context.Context, org callwright.OrgID, from callwright.PhoneNumber) (callwright.PhoneNumber, error)
}

// Failures receives reports of failed calls.
type Failures interface {
	// CallFailed reports a call that has ended with StatusFailed and has no retry. Its analysis may still be running. A call may be
	// reported more than once. After an error, the report is retried a few times, not before the error's RetryAfter.
	CallFailed(ctx context.Context, c Call) error
}

// AMD identifies the party that answered a call: a person, an answering machine or another machine. It processes one call, at a sample rate
// of 8000, 16000 or 48000 Hz. Only one goroutine may use it. agentstest.RunAMD tests it.
type AMD interface {
	// Hear processes the next frame of the call: 20 ms at the AMD's sample rate. It returns the answerer so far, which has a Category at the
	// latest after MaxAMD. Until then the answerer may change, for example when words correct a verdict by sound. Its At is the time of the
	// frame at which it last changed. After MaxAMD it does not change. An answerer with Rule RuleWords has Words, and is Sure.
	Hear(frame conversation.Frame) Answerer
	// Words passes the other side's recognized words: all words of the current turn so far, which replace the words of an earlier call for
	// this turn. final means that the turn is over, and that later words belong to the next turn. The text may be empty, wrong or partial,
	// in any language. It takes effect in the next Hear. An AMD decides without words, too, because a recognizer may fail.
	Words(text string, final bool)
	// Ended reports whether the machine's recording or tone is over, so that a message can be left: 200 ms after a tone, or after 2 s of
	// silence.
	Ended() bool
}

// MaxAMD is the time of a call after which an AMD's verdict does not change.
const MaxAMD = time.Minute
