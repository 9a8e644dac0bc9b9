package sipstore

import (
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/ladder"
)

type recordRow struct {
	bun.BaseModel `bun:"table:sip_calls,alias:sip_calls"`

	ID        string    `bun:"id,pk"`
	Org       string    `bun:"org"`
	TrunkID   string    `bun:"trunk_id"`
	Number    string    `bun:"number"`
	ParentID  string    `bun:"parent_id"`
	Direction string    `bun:"direction"`
	From      string    `bun:"from_number"`
	To        string    `bun:"to_number"`
	SIPCallID string    `bun:"sip_call_id"`
	Attempt   int       `bun:"attempt"`
	Server    string    `bun:"server"`
	Source    string    `bun:"source"`
	Node      string    `bun:"node"`
	StartedAt time.Time `bun:"started_at"`

	AnsweredAt *time.Time `bun:"answered_at"`
	EndedAt    *time.Time `bun:"ended_at"`
	SIPCode    int        `bun:"sip_code"`
	Status     string     `bun:"status"`
	Cause      string     `bun:"cause"`
	Reason     string     `bun:"reason"`
	Technical  bool       `bun:"technical"`

	Events []stepJSON `bun:"events,type:jsonb,scanonly"` // the steps of the ladder, if the query selects them
}

// newRecordRow returns the row of a record. It omits the end of the call.
func newRecordRow(r calllog.Record) recordRow {
	return recordRow{
		ID: r.ID, Org: string(r.Org), TrunkID: r.TrunkID, Number: string(r.Number), ParentID: r.ParentID,
		Direction: string(r.Direction), From: r.From, To: r.To, SIPCallID: r.SIPCallID, Attempt: r.Attempt,
		Server: r.Server, Source: r.Source, Node: r.Node, StartedAt: sqldb.Stored(r.StartedAt),
	}
}

func (r recordRow) record() calllog.Record {
	return calllog.Record{
		ID: r.ID, Org: callwright.OrgID(r.Org), TrunkID: r.TrunkID, Number: callwright.PhoneNumber(r.Number),
		ParentID: r.ParentID, Direction: sip.Direction(r.Direction), From: r.From, To: r.To, SIPCallID: r.SIPCallID,
		Attempt: r.Attempt, Server: r.Server, Source: r.Source, Node: r.Node, StartedAt: sqldb.Stored(r.StartedAt),
		End: calllog.End{
			AnsweredAt: sqldb.StoredIfSet(r.AnsweredAt), EndedAt: sqldb.StoredIfSet(r.EndedAt), SIPCode: r.SIPCode, Status: r.Status,
			Cause: r.Cause, Reason: r.Reason, Technical: r.Technical,
		},
	}
}

type ladderRow struct {
	bun.BaseModel `bun:"table:sip_ladders"`

	CallID string     `bun:"call_id,pk"`
	Events []stepJSON `bun:"events,type:jsonb"`
}

// stepJSON is the JSON form of a ladder.Event. Its fields are in the same order, so that Go converts between the two.
type stepJSON struct {
	At         time.Time `json:"at"`
	Attempt    int       `json:"attempt,omitempty"`
	Sent       bool      `json:"sent,omitempty"`
	Method     string    `json:"method,omitempty"`
	Status     int       `json:"status,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	CSeq       uint32    `json:"cseq,omitempty"`
	Transport  string    `json:"transport,omitempty"`
	Peer       string    `json:"peer,omitempty"`
	Branch     string    `json:"branch,omitempty"`
	Retransmit bool      `json:"retransmit,omitempty"`
	Body       string    `json:"body,omitempty"`
	Note       string    `json:"note,omitempty"`
	Detail     string    `json:"detail,omitempty"`
}

func newStep(e ladder.Event) stepJSON {
	e.At = sqldb.Stored(e.At)
	return stepJSON(e)
}

func (s stepJSON) event() ladder.Event { return ladder.Event(s) }
