package agentstore

import (
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/call"
)

type callRow struct {
	bun.BaseModel `bun:"table:calls"`

	ID      string `bun:"id,pk"`
	Org     string `bun:"org"`
	Inbound bool   `bun:"inbound"`
	From    string `bun:"from_number"`
	To      string `bun:"to_number"`
	agentColumns
	Plan          planJSON       `bun:"plan,type:jsonb"`
	RequestData   map[string]any `bun:"request_data,type:jsonb,nullzero"`
	Variables     map[string]any `bun:"variables,type:jsonb,nullzero"`
	Metadata      map[string]any `bun:"metadata,type:jsonb,nullzero"`
	Queue         string         `bun:"queue"`
	Ended         bool           `bun:"ended"` // derived from Queue, for the filter
	Status        string         `bun:"status"`
	CreatedAt     time.Time      `bun:"created_at"`
	StartAt       *time.Time     `bun:"start_at"`
	StartedAt     *time.Time     `bun:"started_at"`
	EndedAt       *time.Time     `bun:"ended_at"`
	Length        *time.Duration `bun:"length_ns"` // set when the call has ended, for the filter
	Ending        *endingJSON    `bun:"ending,type:jsonb"`
	ErrorMessage  string         `bun:"error_message"`
	AnsweredBy    string         `bun:"answered_by"`
	Answerer      answererJSON   `bun:"answerer,type:jsonb,nullzero"`
	TransferredTo string         `bun:"transferred_to"`
	TransferredAt *time.Time     `bun:"transferred_at"`
	TransferredBy string         `bun:"transferred_by"`
	ModelUsed     string         `bun:"model_used"`
	PathwayNumber *int           `bun:"pathway_number"`
	RetryOf       string         `bun:"retry_of"`
	RetriedBy     string         `bun:"retried_by"`
	Analysis      analysisJSON   `bun:"analysis,type:jsonb"`
	Carriage      carriageJSON   `bun:"carriage,type:jsonb"`
	Stats         callStatsJSON  `bun:"stats,type:jsonb"`
	Recorded      bool           `bun:"recorded"`
	Delivery      deliveryJSON   `bun:"delivery,type:jsonb"`
	Node          string         `bun:"node"`
	Heartbeat     time.Time      `bun:"heartbeat"`
	StopRequested bool           `bun:"stop_requested"`
	Version       int64          `bun:"version"`
}

type planJSON struct {
	Voicemail     voicemailJSON        `json:"voicemail"`
	Retry         *retryJSON           `json:"retry,omitempty"`
	Dispositions  []string             `json:"dispositions,omitzero"`
	SummaryPrompt string               `json:"summary_prompt,omitempty"`
	Events        []call.EventCategory `json:"events,omitzero"`
}

type retryJSON struct {
	Wait      time.Duration `json:"wait_ns"`
	Voicemail voicemailJSON `json:"voicemail"`
}

func newPlanJSON(p call.Plan) planJSON {
	j := planJSON{voicemailJSON(p.Voicemail), nil, p.Dispositions, p.SummaryPrompt, p.Events}
	if p.Retry != nil {
		j.Retry = &retryJSON{p.Retry.Wait, voicemailJSON(p.Retry.Voicemail)}
	}
	return j
}

func (j planJSON) plan() call.Plan {
	p := call.Plan{
		Voicemail: call.Voicemail(j.Voicemail), Dispositions: j.Dispositions, SummaryPrompt: j.SummaryPrompt, Events: j.Events,
	}
	if j.Retry != nil {
		p.Retry = &call.Retry{Wait: j.Retry.Wait, Voicemail: call.Voicemail(j.Retry.Voicemail)}
	}
	return p
}

// newCallRow returns the row of a call without the columns of its agent, which only Insert writes.
func newCallRow(c call.Call) callRow {
	row := callRow{
		ID: c.ID, Org: string(c.Org), Inbound: c.Inbound, From: c.From, To: c.To,
		Plan: newPlanJSON(c.Plan), RequestData: c.RequestData, Variables: c.Variables, Metadata: c.Metadata,
		Queue: string(c.Queue), Ended: c.Queue.Ended(), Status: string(c.Status),
		CreatedAt: sqldb.Stored(c.CreatedAt), StartAt: sqldb.StoredIfSet(c.StartAt),
		StartedAt: sqldb.StoredIfSet(c.StartedAt), EndedAt: sqldb.StoredIfSet(c.EndedAt),
		Ending: (*endingJSON)(c.Ending), ErrorMessage: c.ErrorMessage, AnsweredBy: string(c.AnsweredBy), Answerer: answererJSON(c.Answerer),
		TransferredTo: c.TransferredTo, TransferredAt: sqldb.StoredIfSet(c.TransferredAt),
		TransferredBy: string(c.TransferredBy), ModelUsed: c.ModelUsed,
		PathwayNumber: c.PathwayNumber, RetryOf: c.RetryOf, RetriedBy: c.RetriedBy, Analysis: analysisJSON(c.Analysis),
		Carriage: carriageJSON(c.Carriage), Stats: callStatsJSON{statsJSON(c.Stats), c.ModelCalls.All, c.ModelCalls.Withdrawn, sqldb.Converted(c.Models, storedModel)}, Recorded: c.Recorded,
		Delivery: deliveryJSON(c.Delivery),
		Node:     c.Node, Heartbeat: sqldb.Stored(c.TakenAt), StopRequested: c.StopRequested, Version: c.Version,
	}
	if row.Ended {
		length := call.Call{StartedAt: row.StartedAt, EndedAt: row.EndedAt}.Length()
		row.Length = &length
	}
	return row
}

func (db core) call(r callRow) (call.Call, error) {
	org := callwright.OrgID(r.Org)
	agent, err := db.agent(callAgentPurpose(org, r.ID), r.agentColumns)
	return call.Call{
		ID: r.ID, Org: org, Inbound: r.Inbound, From: r.From, To: r.To, Agent: agent, Plan: r.Plan.plan(),
		RequestData: r.RequestData, Variables: r.Variables, Metadata: r.Metadata,
		Queue: call.QueueStatus(r.Queue), Status: call.Status(r.Status),
		CreatedAt: sqldb.Stored(r.CreatedAt), StartAt: sqldb.StoredIfSet(r.StartAt),
		StartedAt: sqldb.StoredIfSet(r.StartedAt), EndedAt: sqldb.StoredIfSet(r.EndedAt),
		Ending: (*call.HangupReason)(r.Ending), ErrorMessage: r.ErrorMessage, AnsweredBy: call.AnsweredBy(r.AnsweredBy), Answerer: call.Answerer(r.Answerer),
		TransferredTo: r.TransferredTo, TransferredAt: sqldb.StoredIfSet(r.TransferredAt),
		TransferredBy: call.TransferredBy(r.TransferredBy), ModelUsed: r.ModelUsed,
		PathwayNumber: r.PathwayNumber, RetryOf: r.RetryOf, RetriedBy: r.RetriedBy, Analysis: call.Analysis(r.Analysis),
		Carriage: call.LegInfo(r.Carriage), Stats: call.Stats(r.Stats.statsJSON), ModelCalls: call.ModelCalls{All: r.Stats.ModelCalls, Withdrawn: r.Stats.ModelCallsWithdrawn},
		Models: sqldb.Converted(r.Stats.Models, modelUseJSON.model), Recorded: r.Recorded,
		Delivery: call.Delivery(r.Delivery),
		Node:     r.Node, TakenAt: sqldb.Stored(r.Heartbeat), StopRequested: r.StopRequested, Version: r.Version,
	}, err
}
