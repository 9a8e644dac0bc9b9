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

// Agents selects the agent of a call; agents.Service implements it. agentstest.RunAgents tests it.
type Agents interface {
	// Answering returns the agent of a number. A number that was never configured has an agent with a task or a pathway, and with a
	// MaxDuration, too.
	Answering(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (agents.Agent, error)
	// Calling returns the agent that makes a call, with its overrides and its defaults. CodeBadRequest: the agent cannot be used in
	// a call; the field has the name of the /v1 contract, for example "task" for an agent without a task and a pathway, or
	// "max_duration". CodeNotFound with the field "agent_id": the organization has no web agent with this id.
	Calling(ctx context.Context, org callwright.OrgID, c agents.Choice) (agents.Agent, error)
}

// Recordings stores the recordings of calls. agentstest.RunRecordings tests it. Ids of organizations and calls have 1 to
// MaxRecordingID ASCII letters, digits, "-" and "_"; other ids may be refused, and never address the data of another id. Another
// organization's recording is absent. The methods, the files and the readers may be used concurrently.
type Recordings interface {
	// Create starts the recording of a call, and replaces one that a crash has interrupted. Written data can be read immediately,
	// even before the file is closed, and survives the end of the process.
	//
	// An error of Create, or of the file, with a code has a human-readable message, for example about a full disk.
	Create(ctx context.Context, org callwright.OrgID, id string) (RecordingFile, error)
	// Open opens the current state of a recording, or a later one; CodeNotFound without one, also for an empty organization or id.
	// Each reader has a separate position.
	Open(ctx context.Context, org callwright.OrgID, id string) (io.ReadSeekCloser, error)
}

// MaxRecordingID is the length of the longest id that Recordings accepts.
const MaxRecordingID = 128

// RecordingFile is a recording that is being written.
type RecordingFile interface {
	io.WriteSeeker
	io.Closer
}

// Notifier notifies the webhook of a call. agentstest.RunNotifier tests it. Each message has a distinct id, and a signature that is
// valid only for its organization. A record or notice has the same id and the same body at every attempt. If ctx ends, the delivery
// ends with an error; with an ended ctx nothing is sent. Errors are human-readable: their messages are not empty, name the failure,
// and contain only the host of the URL. This also applies to wrapped errors.
type Notifier interface {
	// Notify sends the record of a call that has ended to url: its id, its numbers, its transcript and the rest. An error means
	// that it was not delivered. CodeForbidden without a RetryAfter means that the receiver refuses it permanently, or that url is
	// forbidden. After any other error the caller retries, not before the error's RetryAfter, which is the receiver's, if any, up
	// to an hour.
	Notify(
		ctx context.Context, org callwright.OrgID, url string, c Call, transcript []Entry, logs []pathway.Log,
	) error
	// NotifyEvent sends an event of a call, which may still be live, in the same way: the id of the call, and the notice with its Message.
	NotifyEvent(ctx context.Context, org callwright.OrgID, url string, c Call, n Notice) error
}

// Routes returns the caller's numbers of calls; sip.Service implements it. agentstest.RunRoutes tests it.
type Routes interface {
	// Caller returns the caller's number of a call. An empty from is the organization's only outbound number. CodeBadRequest with
	// the field "from" when the organization has none or several, or when from is not attached for outbound.
	Caller(ctx context.Context, org callwright.OrgID, from callwright.PhoneNumber) (callwright.PhoneNumber, error)
}

// Failures receives calls that have failed.
type Failures interface {
	// CallFailed reports a call that has ended as StatusFailed and is not retried. Its analysis may still be running. A call may be
	// reported more than once. After an error the report is retried a few times, not before the error's RetryAfter.
	CallFailed(ctx context.Context, c Call) error
}

// AMD detects an answering machine from the beginning of one call, at a rate of 8000, 16000 or 48000 Hz. Only one goroutine may use
// it. agentstest.RunAMD tests it.
type AMD interface {
	// Hear processes the next frame of the call: 20 ms at the rate for which the AMD was made. It decides within MaxAMD, and the
	// verdict stays: AnsweredByHuman, AnsweredByVoicemail, or AnsweredByUnknown when it cannot tell.
	Hear(frame conversation.Frame) (verdict AnsweredBy, decided bool)
	// Ended reports, of an answering machine, whether its greeting or its tone is over, so that a message can be
	// left.
	Ended() bool
}

// MaxAMD bounds the time of a call before an AMD decides.
const MaxAMD = time.Minute
