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

// Agents decides which agent has a call; agents.Service implements it. agentstest.RunAgents tests one.
type Agents interface {
	// Answering returns the agent of a number. A number that was never configured has an agent with a task or a pathway, and with a
	// MaxDuration, too.
	Answering(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (agents.Agent, error)
	// Calling returns the agent that makes a call, with its overrides and its defaults. CodeBadRequest: the agent could have no
	// call; the field has the name of the /v1 contract, such as "task" for an agent without a task and a pathway, or "max_duration".
	// CodeNotFound with the field "agent_id": the organization has no web agent of this id.
	Calling(ctx context.Context, org callwright.OrgID, c agents.Choice) (agents.Agent, error)
}

// Recordings keeps the recordings of calls. agentstest.RunRecordings tests one. Ids of organizations and calls have 1 to MaxRecordingID
// ASCII letters, digits, "-" and "_"; other ids may be refused, and never reach what is kept under another id. Another organization's
// recording is absent. The methods, the files and the readers may be used concurrently.
type Recordings interface {
	// Create starts the recording of a call, and replaces one that a crash has cut off. What is written can be read
	// at once, also before the file is closed, and survives the end of the process.
	//
	// An error of Create, or of the file, with a code has a message for people, such as that the disk is full.
	Create(ctx context.Context, org callwright.OrgID, id string) (RecordingFile, error)
	// Open opens a recording as it is at that moment or later; CodeNotFound when there is none, also for an empty organization or id.
	// Each reader has a position of its own.
	Open(ctx context.Context, org callwright.OrgID, id string) (io.ReadSeekCloser, error)
}

// MaxRecordingID is the length of the longest id that Recordings accepts.
const MaxRecordingID = 128

// RecordingFile is a recording that is being written.
type RecordingFile interface {
	io.WriteSeeker
	io.Closer
}

// Notifier notifies the webhook of a call. agentstest.RunNotifier tests one. A message has an id of its own, and a signature that is
// valid for its organization alone. The same record or notice has the same id and the same body whenever it is sent again. If ctx
// ends, the delivery ends with an error; with a ctx that has ended nothing is sent. Errors are for people: their messages are not
// empty, say what failed, and hold nothing of the address but its host. That holds for the errors that they wrap, too.
type Notifier interface {
	// Notify sends the record of a call that has ended to url: its id, its numbers, its transcript and the rest. An error means that
	// it was not delivered. With CodeForbidden and no RetryAfter the receiver refuses it for good, or nothing may be sent to url. After
	// any other error it is sent again, not before the error's RetryAfter, which is the receiver's if it asked for one, and of which
	// an hour counts.
	Notify(
		ctx context.Context, org callwright.OrgID, url string, c Call, transcript []Entry, logs []pathway.Log,
	) error
	// NotifyEvent sends an event of a call, which may still be live, in the same way: the id of the call, and the notice with its Message.
	NotifyEvent(ctx context.Context, org callwright.OrgID, url string, c Call, n Notice) error
}

// Routes tells with which numbers calls go out; sip.Service implements it. agentstest.RunRoutes tests one.
type Routes interface {
	// Caller returns the number that a call goes out with. An empty from is the organization's only outbound number.
	// CodeBadRequest with the field "from" when it has none or several, or when from is not attached for outbound.
	Caller(ctx context.Context, org callwright.OrgID, from callwright.PhoneNumber) (callwright.PhoneNumber, error)
}

// Failures receives calls that have failed.
type Failures interface {
	// CallFailed reports a call that has ended as StatusFailed and is not tried again. Its analysis may still be
	// under way. A call may be reported more than once. After an error it is reported again a few times, not before
	// the error's RetryAfter.
	CallFailed(ctx context.Context, c Call) error
}

// AMD detects an answering machine by the beginning of one call, whose rate is 8000, 16000 or 48000 Hz. One goroutine uses it.
// agentstest.RunAMD tests one.
type AMD interface {
	// Hear takes the next frame of the call: 20 ms at the rate for which the AMD was made. It decides within MaxAMD,
	// and the verdict stays: AnsweredByHuman, AnsweredByVoicemail, or AnsweredByUnknown when it cannot tell.
	Hear(frame conversation.Frame) (verdict AnsweredBy, decided bool)
	// Ended reports, of an answering machine, whether its greeting or its tone is over, so that a message can be
	// left.
	Ended() bool
}

// MaxAMD bounds how much of a call an AMD hears before it decides.
const MaxAMD = time.Minute
