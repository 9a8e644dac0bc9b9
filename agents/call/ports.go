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

// Agents decides which agent has a call; agents.Service implements it.
type Agents interface {
	// Answering returns the agent of a number, with defaults for one that nobody has configured.
	Answering(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (agents.Agent, error)
	// Calling returns the agent that makes a call, with its defaults. It refuses one that could have no call; the error
	// names the field as the /v1 contract does.
	Calling(ctx context.Context, org callwright.OrgID, c agents.Choice) (agents.Agent, error)
}

// Recordings keeps the recordings of calls. Ids of organizations and calls have 1 to MaxRecordingID ASCII letters,
// digits, "-" and "_"; other ids may be refused, and never reach what is kept under another id. Another organization's
// recording is absent. The methods, the files and the readers may be used concurrently.
type Recordings interface {
	// Create starts the recording of a call, and replaces one that a crash has cut off. What is written can be read
	// at once, also before the file is closed, and survives the end of the process.
	//
	// An error of Create, or of the file, with a code has a message for people, such as that the disk is full.
	Create(ctx context.Context, org callwright.OrgID, id string) (RecordingFile, error)
	// Open opens a recording as it is at that moment or later; CodeNotFound when there is none.
	Open(ctx context.Context, org callwright.OrgID, id string) (io.ReadSeekCloser, error)
}

// MaxRecordingID is the length of the longest id that Recordings accepts.
const MaxRecordingID = 128

// RecordingFile is a recording that is being written.
type RecordingFile interface {
	io.WriteSeeker
	io.Closer
}

// Notifier notifies the webhook of a call. A message has an id, the same whenever it is sent again, and a signature
// that is valid for its organization alone. Ending ctx ends the delivery. Errors are for people: their messages say what failed and
// hold nothing of the address but its host.
type Notifier interface {
	// Notify sends the record of a call that has ended to url. An error means that it was not delivered: with CodeForbidden
	// the receiver refuses it for good, or nothing may be sent to url; after any other error it is sent again, not before
	// the error's RetryAfter, if it has one, of which an hour counts.
	Notify(
		ctx context.Context, org callwright.OrgID, url string, c Call, transcript []Entry, logs []pathway.Log,
	) error
	// NotifyEvent sends an event of a call, which may still be live, in the same way.
	NotifyEvent(ctx context.Context, org callwright.OrgID, url string, c Call, n Notice) error
}

// Routes is what calls need to know of trunks; sip.Service implements it.
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

// AMD detects an answering machine by the beginning of one call. One goroutine uses it.
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
