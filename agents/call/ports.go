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

// Agents says which agent has a call; agents.Service has it.
type Agents interface {
	// Answering returns the agent of a number, with defaults for one that nobody has configured.
	Answering(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (agents.Agent, error)
	// Calling returns the agent that makes a call, with its defaults. It refuses one that could have no call; the error
	// names the field as the /v1 contract does.
	Calling(ctx context.Context, org callwright.OrgID, c agents.Choice) (agents.Agent, error)
}

// Recordings keeps the recordings of calls. Ids of organizations and calls have 1 to MaxRecordingID letters of ASCII, digits,
// "-" and "_"; other ids may be refused. Another organization's recording is absent. Several calls are recorded, and
// recordings read, at the same time.
type Recordings interface {
	// Create begins the recording of a call, in place of one that a crash has cut off. What is written can be read at once,
	// also while the file is open, and survives the end of the process.
	Create(ctx context.Context, org callwright.OrgID, id string) (RecordingFile, error)
	// Open reads a recording as it is at that moment or later; CodeNotFound when there is none.
	Open(ctx context.Context, org callwright.OrgID, id string) (io.ReadSeekCloser, error)
}

// MaxRecordingID is the length of the longest id that Recordings must take.
const MaxRecordingID = 128

// RecordingFile is a recording that is being written.
type RecordingFile interface {
	io.WriteSeeker
	io.Closer
}

// Notifier tells the owner of a call about it. A message has an id, the same whenever it is sent again, and a signature
// that holds for its organization alone. An address to which nothing may be sent is a receiver that refuses for good.
// Ending ctx ends the sending.
type Notifier interface {
	// Notify sends the record of a call that has ended to url, signed for the organization. An error means that it
	// should be tried again, not before its RetryAfter if it has one; a receiver that refuses it for good is no error.
	Notify(
		ctx context.Context, org callwright.OrgID, url string, c Call, transcript []Entry, logs []pathway.Log,
	) error
	// NotifyEvent sends something that has happened on a call, which may still be under way, in the same way.
	NotifyEvent(ctx context.Context, org callwright.OrgID, url string, c Call, n Notice) error
}

// Routes is what calls need to know of trunks; sip.Service has it.
type Routes interface {
	// Caller is the number that a call goes out with. An empty one is the organization's only outbound number;
	// CodeBadRequest with the field "from" when it has none or several, or from is not attached for outbound.
	Caller(ctx context.Context, org callwright.OrgID, from callwright.PhoneNumber) (callwright.PhoneNumber, error)
}

// Failures is told of calls that have failed.
type Failures interface {
	// CallFailed tells of a call that has ended as StatusFailed and is not tried again. What follows its end, such as its
	// analysis, may still be under way. It may be told of a call more than once. An error has it told again later, a few
	// times, with a RetryAfter not before.
	CallFailed(ctx context.Context, c Call) error
}

// AMD listens to the beginning of one call, to tell an answering machine from a person. One goroutine uses it.
type AMD interface {
	// Hear takes the next frame of the call, of 20 ms at the rate for which it was made. Within MaxAMD it is decided who took
	// the call, and the verdict stays: AnsweredByHuman, AnsweredByVoicemail, or AnsweredByUnknown when nobody can tell.
	Hear(frame conversation.Frame) (verdict AnsweredBy, decided bool)
	// Ended says, of an answering machine, whether its greeting or its tone is over, so that a message can be left.
	Ended() bool
}

// MaxAMD is how much of a call an AMD may hear before it decides.
const MaxAMD = time.Minute
