package sipapi

import (
	"context"
	"time"

	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/sipoas"
)

// ListSipCalls serves GET /v1/sip/calls. It returns a page of a number's call log.
func (a *api) ListSipCalls(ctx context.Context, params oas.ListSipCallsParams) (*oas.SipCallListReply, error) {
	page, err := a.cfg.Calls.List(ctx, httpapi.Org(ctx), params.PhoneNumber, params.Before.Value, params.Limit.Value)
	if err != nil {
		return nil, err
	}
	now := httpapi.Now(ctx)
	calls := make([]oas.SipCall, len(page.Items))
	for i, r := range page.Items {
		calls[i] = sipCall(r, now)
	}
	return &oas.SipCallListReply{Data: oas.SipCallList{Calls: calls}}, nil
}

func sipCall(r calllog.Record, now time.Time) oas.SipCall {
	return oas.SipCall{
		CallID: r.ID, Direction: oas.SipDirection(r.Direction), From: r.From, To: r.To, Status: wire.NilText(r.Status),
		SipCode: wire.NilInt(r.SIPCode), DurationSeconds: wire.Seconds(r.Duration(now)), StartedAt: r.StartedAt, EndedAt: wire.NilPtr(r.EndedAt),
		SourceIP: wire.NilText(r.Source), ParentCallID: wire.OptNilText(r.ParentID), Attempt: oas.OptInt{Value: r.Attempt, Set: r.Attempt > 0},
		Server: wire.OptNilText(r.Server), ErrorMessage: wire.OptNilText(r.Reason),
	}
}

// GetSipCallTimeline serves GET /v1/sip/calls/{call_id}/timeline. It returns the SIP messages of a call in the log.
func (a *api) GetSipCallTimeline(
	ctx context.Context, params oas.GetSipCallTimelineParams,
) (*oas.SipCallTimelineReply, error) {
	r, steps, err := a.cfg.Calls.Get(ctx, httpapi.Org(ctx), params.CallID)
	if err != nil {
		return nil, err
	}
	timeline := oas.SipCallTimeline{CallID: r.ID, Timeline: make([]oas.SipCallStep, len(steps))}
	for i, e := range steps {
		timeline.Timeline[i] = callStep(e)
	}
	return &oas.SipCallTimelineReply{Data: timeline}, nil
}

func callStep(e ladder.Event) oas.SipCallStep {
	return oas.SipCallStep{
		At: e.At, Attempt: max(1, e.Attempt), Sent: e.Sent, Method: wire.NilText(e.Method), Status: wire.NilInt(e.Status),
		Reason: wire.NilText(e.Reason), Cseq: oas.NilInt{Value: int(e.CSeq), Null: e.Method == ""}, Transport: wire.NilText(e.Transport),
		Peer: wire.NilText(e.Peer), Retransmission: e.Retransmit, Body: wire.NilText(e.Body), Note: wire.NilText(e.Note), Detail: wire.NilText(e.Detail),
	}
}

// StartSipTestCall serves POST /v1/sip/test-call. It starts a test call to a number's endpoint.
func (a *api) StartSipTestCall(
	ctx context.Context, req *oas.SipTestCallStart,
) (*oas.SipTestCallStartedReply, error) {
	c, err := a.cfg.TestCalls.Start(ctx, httpapi.Org(ctx), req.PhoneNumber)
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "call_id", c.ID)
	return &oas.SipTestCallStartedReply{Data: oas.SipTestCallStarted{CallID: c.ID, Message: "Test call started."}}, nil
}

// GetSipTestCall serves GET /v1/sip/test-call/status. It returns the current state of a test call.
func (a *api) GetSipTestCall(
	ctx context.Context, params oas.GetSipTestCallParams,
) (*oas.SipTestCallReply, error) {
	c, err := a.cfg.TestCalls.Get(ctx, httpapi.Org(ctx), params.CallID)
	if err != nil {
		return nil, err
	}
	return &oas.SipTestCallReply{Data: testCall(c, httpapi.Now(ctx))}, nil
}

func testCall(c testcall.Call, now time.Time) oas.SipTestCall {
	answer := oas.SipTestCall{
		Status: oas.SipTestCallStatus(c.Status), Result: oas.SipTestCallResult(c.Result), DurationSeconds: wire.Seconds(c.Duration(now)),
		Timeline: make([]oas.SipTestCallEvent, len(c.Timeline)),
	}
	for i, e := range c.Timeline {
		answer.Timeline[i] = oas.SipTestCallEvent{Event: e.Name, At: e.At, Detail: wire.NilText(e.Detail)}
	}
	return answer
}
