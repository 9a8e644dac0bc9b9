package callsapi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/httpapi/internal/pathwaywire"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/callsoas"
)

func callSummary(c call.Call) oas.CallSummary {
	s := oas.CallSummary{
		CallID: c.ID, CreatedAt: c.CreatedAt, CallLength: callLength(c), To: c.To, From: c.From, Completed: c.Queue.Ended(),
		QueueStatus: oas.QueueStatus(c.Queue), Status: callStatus(c), ErrorMessage: wire.NilText(c.ErrorMessage),
		AnsweredBy: answeredBy(c), Inbound: c.Inbound, PathwayID: wire.NilText(c.Agent.Pathway.ID),
	}
	s.BatchID.SetToNull()
	return s
}

// callRecord translates a call with its transcript and its pathway log.
func callRecord(baseURL string, c call.Call, transcript []call.Entry, logs []pathway.Log) (*oas.CallRecord, error) {
	r := &oas.CallRecord{
		CallID: c.ID, CID: c.ID, CallLength: callLength(c), CorrectedDuration: correctedDuration(c), To: c.To, From: c.From,
		Inbound: c.Inbound, Completed: c.Queue.Ended(), QueueStatus: oas.QueueStatus(c.Queue), Status: callStatus(c),
		CreatedAt: c.CreatedAt, StartTime: wire.NilPtr(c.StartAt), StartedAt: wire.NilPtr(c.StartedAt), EndAt: wire.NilPtr(c.EndedAt),
		MaxDuration: c.Agent.MaxDuration.Minutes(), ErrorMessage: wire.NilText(c.ErrorMessage), AnsweredBy: answeredBy(c),
		Answerer: answerer(c.Answerer), Record: c.Agent.Record, CallEndedBy: endedBy(c), VoiceID: wire.NilText(c.Agent.Voice), Model: wire.NilText(c.ModelUsed),
		EndpointURL: baseURL, Task: wire.OptNilText(c.Agent.Task), PathwayID: wire.NilText(c.Agent.Pathway.ID),
		PersonaID: wire.NilText(c.Agent.PersonaID), PersonaVersion: wire.NilInt(c.Agent.PersonaVersion),
		Summary: wire.NilText(c.Analysis.Summary), DispositionTag: wire.NilText(c.Analysis.Disposition),
		AnalysisError: wire.NilText(c.Analysis.Error), Analysis: analysis(c.Analysis), Citations: []oas.FreeObject{},
		RetryOf: wire.NilText(c.RetryOf), RetriedBy: wire.NilText(c.RetriedBy),
		TransferredTo: wire.NilText(c.TransferredTo), TransferredAt: wire.NilPtr(c.TransferredAt),
		TransferredBy: transferredBy(c),
		SipCode:       sipCode(c), ReleaseCause: releaseCause(c), RedirectedTo: redirectedTo(c), WebhookDelivery: delivery(c.Delivery), Transcripts: make([]oas.TranscriptLine, len(transcript)),
	}
	r.BatchID.SetToNull()
	r.Price.SetToNull()
	r.PathwayVersion.SetToNull()
	if c.PathwayNumber != nil {
		r.PathwayVersion.SetTo(*c.PathwayNumber)
	}
	r.RecordingURL.SetToNull()
	if c.Recorded {
		r.RecordingURL.SetTo(baseURL + "/v1/recordings/" + c.ID)
	}
	texts := make([]string, len(transcript))
	for i, e := range transcript {
		r.Transcripts[i] = transcriptLine(e)
		texts[i] = string(e.Speaker) + ": " + e.Words()
	}
	r.ConcatenatedTranscript = strings.Join(texts, "\n")
	r.Conversation = conversationOf(c, transcript)
	return r, fillIn(r, c, logs)
}

// fillIn sets the members whose translation can fail.
func fillIn(r *oas.CallRecord, c call.Call, logs []pathway.Log) (err error) {
	if r.RequestData, err = wire.Raw(c.RequestData); err != nil {
		return err
	}
	if r.Metadata, err = wire.Raw(c.Metadata); err != nil {
		return err
	}
	if r.Variables, err = wire.Raw(c.Variables); err != nil {
		return err
	}
	setModels(r, c, logs)
	if r.Settings, err = settingsOf(c.Settings(logs)); err != nil {
		return err
	}
	r.PathwayLogs, err = pathwayLogs(logs, c.CreatedAt)
	return err
}

// settingsOf translates the settings that apply to a call.
func settingsOf(list []agents.EffectiveSetting) ([]oas.CallSetting, error) {
	settings := make([]oas.CallSetting, len(list))
	for i, s := range list {
		value, err := json.Marshal(s.Value)
		if err != nil {
			return nil, err
		}
		settings[i] = oas.CallSetting{Name: s.Name, Value: value, NodeID: wire.OptText(s.Node)}
		if s.Source != "" {
			settings[i].Source.SetTo(oas.CallSettingSource(s.Source))
		}
	}
	return settings, nil
}

func transcriptLine(e call.Entry) oas.TranscriptLine {
	l := oas.TranscriptLine{
		ID: e.Seq, CreatedAt: e.CreatedAt, Text: e.Text, User: oas.TranscriptLineUser(e.Speaker),
		Start: oas.NewOptFloat64(e.Start.Seconds()), End: oas.NewOptFloat64(e.End.Seconds()),
		Interrupted: oas.NewOptBool(e.Interrupted),
	}
	for _, h := range e.Holds {
		l.Held = append(l.Held, oas.CallHold{StartMs: millis(h.Start), Ms: millis(h.Length), Why: oas.CallHoldWhy(h.Why)})
	}
	if e.Unrecognized != "" {
		l.Unrecognized.SetTo(oas.TranscriptLineUnrecognized(e.Unrecognized))
	}
	if e.Turn > 0 {
		l.Turn.SetTo(e.Turn)
	}
	if e.Waited > 0 {
		l.Waited.SetTo(oas.CallWait{Ms: millis(e.Waited), Why: wire.OptText(string(e.WaitedFor))})
	}
	if e.Expected.Kind != expect.Free {
		l.Expected.SetTo(expectation(e.Expected))
	}
	for _, b := range e.Begun {
		begun := oas.CallBegun{StartMs: millis(b.At), Used: b.Used}
		if b.Why != "" {
			begun.Why.SetTo(oas.CallBegunWhy(b.Why))
		}
		l.Begun = append(l.Begun, begun)
	}
	if e.Latency != (conversation.Latency{}) {
		l.Latency.SetTo(latency(e.Latency))
	}
	return l
}

func expectation(e conversation.Expected) oas.CallExpectation {
	x := oas.CallExpectation{Kind: oas.CallExpectationKind(e.Kind), Digits: wire.OptText(e.Digits)}
	if e.Min > 0 {
		x.Min.SetTo(e.Min)
	}
	if e.Max > 0 {
		x.Max.SetTo(e.Max)
	}
	return x
}

func latency(l conversation.Latency) oas.CallLatency {
	return oas.CallLatency{
		EndOfTurnMs: nilMillis(l.EndOfTurn), RecognizedMs: nilMillis(l.Recognized), FirstSentenceMs: nilMillis(l.FirstStep),
		FirstAudioMs: nilMillis(l.FirstAudio), PlayingMs: nilMillis(l.Playing),
	}
}

// conversationOf returns the summary of a transcript, or null if the call was not answered.
func conversationOf(c call.Call, transcript []call.Entry) oas.OptNilCallConversation {
	if c.StartedAt == nil {
		return oas.OptNilCallConversation{Set: true, Null: true}
	}
	s := call.Summarize(transcript)
	r := oas.CallConversation{
		Turns: s.Turns, TurnsCut: s.Cut, Unrecognized: s.Unrecognized, Interrupted: s.Interrupted, Resumed: s.Resumed, AnswersBegun: s.Begun, AnswersWithdrawn: s.Withdrawn,
	}
	if n := c.ModelCalls; n.All > 0 {
		r.ModelCalls, r.ModelCallsWithdrawn = oas.NewOptInt(n.All), oas.NewOptInt(n.Withdrawn)
	}
	r.Latency.SetToNull()
	if q := s.Latency; q.Answers > 0 {
		r.Latency.SetTo(oas.CallLatencyQuantiles{Answers: q.Answers, P50: latency(q.P50), P95: latency(q.P95)})
	}
	return oas.NewOptNilCallConversation(r)
}

// pathwayLogs translates the log of a call's pathway into lines. The argument begin is the time of words before the first event. The turns
// of a task without events have no lines: their words are in the transcript.
func pathwayLogs(logs []pathway.Log, begin time.Time) ([]oas.CallPathwayLog, error) {
	logs = slices.DeleteFunc(slices.Clone(logs), func(l pathway.Log) bool {
		return len(l.Models) > 0 && l.Node == "" && len(l.Entries) == 0 && l.Withdrawn.Answers == 0
	})
	lines, err := pathwaywire.Lines(logs, begin)
	records := make([]oas.CallPathwayLog, len(lines))
	for i, l := range lines {
		records[i] = oas.CallPathwayLog{
			Role: oas.CallPathwayLogRole(l.Role), Text: l.Text, Decision: l.Decision, PathwayInfo: l.Info, ChosenNodeID: l.ChosenNode,
			Tag: l.Tag, CreatedAt: l.CreatedAt,
		}
	}
	return records, err
}

func analysis(a call.Analysis) oas.NilCallAnalysis {
	if a.Summary == "" && a.Disposition == "" {
		return oas.NilCallAnalysis{Null: true}
	}
	return oas.NewNilCallAnalysis(oas.CallAnalysis{Summary: wire.NilText(a.Summary), Disposition: wire.NilText(a.Disposition)})
}

// delivery translates the state of a record's delivery to its webhook. It returns null without a delivery.
func delivery(d call.Delivery) oas.OptNilCallWebhookDelivery {
	if d.State == "" {
		return oas.OptNilCallWebhookDelivery{Set: true, Null: true}
	}
	return oas.NewOptNilCallWebhookDelivery(oas.CallWebhookDelivery{
		Status: oas.CallWebhookDeliveryStatus(d.State), Attempts: d.Attempts, LastAttemptAt: wire.NilPtr(d.LastAttempt),
		LastFailure: wire.NilText(d.LastFailure),
	})
}

// callLength returns the call's length in minutes. It is null until the call has started and ended.
func callLength(c call.Call) oas.NilFloat64 {
	return oas.NilFloat64{Value: c.Length().Minutes(), Null: c.StartedAt == nil || c.EndedAt == nil}
}

// correctedDuration returns the call's length in whole seconds. It is null until the call has started and ended.
func correctedDuration(c call.Call) oas.NilString {
	if c.StartedAt == nil || c.EndedAt == nil {
		return oas.NilString{Null: true}
	}
	return oas.NewNilString(strconv.Itoa(int(c.Length().Seconds() + 0.5)))
}

func callStatus(c call.Call) oas.CallStatus {
	if c.Status == "" {
		return oas.CallStatusUnknown
	}
	return oas.CallStatus(c.Status)
}

// answerer returns the party that answered, in detail. It is null before the verdict.
func answerer(a call.Answerer) oas.OptNilAnswerer {
	if a.Category == "" {
		return oas.OptNilAnswerer{Set: true, Null: true}
	}
	return oas.NewOptNilAnswerer(oas.Answerer{
		Category: oas.AnswererCategory(a.Category), Rule: oas.AnswererRule(a.Rule), AtMs: int(a.At.Milliseconds()), Words: wire.NilText(a.Words),
	})
}

func answeredBy(c call.Call) oas.NilAnsweredBy {
	return oas.NilAnsweredBy{Value: oas.AnsweredBy(c.AnsweredBy), Null: c.AnsweredBy == ""}
}

// endedBy returns the side that hung up; a transfer counts as the assistant's. It returns null if the call was not answered, or if it ended
// for another reason.
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

func transferredBy(c call.Call) oas.NilCallRecordTransferredBy {
	switch c.TransferredBy {
	case call.TransferredByAgent:
		return oas.NewNilCallRecordTransferredBy(oas.CallRecordTransferredByASSISTANT)
	case call.TransferredByPeer:
		return oas.NewNilCallRecordTransferredBy(oas.CallRecordTransferredByUSER)
	default:
		return oas.NilCallRecordTransferredBy{Null: true}
	}
}

func sipCode(c call.Call) oas.OptNilInt {
	if c.Ending == nil || c.Ending.SIPCode == 0 {
		return oas.OptNilInt{Set: true, Null: true}
	}
	return oas.NewOptNilInt(c.Ending.SIPCode)
}

func redirectedTo(c call.Call) oas.OptNilString {
	if c.Carriage.RedirectedTo == "" {
		return oas.OptNilString{Set: true, Null: true}
	}
	return oas.NewOptNilString(c.Carriage.RedirectedTo)
}

func releaseCause(c call.Call) oas.OptNilString {
	if c.Ending == nil || c.Ending.Release == "" {
		return oas.OptNilString{Set: true, Null: true}
	}
	return oas.NewOptNilString(c.Ending.Release)
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// nilMillis returns a duration in milliseconds, or null for 0.
func nilMillis(d time.Duration) wire.Nil[float64] { return wire.Millis(wire.Ptr(d, d != 0)) }
