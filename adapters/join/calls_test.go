package join_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/triage"
)

func TestFindCalls(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.seed(call.Call{ID: "out", From: "+15550000001", To: "+15550000002", Queue: call.QueueCallError, Status: call.StatusFailed})
	h.seed(call.Call{
		ID: "in", Inbound: true, From: strings.Repeat("x", 5000), To: "+15550000001", Queue: call.QueueStarted,
		CreatedAt: began.In(time.FixedZone("", 3600)).Add(time.Millisecond),
	})
	h.seed(call.Call{ID: "nobody", Inbound: true, To: "+15550000001", Queue: call.QueueStarted})
	found, err := h.calls.Find(t.Context(), org, []string{"out", "in", "nobody", "absent"})
	if err != nil || len(found) != 3 {
		t.Fatalf("found %v, %v", found, err)
	}
	want := triage.Item{Title: "Call to +15550000002, 2 March 2026 09:15 UTC", Metadata: map[string]any{
		"created_at": "2026-03-02T09:15:00.000Z", "status": "failed", "from": "+15550000001", "to": "+15550000002",
	}}
	if !reflect.DeepEqual(found["out"], want) {
		t.Errorf("found %+v, want %+v", found["out"], want)
	}
	in := found["in"]
	if !strings.HasPrefix(in.Title, "Call from xxx") || !strings.HasSuffix(in.Title, "…, 2 March 2026 09:15 UTC") || len(in.Title) > 200 ||
		in.Metadata["status"] != "started" || in.Metadata["created_at"] != "2026-03-02T09:15:00.001Z" {
		t.Errorf("found %+v", in)
	}
	if title := found["nobody"].Title; title != "Call from an unknown number, 2 March 2026 09:15 UTC" {
		t.Errorf("found %q", title)
	}
}

// TestCallsOfOthers checks that calls of another organization are absent.
func TestCallsOfOthers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.seed(call.Call{ID: "c", Queue: call.QueueStarted})
	if found, err := h.calls.Find(t.Context(), "b", []string{"c"}); err != nil || len(found) != 0 {
		t.Errorf("found %v, %v", found, err)
	}
	if _, err := h.calls.Read(t.Context(), "b", "c"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("read gave %v", err)
	}
}

// away is a store of calls whose Get returns CodeUnavailable.
type away struct{ call.Store }

var errAway = callwright.ErrUnavailable

func (away) Get(context.Context, callwright.OrgID, string) (call.Call, error) {
	return call.Call{}, errAway
}

// TestCallsThatCannotBeRead checks that an unavailable store is reported as an error, and that its calls are not treated as absent.
func TestCallsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.calls.Store = away{h.calls.Store}
	if found, err := h.calls.Find(t.Context(), org, []string{"c"}); !errors.Is(err, errAway) {
		t.Errorf("found %v, %v", found, err)
	}
	if _, err := h.calls.Read(t.Context(), org, "c"); !errors.Is(err, errAway) {
		t.Errorf("read gave %v", err)
	}
}

func TestReadCall(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.seed(call.Call{
		ID: "c", Inbound: true, From: "+15550000009", To: "+15550000001", Queue: call.QueueCompleteError, Status: call.StatusFailed,
		StartedAt: new(began.Add(time.Second)), EndedAt: new(began.Add(31 * time.Second)), ErrorMessage: "the other side's audio stopped",
		Ending:     &call.HangupReason{Cause: call.CauseMediaTimeout, SIPCode: 503, Reason: strings.Repeat("r", 1000), ByPeer: true},
		AnsweredBy: call.AnsweredByHuman, PathwayNumber: new(0), Agent: agents.Agent{Pathway: agents.PathwayRef{ID: "p"}},
		Analysis: call.Analysis{Summary: "It broke off."}, Stats: call.Stats{Received: 10, Lost: 3},
	},
		call.Entry{Seq: 1, Speaker: call.SpeakerAssistant, Text: "hello"}, call.Entry{Seq: 2, Speaker: call.SpeakerUser, Text: "hi"},
		call.Entry{Seq: 3, Speaker: call.SpeakerAction, Text: "pressed 1"},
	)
	e, _ := h.read(h.calls, "c")
	for name, want := range map[string]any{
		"direction": "incoming", "from": "+15550000009", "to": "+15550000001", "status": "failed", "ended_by": "the other side",
		"error": "the other side's audio stopped", "cause": "media_timeout", "sip_code": 503, "seconds": 30.0,
		"answered_by": "human", "pathway_id": "p", "pathway_version": 0, "summary": "It broke off.",
		"answered_at": "2026-03-02T09:15:01.000Z",
	} {
		if !reflect.DeepEqual(e.Facts[name], want) {
			t.Errorf("%s is %v, want %v", name, e.Facts[name], want)
		}
	}
	if reason := fmt.Sprint(e.Facts["reason"]); len(reason) > 500 {
		t.Errorf("the reason has %d bytes", len(reason))
	}
	if audio := fmt.Sprint(e.Facts["audio_packets"]); !strings.Contains(audio, "lost:3") {
		t.Errorf("audio %s", audio)
	}
	for _, absent := range []string{"task", "retry_of", "transferred_to", "model"} {
		if v, ok := e.Facts[absent]; ok {
			t.Errorf("%s is %v", absent, v)
		}
	}
	want := []triage.Line{{Agent: true, Text: "hello"}, {Text: "hi"}, {Agent: true, Text: "(pressed 1)"}}
	if !reflect.DeepEqual(e.Lines, want) {
		t.Errorf("lines %v, want %v", e.Lines, want)
	}
}

// TestReadCallThatWaits checks that the evidence of a queued call contains no facts about events that have not happened yet.
func TestReadCallThatWaits(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.seed(call.Call{ID: "c", To: "+15550000002", Queue: call.QueueQueued})
	e, _ := h.read(h.calls, "c")
	if e.Facts["status"] != "queued" || e.Facts["cause"] != nil || e.Facts["ended_at"] != nil || e.Facts["audio_packets"] != nil ||
		len(e.Lines) != 0 {
		t.Errorf("read %+v", e)
	}
}

// TestReadLongCall checks that the evidence contains all lines of a long transcript, in order.
func TestReadLongCall(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	said := make([]call.Entry, 3000)
	for i := range said {
		said[i] = call.Entry{Seq: i + 1, Speaker: call.SpeakerUser, Text: fmt.Sprint("line ", i)}
	}
	h.seed(call.Call{ID: "c", Queue: call.QueueComplete}, said...)
	e, _ := h.read(h.calls, "c")
	if len(e.Lines) != len(said) {
		t.Fatalf("%d lines", len(e.Lines))
	}
	for i, l := range e.Lines {
		if l.Text != fmt.Sprint("line ", i) {
			t.Fatalf("line %d is %q", i, l.Text)
		}
	}
}

// TestReadTurns checks that the evidence contains the nodes, requests, decisions and errors in the log of each turn, and the names of its
// variables. A turn without such events is omitted.
func TestReadTurns(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.seed(call.Call{ID: "c", Queue: call.QueueComplete})
	err := agentstore.Calls{Store: h.store}.AppendLog(t.Context(), org, "c", pathway.Log{Turn: 2, Entries: []pathway.LogEntry{
		{Kind: pathway.LogVisit, Node: "day", Name: "Day"},
		{Kind: pathway.LogVisit, Node: "slots"},
		{Kind: pathway.LogRequest, Request: &request.Log{Name: "Free slots", Status: 500, Error: "no JSON", Duration: 20 * time.Millisecond}},
		{Kind: pathway.LogRequest, Request: &request.Log{Name: "Again"}},
		{Kind: pathway.LogVariables, Variables: map[string]any{"slot": 9, "day": "monday"}},
		{Kind: pathway.LogDecision, Chosen: "full", Text: "slot == 9"},
		{Kind: pathway.LogError, Text: "no value for name"},
		{Kind: pathway.LogKnowledge, Text: "1 passages for: x"},
	}})
	err = errors.Join(err, agentstore.Calls{Store: h.store}.AppendLog(t.Context(), org, "c", pathway.Log{Turn: 3}))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := h.read(h.calls, "c")
	got, err := json.Marshal(e.Facts["turn 2"])
	const want = `{"asked":[{"error":"no JSON","milliseconds":20,"name":"Free slots","status":500},{"milliseconds":0,"name":"Again"}],` +
		`"chosen":["full"],"failed":["no value for name"],"found_out":["day","slot"],"visited":["Day","slots"]}`
	if err != nil || string(got) != want {
		t.Errorf("turn 2 is\n%s, want\n%s, %v", got, want, err)
	}
	if turn, ok := e.Facts["turn 3"]; ok {
		t.Errorf("turn 3 is %v", turn)
	}
}

// TestReadCallWithSecrets checks that the evidence contains no values intended for other systems or for the organization's own programs.
func TestReadCallWithSecrets(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	secret := map[string]any{"key": marker, "nested": map[string]any{"list": []any{marker}}}
	h.seed(call.Call{
		ID: "c", From: "+15550000001", To: "+15550000002", Queue: call.QueueComplete, RequestData: secret, Variables: secret, Metadata: secret,
		Agent: agents.Agent{
			Task: "Talk.", Webhook: "https://user:" + marker + "@example.com/" + marker + "?key=" + marker,
			Tools: []json.RawMessage{json.RawMessage(`{"name":"` + marker + `","headers":{"Authorization":"` + marker + `"}}`)},
			DynamicData: []agents.DynamicData{{
				URL: "https://example.com/" + marker, Headers: []request.Pair{{Name: "X-Key", Value: marker}},
				Query: []request.Pair{{Name: "key", Value: marker}}, Body: []request.Pair{{Name: "key", Value: marker}},
			}},
		},
		Carriage: call.LegInfo{SIPCallID: marker, Peer: marker, Codec: "PCMU"},
	})
	err := agentstore.Calls{Store: h.store}.AppendLog(t.Context(), org, "c", pathway.Log{Turn: 1, Heard: marker, Said: marker, Entries: []pathway.LogEntry{
		{Kind: pathway.LogRequest, Request: &request.Log{
			Name: "slots", URL: "https://" + marker + "@example.com/" + marker, Body: json.RawMessage(`"` + marker + `"`),
			Variables: secret, Status: 200,
		}},
		{Kind: pathway.LogVariables, Variables: secret},
		{Kind: pathway.LogDecision, Chosen: "day", Text: "token == " + marker},
	}})
	if err != nil {
		t.Fatal(err)
	}
	e, text := h.read(h.calls, "c")
	checkSecrets(t, e, text)
	if e.Facts["task"] != "Talk." || e.Facts["turn 1"] == nil {
		t.Errorf("read %v", e.Facts)
	}
}
