package bunstore

import (
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

type callRow struct {
	bun.BaseModel `bun:"table:calls"`

	ID            string         `bun:"id,pk"`
	Org           string         `bun:"org"`
	Inbound       bool           `bun:"inbound"`
	From          string         `bun:"from_number"`
	To            string         `bun:"to_number"`
	Agent         agentJSON      `bun:"agent,type:jsonb"`
	RequestData   map[string]any `bun:"request_data,type:jsonb,nullzero"`
	Metadata      map[string]any `bun:"metadata,type:jsonb,nullzero"`
	Queue         string         `bun:"queue"`
	Ended         bool           `bun:"ended"` // what Queue says, for the filter
	Status        string         `bun:"status"`
	CreatedAt     time.Time      `bun:"created_at"`
	StartedAt     *time.Time     `bun:"started_at"`
	EndedAt       *time.Time     `bun:"ended_at"`
	Ending        *endingJSON    `bun:"ending,type:jsonb"`
	ErrorMessage  string         `bun:"error_message"`
	AnsweredBy    string         `bun:"answered_by"`
	TransferredTo string         `bun:"transferred_to"`
	TransferredAt *time.Time     `bun:"transferred_at"`
	ModelUsed     string         `bun:"model_used"`
	Carriage      carriageJSON   `bun:"carriage,type:jsonb"`
	Stats         statsJSON      `bun:"stats,type:jsonb"`
	Recorded      bool           `bun:"recorded"`
	Node          string         `bun:"node"`
	Heartbeat     time.Time      `bun:"heartbeat"`
	StopRequested bool           `bun:"stop_requested"`
	Version       int64          `bun:"version"`
}

func newCallRow(c call.Call) callRow {
	return callRow{
		ID: c.ID, Org: string(c.Org), Inbound: c.Inbound, From: c.From, To: c.To, Agent: agentJSON(c.Agent),
		RequestData: c.RequestData, Metadata: c.Metadata,
		Queue: string(c.Queue), Ended: c.Queue.Ended(), Status: string(c.Status),
		CreatedAt: stored(c.CreatedAt), StartedAt: storedIfSet(c.StartedAt), EndedAt: storedIfSet(c.EndedAt),
		Ending: (*endingJSON)(c.Ending), ErrorMessage: c.ErrorMessage, AnsweredBy: string(c.AnsweredBy),
		TransferredTo: c.TransferredTo, TransferredAt: storedIfSet(c.TransferredAt), ModelUsed: c.ModelUsed,
		Carriage: carriageJSON(c.Carriage), Stats: statsJSON(c.Stats), Recorded: c.Recorded,
		Node: c.Node, Heartbeat: stored(c.Heartbeat), StopRequested: c.StopRequested, Version: c.Version,
	}
}

func (r callRow) call() call.Call {
	return call.Call{
		ID: r.ID, Org: callwright.OrgID(r.Org), Inbound: r.Inbound, From: r.From, To: r.To, Agent: call.Agent(r.Agent),
		RequestData: r.RequestData, Metadata: r.Metadata,
		Queue: call.QueueStatus(r.Queue), Status: call.Status(r.Status),
		CreatedAt: stored(r.CreatedAt), StartedAt: storedIfSet(r.StartedAt), EndedAt: storedIfSet(r.EndedAt),
		Ending: (*call.Ending)(r.Ending), ErrorMessage: r.ErrorMessage, AnsweredBy: call.AnsweredBy(r.AnsweredBy),
		TransferredTo: r.TransferredTo, TransferredAt: storedIfSet(r.TransferredAt), ModelUsed: r.ModelUsed,
		Carriage: call.LegInfo(r.Carriage), Stats: call.Stats(r.Stats), Recorded: r.Recorded,
		Node: r.Node, Heartbeat: stored(r.Heartbeat), StopRequested: r.StopRequested, Version: r.Version,
	}
}
