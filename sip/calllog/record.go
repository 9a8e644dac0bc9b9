package calllog

import (
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/ladder"
)

// Record is one attempt at a call over a trunk. A call that tries several servers has a record for each of them.
type Record struct {
	ID        string
	Org       callwright.OrgID
	TrunkID   string
	Number    callwright.PhoneNumber // the organization's: the caller of an outbound call, the callee of an inbound one
	ParentID  string                 // the id of the call.Call or test call that the attempt is for; empty: none
	Direction sip.Direction
	From, To  string
	SIPCallID string
	Attempt   int    // 1 for the first server
	Server    string // outbound: failover.Server.String of the server
	Source    string // the peer's IP address; empty while there is no connection
	Node      string // the process that runs the attempt
	StartedAt time.Time
	End       // zero while the attempt runs
}

// End is the end of an attempt.
type End struct {
	AnsweredAt *time.Time
	EndedAt    *time.Time // nil while the attempt runs
	SIPCode    int        // of the final response, the peer's or ours; 0: none
	Status     string     // code and phrase of that response, such as "200 OK"; empty: none
	Cause      string     // a hang-up cause of package call
	Reason     string     // for people
	Technical  bool       // the trunk failed, not the callee
}

// Attempt is a record with its ladder.
type Attempt struct {
	Record
	Ladder []ladder.Event // empty while the attempt runs
}

// Duration returns the length of the call: until its end, or until now if it has not ended.
func (r Record) Duration(now time.Time) time.Duration {
	if r.AnsweredAt == nil {
		return 0
	}
	if r.EndedAt != nil {
		now = *r.EndedAt
	}
	return max(0, now.Sub(*r.AnsweredAt))
}
