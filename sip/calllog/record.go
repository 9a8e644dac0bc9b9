package calllog

import (
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/ladder"
)

// Record describes one call attempt over a trunk. A call that tries several servers has a record for each server.
type Record struct {
	ID        string
	Org       callwright.OrgID
	TrunkID   string
	Number    callwright.PhoneNumber // the organization's number: caller of an outbound call, callee of an inbound one
	ParentID  string                 // id of the call.Call or test call that the attempt belongs to; empty if none
	Direction sip.Direction
	From, To  string
	SIPCallID string
	Attempt   int    // 1 for the first server that the call tries
	Server    string // outbound: failover.Server.String of the server that was tried
	Source    string // peer's IP address; empty while not connected
	Node      string // id of the process that runs the attempt
	StartedAt time.Time
	End       // zero while the attempt runs
}

// End contains the answer and the result of an attempt.
type End struct {
	AnsweredAt *time.Time
	EndedAt    *time.Time // nil while the attempt runs
	SIPCode    int        // status of the final response, the peer's or ours; 0 if none
	Status     string     // status and phrase of that response, such as "200 OK"; empty if none
	Cause      string     // hang-up cause, as package call defines it
	Reason     string     // human-readable explanation
	Technical  bool       // the trunk failed, as opposed to the callee
}

// Attempt is a record together with its ladder.
type Attempt struct {
	Record
	Ladder []ladder.Event // empty while the attempt runs
}

// Duration returns the time from the answer to the end of the call, or to now if the call has not ended. It returns 0 if the call was not
// answered.
func (r Record) Duration(now time.Time) time.Duration {
	if r.AnsweredAt == nil {
		return 0
	}
	if r.EndedAt != nil {
		now = *r.EndedAt
	}
	return max(0, now.Sub(*r.AnsweredAt))
}
