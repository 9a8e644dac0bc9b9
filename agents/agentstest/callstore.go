package agentstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/llm/price"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/callwrighttest"
)

// RunCallStore tests a call.Store. newStore returns an empty store. atRest reads the stored data at rest; it is nil for a store in memory.
func RunCallStore(t *testing.T, newStore func(t *testing.T) call.Store, atRest callwrighttest.AtRest[call.Store]) {
	t.Helper()
	callwrighttest.RunRows(t, callwrighttest.RowsHarness[call.Store, call.Call]{
		New: newStore,
		Value: func(_ *testing.T, number int) call.Call {
			c := fullCall()
			c.ID = fmt.Sprint("c", number)
			return c
		},
		Partial: true,
		Org:     func(c *call.Call) *callwright.OrgID { return &c.Org },
		Version: func(c *call.Call) *int64 { return &c.Version },
		Insert:  call.Store.Insert,
		Find: func(s call.Store, ctx context.Context, c call.Call) (call.Call, error) {
			return s.Get(ctx, c.Org, c.ID)
		},
		Change: func(c *call.Call, writer int) {
			c.Queue, c.Node, c.Variables = call.QueueComplete, fmt.Sprint("n", writer), nil
		},
		Replace: call.Store.Update,
		Secret: func(*testing.T) call.Call {
			c := aCall(callwrighttest.VisibleID, "a")
			c.Agent = secretAgent()
			return c
		},
		Secrets: agentSecrets,
		AtRest:  atRest,
	})
	tests := map[string]func(*testing.T, call.Store){
		"keeps every field":                  keepsCall,
		"tells nothing from an empty list":   keepsEmptyListsOfCall,
		"hides other organizations' calls":   hidesCalls,
		"keeps which node took it, and when": keepsTakenAt,
		"filters":                            filtersCalls,
		"filters by how calls came out":      filtersOutcomes,
		"lists without what may be large":    listsLightly,
		"pages without gaps":                 pagesCalls,
		"counts the calls of a time":         countsCalls,
		"looks at some calls for a page":     scansCalls,
		"tells what has changed":             tellsChanges,
		"keeps a transcript":                 keepsTranscript,
		"keeps the line that is spoken":      keepsSpokenLine,
		"keeps logs by turn":                 keepsLogs,
		"pages lines and logs":               pagesEvents,
		"finds lines at places":              findsLines,
		"keeps notices":                      keepsNotices,
		"asks for a stop":                    asksForStop,
		"finds the calls of dead nodes":      findsLost,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

func aCall(id string, org callwright.OrgID) call.Call {
	return call.Call{
		ID: id, Org: org, From: "+15550000001", To: "+15550000002", Queue: call.QueueQueued, CreatedAt: at, Version: 1,
	}
}

func insertCalls(t *testing.T, s call.Store, calls ...call.Call) {
	t.Helper()
	for _, c := range calls {
		if err := s.Insert(t.Context(), c); err != nil {
			t.Fatalf("insert %s: %v", c.ID, err)
		}
	}
}

func getCall(t *testing.T, s call.Store, org callwright.OrgID, id string) call.Call {
	t.Helper()
	c, err := s.Get(t.Context(), org, id)
	if err != nil {
		t.Fatalf("get %s: %v", id, err)
	}
	return c
}

// fullCall returns a call with a value in every field except StopRequested.
func fullCall() call.Call {
	due, started, ended, moved := at.Add(-time.Hour), at.Add(time.Second), at.Add(time.Minute), at.Add(50*time.Second)
	number := 0
	full := aCall("c1", "a")
	full.Inbound, full.Agent = true, fullAgent()
	full.Plan = call.Plan{
		Voicemail: call.Voicemail{Action: call.VoicemailMessage, Message: "Call {{number}}."},
		Retry: &call.Retry{
			Wait: 90 * time.Second, Voicemail: call.Voicemail{Action: call.VoicemailHangup, Message: "none"},
		},
		Dispositions: []string{"sold", "lost"}, SummaryPrompt: "In one line.",
		Events: []call.EventCategory{call.EventsTool, call.EventsCall},
	}
	full.RequestData = map[string]any{"name": "Ada", "list": []any{"x", 1.5, nil, true}, "deep": map[string]any{"k": "v"}}
	full.Variables = map[string]any{"name": "Ada", "day": "Tuesday", "seats": 4.0}
	full.Metadata = map[string]any{"ticket": "T-1"}
	full.Queue, full.Status = call.QueueComplete, call.StatusCompleted
	full.StartAt, full.StartedAt, full.EndedAt = &due, &started, &ended
	full.Ending = &call.HangupReason{Cause: call.CauseTransferred, SIPCode: 200, Reason: "moved", ByPeer: true, Release: "Q.850;cause=16", Unconfirmed: true}
	full.ErrorMessage, full.AnsweredBy = "none", call.AnsweredByHuman
	full.ModelCalls = call.ModelCalls{All: 7, Withdrawn: 2}
	cost := price.Money(1_234_567)
	full.Models = []call.ModelUse{
		{Use: llm.Use{Model: "large", Replaced: "small", Cause: llm.ClassTransient, Requests: 3, Failed: 1, Uncounted: 1, Usage: llm.Usage{Input: 1200, Output: 7, Cached: 1000}}, Cost: &cost},
		{Use: llm.Use{Model: "small", Requests: 1, Failed: 1}},
	}
	full.Answerer = call.Answerer{Category: call.CategoryHuman, Rule: call.RuleWords, At: 1500 * time.Millisecond, Words: "who is this", Sure: true}
	full.TransferredTo, full.TransferredAt, full.TransferredBy = "+15550000003", &moved, call.TransferredByPeer
	full.ModelUsed = "scripted"
	full.PathwayNumber, full.RetryOf, full.RetriedBy = &number, "c0", "c2"
	full.Analysis = call.Analysis{Summary: "Sold \u2603.", Disposition: "sold", Error: "half of it"}
	full.Carriage = call.LegInfo{SIPCallID: "x@y", Peer: "192.0.2.1:5061", Codec: "PCMU", SRTPSuite: "S", TLS: "TLS 1.3", RedirectedTo: "sip:+15550000009@192.0.2.2:5061"}
	full.Stats = call.Stats{Sent: 1 << 40, Received: 2, Lost: 3, Late: 4, Jitter: time.Millisecond, RoundTrip: 5, Fault: "f"}
	full.Delivery = call.Delivery{State: call.DeliveryGivenUp, Attempts: 3, LastAttempt: &moved, LastFailure: "it answered with status 503"}
	full.Recorded, full.Node, full.TakenAt = true, "n1", at.Add(59*time.Second)
	return full
}

func wantCall(t *testing.T, s call.Store, want call.Call) {
	t.Helper()
	if got := getCall(t, s, want.Org, want.ID); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// keepsCall checks that the store keeps every field of a call: on insert, on an update that clears the mutable fields, and on an update
// that sets them again.
func keepsCall(t *testing.T, s call.Store) {
	full := fullCall()
	for i, v := 0, reflect.ValueOf(full); i < v.NumField(); i++ {
		if field := v.Type().Field(i); field.IsExported() && v.Field(i).IsZero() && field.Name != "StopRequested" {
			t.Fatalf("the test has no value for %s", field.Name)
		}
	}
	insertCalls(t, s, full)
	wantCall(t, s, full)

	bare := call.Call{ID: full.ID, Org: full.Org, TakenAt: full.TakenAt, Version: 1}
	if err := s.Update(t.Context(), bare); err != nil {
		t.Fatal(err)
	}
	bare.Version = 2
	bare.Inbound, bare.From, bare.To, bare.Agent, bare.Plan = full.Inbound, full.From, full.To, full.Agent, full.Plan
	bare.RequestData, bare.Metadata, bare.RetryOf = full.RequestData, full.Metadata, full.RetryOf
	bare.CreatedAt, bare.StartAt = full.CreatedAt, full.StartAt
	wantCall(t, s, bare)

	full.Version = 2
	if err := s.Update(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	full.Version = 3
	wantCall(t, s, full)
}

func keepsEmptyListsOfCall(t *testing.T, s call.Store) {
	empty := aCall("c1", "a")
	empty.Agent.Tools = []json.RawMessage{}
	empty.Agent.DynamicData = []agents.DynamicData{{URL: "u", Headers: []request.Pair{}}}
	empty.Plan.Dispositions, empty.Plan.Events = []string{}, []call.EventCategory{}
	empty.RequestData, empty.Variables, empty.Metadata = map[string]any{}, map[string]any{}, map[string]any{}
	insertCalls(t, s, empty)
	wantCall(t, s, empty)
}

func hidesCalls(t *testing.T, s call.Store) {
	c := aCall("c1", "a")
	insertCalls(t, s, c)
	foreign := c
	foreign.Org = "b"
	_, getErr := s.Get(t.Context(), "b", "c1")
	_, readErr := s.Transcript(t.Context(), "b", "c1")
	_, linesErr := s.TranscriptBefore(t.Context(), "b", "c1", 0, 10)
	_, turnsErr := s.LogsBefore(t.Context(), "b", "c1", 0, 10)
	_, logsErr := s.Logs(t.Context(), "b", "c1")
	_, noticeErr := s.Notice(t.Context(), "b", "c1", 1)
	for name, err := range map[string]error{
		"get": getErr, "transcript": readErr, "update": s.Update(t.Context(), foreign),
		"append": s.Append(t.Context(), "b", "c1", call.Entry{Seq: 1}), "stop": s.RequestStop(t.Context(), "b", "c1"),
		"logs": logsErr, "lines": linesErr, "turns": turnsErr, "append log": s.AppendLog(t.Context(), "b", "c1", pathway.Log{Turn: 1}),
		"notice": noticeErr, "append notice": s.AppendNotice(t.Context(), "b", "c1", call.Notice{Seq: 1}),
	} {
		if !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s gave %v, want not found", name, err)
		}
	}
	if page, total, err := s.List(t.Context(), "b", call.Filter{}); err != nil || total != 0 || len(page.Items) != 0 {
		t.Errorf("list gave %d calls of %d, %v", len(page.Items), total, err)
	}
}

func keepsTakenAt(t *testing.T, s call.Store) {
	c := aCall("c1", "a")
	insertCalls(t, s, c)
	c.Queue, c.Node, c.TakenAt = call.QueueAllocated, "n1", at.Add(time.Minute)
	if err := s.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := getCall(t, s, "a", "c1"); !got.TakenAt.Equal(at.Add(time.Minute)) || got.Node != "n1" {
		t.Errorf("the call was taken by %s at %s", got.Node, got.TakenAt)
	}
}

func ids(calls []call.Call) []string {
	out := make([]string, 0, len(calls))
	for _, c := range calls {
		out = append(out, c.ID)
	}
	return out
}

func asksForStop(t *testing.T, s call.Store) {
	running, other, over := aCall("c1", "a"), aCall("c2", "a"), aCall("c3", "a")
	running.Queue, running.Node = call.QueueStarted, "n1"
	other.Queue, other.Node = call.QueueStarted, "n2"
	over.Queue = call.QueueComplete
	insertCalls(t, s, running, other, over)
	for _, id := range []string{"c1", "c2", "c3"} {
		if err := s.RequestStop(t.Context(), "a", id); err != nil {
			t.Fatalf("stop %s: %v", id, err)
		}
	}
	stops, err := s.Stops(t.Context(), "n1")
	if err != nil || !slices.Equal(stops, []string{"c1"}) {
		t.Errorf("the node is told to stop %v, %v; want c1", stops, err)
	}
	if getCall(t, s, "a", "c3").StopRequested {
		t.Error("a call that has ended was changed")
	}
	if err := s.Update(t.Context(), running); err != nil {
		t.Errorf("asking for a stop changed the version: %v", err)
	}
	if !getCall(t, s, "a", "c1").StopRequested {
		t.Error("an update forgot the request")
	}
}

func findsLost(t *testing.T, s call.Store) {
	lost, alive, waiting, fresh := aCall("c1", "a"), aCall("c2", "b"), aCall("c3", "a"), aCall("c4", "a")
	lost.Queue, lost.Node, lost.TakenAt = call.QueueStarted, "n1", at
	alive.Queue, alive.Node, alive.TakenAt = call.QueueAllocated, "n2", at
	fresh.Queue, fresh.Node, fresh.TakenAt = call.QueueAllocated, "n3", at.Add(time.Microsecond)
	insertCalls(t, s, lost, alive, waiting, fresh)
	got, err := s.Lost(t.Context(), []string{"n2", "n4"}, at, 10)
	if err != nil || !slices.Equal(ids(got), []string{"c1"}) {
		t.Errorf("got %v, %v; want c1", ids(got), err)
	}
	if got, err := s.Lost(t.Context(), nil, at.Add(time.Hour), 10); err != nil || len(got) != 3 {
		t.Errorf("with nobody alive got %v, %v", ids(got), err)
	}
	if got, err := s.Lost(t.Context(), nil, at.Add(time.Hour), 1); err != nil || len(got) != 1 {
		t.Errorf("limit 1 gave %d, %v", len(got), err)
	}
}
