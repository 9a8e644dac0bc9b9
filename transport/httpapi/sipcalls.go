package httpapi

import (
	"context"
	"time"

	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/transport/oas"
)

// ListSipCalls is a page of a number's call log.
func (a *api) ListSipCalls(ctx context.Context, params oas.ListSipCallsParams) (*oas.SipCallListReply, error) {
	page, err := a.SIPCalls.List(ctx, orgOf(ctx), params.PhoneNumber, params.Before.Value, params.Limit.Value)
	if err != nil {
		return nil, err
	}
	now := a.Clock.Now()
	calls := make([]oas.SipCall, len(page.Items))
	for i, r := range page.Items {
		calls[i] = sipCall(r, now)
	}
	return &oas.SipCallListReply{Data: oas.SipCallList{Calls: calls}}, nil
}

func sipCall(r calllog.Record, now time.Time) oas.SipCall {
	return oas.SipCall{
		CallID: r.ID, Direction: oas.SipDirection(r.Direction), From: r.From, To: r.To, Status: nilText(r.Status),
		SipCode: nilInt(r.SIPCode), DurationSeconds: seconds(r.Duration(now)), StartedAt: r.StartedAt, EndedAt: nilTime(r.EndedAt),
		SourceIP: nilText(r.Source), ParentCallID: optNilText(r.ParentID), Attempt: oas.OptInt{Value: r.Attempt, Set: r.Attempt > 0},
		Server: optNilText(r.Server), ErrorMessage: optNilText(r.Reason),
	}
}

// seconds is a duration in seconds, rounded.
func seconds(d time.Duration) int { return int(d.Round(time.Second).Seconds()) }

// GetSipCallTimeline is the messages of a call of the log.
func (a *api) GetSipCallTimeline(
	ctx context.Context, params oas.GetSipCallTimelineParams,
) (*oas.SipCallTimelineReply, error) {
	r, steps, err := a.SIPCalls.Get(ctx, orgOf(ctx), params.CallID)
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
		At: e.At, Attempt: max(1, e.Attempt), Sent: e.Sent, Method: nilText(e.Method), Status: nilInt(e.Status),
		Reason: nilText(e.Reason), Cseq: oas.NilInt{Value: int(e.CSeq), Null: e.Method == ""}, Transport: nilText(e.Transport),
		Peer: nilText(e.Peer), Retransmission: e.Retransmit, Body: nilText(e.Body), Note: nilText(e.Note), Detail: nilText(e.Detail),
	}
}

// StartSipTestCall rings a number's endpoint.
func (a *api) StartSipTestCall(
	ctx context.Context, req *oas.SipTestCallStart,
) (*oas.SipTestCallStartedReply, error) {
	c, err := a.TestCalls.Start(ctx, orgOf(ctx), req.PhoneNumber)
	if err != nil {
		return nil, err
	}
	return &oas.SipTestCallStartedReply{Data: oas.SipTestCallStarted{CallID: c.ID, Message: "Test call started."}}, nil
}

// GetSipTestCall is a test call as it stands.
func (a *api) GetSipTestCall(
	ctx context.Context, params oas.GetSipTestCallParams,
) (*oas.SipTestCallReply, error) {
	c, err := a.TestCalls.Get(ctx, orgOf(ctx), params.CallID)
	if err != nil {
		return nil, err
	}
	return &oas.SipTestCallReply{Data: testCall(c, a.Clock.Now())}, nil
}

func testCall(c testcall.Call, now time.Time) oas.SipTestCall {
	answer := oas.SipTestCall{
		Status: oas.SipTestCallStatus(c.Status), Result: oas.SipTestCallResult(c.Result), DurationSeconds: seconds(c.Duration(now)),
		Timeline: make([]oas.SipTestCallEvent, len(c.Timeline)),
	}
	for i, e := range c.Timeline {
		answer.Timeline[i] = oas.SipTestCallEvent{Event: e.Name, At: e.At, Detail: nilText(e.Detail)}
	}
	return answer
}
