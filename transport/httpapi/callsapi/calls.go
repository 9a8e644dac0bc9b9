package callsapi

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/callsoas"
)

// CreateCall serves POST /v1/calls. It queues a call.
func (a *api) CreateCall(
	ctx context.Context, req *oas.CallCreate, _ oas.CreateCallParams,
) (*oas.CallCreatedReply, error) {
	request, err := callRequest(ctx, req)
	if err != nil {
		return nil, err
	}
	c, err := a.cfg.Calls.Create(ctx, httpapi.Org(ctx), request)
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "call_id", c.ID)
	if len(req.Keywords) > 0 && !a.cfg.Calls.UsesKeywords() {
		httpapi.Ignore(ctx, "keywords", "the recognizer of this server cannot use keywords")
	}
	if err := httpapi.NoteVoice(ctx, "voice", req.Voice.Value, req.Language.Value); err != nil {
		return nil, err
	}
	answer := &oas.CallCreatedReply{
		Status: oas.SuccessStatusSuccess, Message: "Call successfully queued.", CallID: c.ID,
	}
	answer.BatchID.SetToNull()
	answer.Warnings = a.cfg.Calls.Warnings(c)
	for _, member := range httpapi.IgnoredMembers(ctx) {
		answer.Ignored = append(answer.Ignored, oas.IgnoredMember(member))
	}
	return answer, nil
}

// ListCalls serves GET /v1/calls. It returns a page of calls without their transcripts.
func (a *api) ListCalls(ctx context.Context, params oas.ListCallsParams) (*oas.CallListReply, error) {
	after, err := callwright.ParseCursor(params.Cursor.Or(""))
	if err != nil {
		return nil, err
	}
	since, err := wire.Since("start_date", params.StartDate.Value)
	if err != nil {
		return nil, err
	}
	until, err := wire.Until("end_date", params.EndDate.Value)
	if err != nil {
		return nil, err
	}
	longer := wire.Minutes(params.DurationGt.Value)
	if params.DurationGt.Set {
		longer = max(longer, time.Nanosecond) // 0 would disable the filter
	}
	page, total, err := a.cfg.Calls.List(ctx, httpapi.Org(ctx), call.Filter{
		From: params.FromNumber.Value, To: params.ToNumber.Value,
		Inbound: wire.Ptr(params.Inbound.Get()), Completed: wire.Ptr(params.Completed.Get()),
		AnsweredBy: call.AnsweredBy(params.AnsweredBy.Value), Status: call.Status(params.Status.Value),
		Pathway:    params.PathwayID.Or(""),
		LongerThan: longer, ShorterThan: wire.Minutes(params.DurationLt.Value),
		Since: since, Before: until,
		OldestFirst: params.Ascending.Or(false), Limit: params.Limit.Or(call.MaxPage), After: after,
	})
	if err != nil {
		return nil, err
	}
	answer := &oas.CallListReply{
		TotalCount: total, Count: len(page.Items), Calls: make([]oas.CallSummary, len(page.Items)),
	}
	for i, c := range page.Items {
		answer.Calls[i] = callSummary(c)
	}
	answer.NextCursor.SetToNull()
	if next := page.Next.Cursor(); next != "" {
		answer.NextCursor.SetTo(next)
	}
	return answer, nil
}

// GetCall serves GET /v1/calls/{call_id}. It returns a call with its transcript and its pathway log.
func (a *api) GetCall(ctx context.Context, params oas.GetCallParams) (*oas.CallRecord, error) {
	c, transcript, err := a.cfg.Calls.Get(ctx, httpapi.Org(ctx), params.CallID)
	if err != nil {
		return nil, err
	}
	logs, err := a.cfg.Calls.Logs(ctx, c.Org, c.ID)
	if err != nil {
		return nil, err
	}
	record, err := callRecord(a.cfg.URL, c, transcript, logs)
	if err != nil {
		return nil, err
	}
	record.Warnings = a.cfg.Calls.Warnings(c)
	return record, nil
}

// StopCall serves POST /v1/calls/{call_id}/stop. It requests the end of a call.
func (a *api) StopCall(ctx context.Context, params oas.StopCallParams) (*oas.MessageReply, error) {
	if err := a.cfg.Calls.Stop(ctx, httpapi.Org(ctx), params.CallID); err != nil {
		return nil, err
	}
	return &oas.MessageReply{Status: oas.SuccessStatusSuccess, Message: "Call is being ended."}, nil
}
