package httpapi

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/transport/oas"
)

// CreateCall queues a call.
func (a *api) CreateCall(
	ctx context.Context, req *oas.CreateCallRequest, _ oas.CreateCallParams,
) (*oas.CreateCallResponse, error) {
	request, err := callRequest(req)
	if err != nil {
		return nil, err
	}
	c, err := a.Calls.Create(ctx, orgOf(ctx), request)
	if err != nil {
		return nil, err
	}
	answer := &oas.CreateCallResponse{
		Status: oas.SuccessStatusSuccess, Message: "Call successfully queued.", CallID: c.ID,
	}
	answer.BatchID.SetToNull()
	return answer, nil
}

// ListCalls is a page of calls.
func (a *api) ListCalls(ctx context.Context, params oas.ListCallsParams) (*oas.ListCallsResponse, error) {
	after, err := callwright.ParseCursor(params.Cursor.Or(""))
	if err != nil {
		return nil, err
	}
	page, total, err := a.Calls.List(ctx, orgOf(ctx), call.Filter{
		From: numberInQuery(params.FromNumber), To: numberInQuery(params.ToNumber),
		Inbound: optional(params.Inbound.Get()), Completed: optional(params.Completed.Get()),
		Since: params.StartDate.Or(time.Time{}), Before: params.EndDate.Or(time.Time{}),
		OldestFirst: params.Ascending.Or(false), Limit: params.Limit.Or(call.MaxPage), After: after,
	})
	if err != nil {
		return nil, err
	}
	answer := &oas.ListCallsResponse{
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

// GetCall is one call with its transcript.
func (a *api) GetCall(ctx context.Context, params oas.GetCallParams) (*oas.CallRecord, error) {
	c, transcript, err := a.Calls.Get(ctx, orgOf(ctx), params.CallID)
	if err != nil {
		return nil, err
	}
	return a.callRecord(c, transcript)
}

// StopCall ends a call.
func (a *api) StopCall(ctx context.Context, params oas.StopCallParams) (*oas.MessageResponse, error) {
	if err := a.Calls.Stop(ctx, orgOf(ctx), params.CallID); err != nil {
		return nil, err
	}
	return &oas.MessageResponse{Status: oas.SuccessStatusSuccess, Message: "Call is being ended."}, nil
}

// callRequest is the body of CreateCall in the domain's words. What the contract has and calls here can't do yet is
// refused rather than left out in silence.
func callRequest(req *oas.CreateCallRequest) (call.Request, error) {
	for field, given := range map[string]bool{
		"pathway_id": req.PathwayID.Set, "pathway_version": req.PathwayVersion.Set, "start_node_id": req.StartNodeID.Set,
		"voicemail": req.Voicemail.Set, "agent_id": req.AgentID.Set, "persona": req.Persona.Set, "retry": req.Retry.Set,
		"interruption_threshold": req.InterruptionThreshold.Set, "tools": req.Tools.Set, "dynamic_data": req.DynamicData.Set,
		"start_time": req.StartTime.Set, "dispositions": req.Dispositions != nil, "summary_prompt": req.SummaryPrompt.Set,
		"webhook_events": req.WebhookEvents != nil,
	} {
		if given {
			return call.Request{}, notBuilt(field)
		}
	}
	data, err := valuesOf(req.RequestData.Value)
	if err != nil {
		return call.Request{}, err
	}
	metadata, err := valuesOf(req.Metadata.Value)
	return call.Request{
		From: req.From.Or(""), To: req.PhoneNumber, RequestData: data, Metadata: metadata,
		Agent: call.Agent{
			Task: req.Task.Or(""), Voice: req.Voice.Or(""), Language: languageTag(req.Language.Or("")), Model: req.Model.Or(""),
			Temperature: optional(req.Temperature.Get()), FirstSentence: req.FirstSentence.Or(""),
			WaitForGreeting: req.WaitForGreeting.Or(false), Record: req.Record.Or(false),
			MaxDuration: minutes(req.MaxDuration.Or(0)),
			TransferTo:  callwright.PhoneNumber(req.TransferPhoneNumber.Or("")), Webhook: req.Webhook.Or(""),
		},
	}, err
}

func callSummary(c call.Call) oas.CallSummary {
	s := oas.CallSummary{
		CallID: c.ID, CreatedAt: c.CreatedAt, CallLength: callLength(c), To: c.To, From: c.From, Completed: c.Queue.Ended(),
		QueueStatus: oas.QueueStatus(c.Queue), Status: callStatus(c), ErrorMessage: nilText(c.ErrorMessage),
		AnsweredBy: answeredBy(c), Inbound: c.Inbound,
	}
	s.BatchID.SetToNull()
	s.PathwayID.SetToNull()
	return s
}

// callRecord is the whole record of a call.
func (a *api) callRecord(c call.Call, transcript []call.Entry) (*oas.CallRecord, error) {
	data, err := rawOf(c.RequestData)
	if err != nil {
		return nil, err
	}
	metadata, err := rawOf(c.Metadata)
	if err != nil {
		return nil, err
	}
	r := &oas.CallRecord{
		CallID: c.ID, CID: c.ID, CallLength: callLength(c), To: c.To, From: c.From, Inbound: c.Inbound,
		RequestData: data, Metadata: metadata, Variables: data,
		Completed: c.Queue.Ended(), QueueStatus: oas.QueueStatus(c.Queue), Status: callStatus(c),
		CreatedAt: c.CreatedAt, StartedAt: nilTime(c.StartedAt), EndAt: nilTime(c.EndedAt),
		MaxDuration: c.Agent.MaxDuration.Minutes(), ErrorMessage: nilText(c.ErrorMessage), AnsweredBy: answeredBy(c),
		Record: c.Agent.Record, CallEndedBy: endedBy(c), VoiceID: nilText(c.Agent.Voice), Model: nilText(c.ModelUsed),
		Task:          optNilText(c.Agent.Task),
		TransferredTo: nilText(c.TransferredTo), TransferredAt: nilTime(c.TransferredAt),
		SipCode: sipCode(c), Transcripts: make([]oas.TranscriptLine, len(transcript)),
	}
	r.BatchID.SetToNull()
	r.PathwayID.SetToNull()
	r.PathwayVersion.SetToNull()
	r.PathwayLogs = []oas.CallPathwayLog{}
	r.EndpointURL = a.BaseURL
	r.StartTime.SetToNull()
	r.Analysis.SetToNull()
	r.AnalysisError.SetToNull()
	r.DispositionTag.SetToNull()
	r.Citations = []oas.FreeObject{}
	r.RetryOf.SetToNull()
	r.RetriedBy.SetToNull()
	r.Summary.SetToNull()
	r.Price.SetToNull()
	r.CorrectedDuration.SetToNull()
	if c.StartedAt != nil && c.EndedAt != nil {
		r.CorrectedDuration.SetTo(strconv.Itoa(int(c.Length().Seconds() + 0.5)))
	}
	r.RecordingURL.SetToNull()
	if c.Recorded {
		r.RecordingURL.SetTo(a.BaseURL + "/v1/recordings/" + c.ID)
	}
	texts := make([]string, len(transcript))
	for i, e := range transcript {
		r.Transcripts[i] = transcriptLine(e)
		texts[i] = string(e.Speaker) + ": " + e.Text
	}
	r.ConcatenatedTranscript = strings.Join(texts, "\n")
	return r, nil
}

func transcriptLine(e call.Entry) oas.TranscriptLine {
	l := oas.TranscriptLine{
		ID: e.Seq, CreatedAt: e.CreatedAt, Text: e.Text, User: oas.TranscriptLineUser(e.Speaker),
		Start: oas.NewOptFloat64(e.Start.Seconds()), End: oas.NewOptFloat64(e.End.Seconds()),
		Interrupted: oas.NewOptBool(e.Interrupted),
	}
	if e.Latency != (conversation.Latency{}) {
		l.Latency.SetTo(oas.CallLatency{
			EndOfTurnMs: millis(e.Latency.EndOfTurn), RecognizedMs: millis(e.Latency.Recognized),
			FirstSentenceMs: millis(e.Latency.FirstStep), FirstAudioMs: millis(e.Latency.FirstAudio),
			PlayingMs: millis(e.Latency.Playing),
		})
	}
	return l
}

// callLength is the call's length in minutes, null while there is none.
func callLength(c call.Call) oas.NilFloat64 {
	return oas.NilFloat64{Value: c.Length().Minutes(), Null: c.StartedAt == nil || c.EndedAt == nil}
}

func callStatus(c call.Call) oas.CallStatus {
	if c.Status == "" {
		return oas.CallStatusUnknown
	}
	return oas.CallStatus(c.Status)
}

func answeredBy(c call.Call) oas.NilAnsweredBy {
	return oas.NilAnsweredBy{Value: oas.AnsweredBy(c.AnsweredBy), Null: c.AnsweredBy == ""}
}

// endedBy is who hung up; null for a call that did not end by that.
func endedBy(c call.Call) oas.NilCallRecordCallEndedBy {
	by := oas.NilCallRecordCallEndedBy{Null: true}
	switch {
	case c.Ending == nil || c.StartedAt == nil:
	case c.Ending.Cause == call.CauseRemoteHangup:
		by.SetTo(oas.CallRecordCallEndedByUSER)
	case c.Ending.Cause == call.CauseLocalHangup, c.Ending.Cause == call.CauseTransferred:
		by.SetTo(oas.CallRecordCallEndedByASSISTANT)
	}
	return by
}

func sipCode(c call.Call) oas.OptNilInt {
	if c.Ending == nil || c.Ending.SIPCode == 0 {
		return oas.OptNilInt{Set: true, Null: true}
	}
	return oas.NewOptNilInt(c.Ending.SIPCode)
}
