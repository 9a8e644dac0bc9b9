package call_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
)

// library is an agents.Pathways in memory, by id and version. Every environment has version 7. If failure is set, Load returns it.
type library struct {
	mu      sync.Mutex
	graphs  map[string]map[int]*graph.Graph
	failure error
}

func (l *library) Load(
	_ context.Context, _ callwright.OrgID, id string, sel pathway.Selector,
) (*graph.Graph, int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	number := sel.Number
	if sel.Environment != "" {
		number = 7
	}
	graph := l.graphs[id][number]
	switch {
	case l.failure != nil:
		return nil, 0, l.failure
	case l.graphs[id] == nil:
		return nil, 0, callwright.InField("pathway_id", callwright.NotFound("pathway"))
	case graph == nil:
		return nil, 0, callwright.InField("pathway_version", callwright.NotFound("version"))
	}
	return graph, number, nil
}

func (l *library) change(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
}

// clinic returns a pathway that needs no model. It greets, sends a request to a calendar after any words of the caller, says the answer,
// and ends after the caller's next words.
func clinic(t *testing.T) *graph.Graph {
	t.Helper()
	d := graph.Document{
		Nodes: []json.RawMessage{
			json.RawMessage(`{"id":"greet","type":"Default","data":{"name":"Greet","isStart":true,"text":"hello {{name}}"}}`),
			json.RawMessage(`{"id":"ask","type":"Webhook","data":{"name":"Calendar","text":"one moment",
				"url":"https://calendar.example/free","method":"GET","responseData":[{"name":"slot","data":"$.slot"}]}}`),
			json.RawMessage(`{"id":"offer","type":"Default","data":{"name":"Offer","text":"come at {{slot}}"}}`),
			json.RawMessage(`{"id":"bye","type":"End Call","data":{"name":"Bye","text":"bye"}}`),
		},
		Edges: []json.RawMessage{
			json.RawMessage(`{"id":"e1","source":"greet","target":"ask","data":{"label":"on","alwaysPick":true}}`),
			json.RawMessage(`{"id":"e2","source":"ask","target":"offer","data":{"label":"on","alwaysPick":true}}`),
			json.RawMessage(`{"id":"e3","source":"offer","target":"bye","data":{"label":"on","alwaysPick":true}}`),
		},
	}
	g, err := graph.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var production = agents.PathwayRef{ID: "clinic", Version: pathway.Selector{Environment: pathway.Production}}

// TestPathwayToolsAndWebhooks checks that events distinguish the request of a webhook node from the requests of the node's tools.
func TestPathwayToolsAndWebhooks(t *testing.T) {
	t.Parallel()
	g, err := graph.Compile(graph.Document{
		Nodes: []json.RawMessage{
			json.RawMessage(`{"id":"ask","type":"Webhook","data":{"name":"Ask","isStart":true,"prompt":"Look it up.",
				"url":"https://calendar.example/free","method":"GET","tools":[{"name":"who","url":"https://crm.example/42"}]}}`),
			json.RawMessage(`{"id":"bye","type":"End Call","data":{"name":"Bye","text":"bye"}}`),
		},
		Edges: []json.RawMessage{
			json.RawMessage(`{"id":"e1","source":"ask","target":"bye","data":{"label":"on","alwaysPick":true}}`),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := &agentstest.Model{Says: func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == llm.RoleTool {
			return agentstest.Texts("it is Ada."), nil
		}
		return []llm.ReplyPart{{Call: &llm.ToolCall{ID: "1", Name: "who", Arguments: []byte(`{}`)}}}, nil
	}}
	inClinic(t, func(_ *testing.T, h *house, l *library, _ *agentstest.Requests) {
		l.change(func() { l.graphs["clinic"][7] = g })
		h.ended(h.order(call.Request{
			Agent: agents.Agent{Pathway: production, Webhook: "https://example.com/"},
			Plan:  call.Plan{Events: []call.EventCategory{call.EventsWebhook, call.EventsTool}},
		}).ID)
		waitFor(time.Hour)
		want := []string{
			"tool: who: GET https://crm.example/42 answered with 200",
			"webhook: Ask: GET https://calendar.example/free answered with 200",
		}
		if told := h.noticeTexts(); !slices.Equal(told, want) {
			t.Errorf("the webhook was told %q", told)
		}
	}, func(c *call.Config) { c.Model = m })
}

// inClinic runs a test with a house in which version 7 of the pathway clinic is in production.
func inClinic(
	t *testing.T, test func(t *testing.T, h *house, l *library, r *agentstest.Requests), change ...func(*call.Config),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &library{graphs: map[string]map[int]*graph.Graph{"clinic": {7: clinic(t)}}}
		r := &agentstest.Requests{Answer: agentstest.JSON(`{"slot":"nine"}`)}
		change = append([]func(*call.Config){func(c *call.Config) {
			c.Pathways, c.Requests, c.Model = l, r, &agentstest.Model{}
		}}, change...)
		h := newHouse(t, 0, agentstest.PhoneConfig{}, change...)
		defer h.stop()
		test(t, h, l, r)
	})
}

func TestPathwayFromEndToEnd(t *testing.T) {
	t.Parallel()
	inClinic(t, func(t *testing.T, h *house, l *library, r *agentstest.Requests) {
		c := h.order(call.Request{
			Agent:       agents.Agent{Pathway: production, Webhook: "https://example.com/"},
			Plan:        call.Plan{Events: []call.EventCategory{call.EventsWebhook}},
			RequestData: map[string]any{"name": "Ada"},
		})
		phone := h.answered()
		h.hears(phone, "hello Ada")
		l.change(func() { clear(l.graphs) }) // the deletion of a version does not change running calls
		h.says(phone, "monday")
		h.hears(phone, "come at nine")
		h.says(phone, "fine")
		got, lines := h.ended(c.ID)
		if got.Status != call.StatusCompleted || got.PathwayNumber == nil || *got.PathwayNumber != 7 {
			t.Errorf("record %+v", got)
		}
		if known := fmt.Sprint(got.Variables); known != "map[name:Ada slot:nine]" {
			t.Errorf("the call knows %s", known)
		}
		want := []string{
			"assistant: hello Ada", "user: monday", "assistant: one moment come at nine", "user: fine", "assistant: bye",
		}
		if said := spoken(lines); !slices.Equal(said, want) {
			t.Errorf("transcript %q, want %q", said, want)
		}
		logs, err := h.Logs(t.Context(), "a", c.ID)
		if err != nil || len(logs) != 3 || logs[0].Turn != 1 || logs[1].Heard != "monday" {
			t.Errorf("logs %+v, %v", logs, err)
		}
		waitFor(time.Hour)
		if len(r.Made()) != 1 || len(h.notices.events) != 1 || h.notices.events[0].Category != call.EventsWebhook ||
			!strings.HasPrefix(h.notices.events[0].Message, "Calendar: GET https://calendar.example/free answered with 200") {
			t.Errorf("%d requests, the webhook was told %+v", len(r.Made()), h.notices.events)
		}
		if len(h.notices.logs) != 3 {
			t.Errorf("the webhook got the logs %+v", h.notices.logs)
		}
	})
}

// TestPathwayStartNode checks that a call begins at the agent's StartNode instead of the pathway's start node.
func TestPathwayStartNode(t *testing.T) {
	t.Parallel()
	inClinic(t, func(t *testing.T, h *house, _ *library, _ *agentstest.Requests) {
		ref := agents.PathwayRef{ID: "clinic", Version: pathway.Selector{Number: 7}, StartNode: "bye"}
		c := h.order(call.Request{Agent: agents.Agent{Pathway: ref}})
		h.answered()
		if got, lines := h.ended(c.ID); !slices.Equal(spoken(lines), []string{"assistant: bye"}) {
			t.Errorf("transcript %q, record %+v", spoken(lines), got)
		}
	})
}

// TestPathwayGoneBeforeDialing checks that a scheduled call is not dialed if its pathway is deleted before the call is due.
func TestPathwayGoneBeforeDialing(t *testing.T) {
	t.Parallel()
	inClinic(t, func(t *testing.T, h *house, l *library, _ *agentstest.Requests) {
		later := time.Now().Add(time.Hour)
		c := h.order(call.Request{Agent: agents.Agent{Pathway: production}, StartAt: &later})
		l.change(func() { clear(l.graphs) })
		got, _ := h.ended(c.ID)
		if got.Queue != call.QueueError || got.Status != call.StatusFailed || got.Ending.Cause != call.CauseNoPathway ||
			!strings.Contains(got.ErrorMessage, "pathway") || len(h.line.Dials()) != 0 {
			t.Errorf("dialed %d times, record %+v", len(h.line.Dials()), got)
		}
	})
}

// TestPathwayOutOfReachForAWhile checks that a call waits if the store of pathways fails when the call is due.
func TestPathwayOutOfReachForAWhile(t *testing.T) {
	t.Parallel()
	inClinic(t, func(t *testing.T, h *house, l *library, _ *agentstest.Requests) {
		later := time.Now().Add(time.Hour)
		c := h.order(call.Request{Agent: agents.Agent{Pathway: production}, StartAt: &later})
		l.change(func() { l.failure = callwright.ErrUnavailable })
		waitFor(time.Hour + time.Second)
		l.change(func() { l.failure = nil })
		phone := h.answered()
		h.hears(phone, "hello")
		phone.Hangup()
		if got, _ := h.ended(c.ID); got.Status != call.StatusCompleted {
			t.Errorf("record %+v", got)
		}
	})
}

// TestPathwayOutOfReachForGood checks that a call ends without being dialed if the store of pathways fails permanently.
func TestPathwayOutOfReachForGood(t *testing.T) {
	t.Parallel()
	inClinic(t, func(t *testing.T, h *house, l *library, _ *agentstest.Requests) {
		later := time.Now().Add(time.Hour)
		c := h.order(call.Request{Agent: agents.Agent{Pathway: production, Webhook: "https://example.com/"}, StartAt: &later})
		l.change(func() { l.failure = callwright.ErrInternal })
		waitFor(24 * time.Hour)
		got, _, err := h.Get(t.Context(), "a", c.ID)
		if err != nil || got.Queue != call.QueueError || got.Ending == nil || got.Ending.Cause != call.CauseInternal ||
			len(h.line.Dials()) != 0 || len(h.notices.sent) != 1 {
			t.Errorf("dialed %d times, %d webhooks, record %+v, %v", len(h.line.Dials()), len(h.notices.sent), got, err)
		}
	})
}

// reception is an Agents that answers every number with the pathway ref.
type reception struct {
	call.Agents
	ref agents.PathwayRef
}

func (r reception) Answering(context.Context, callwright.OrgID, callwright.PhoneNumber) (agents.Agent, error) {
	return agents.Agent{Pathway: r.ref, MaxDuration: time.Hour}, nil
}

func TestIncomingCallWithPathway(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ref  agents.PathwayRef
		gone error
		want call.Cause
	}{
		"there":        {production, nil, call.CauseRemoteHangup},
		"gone":         {agents.PathwayRef{ID: "other"}, nil, call.CauseNoPathway},
		"no such node": {agents.PathwayRef{ID: "clinic", Version: production.Version, StartNode: "x"}, nil, call.CauseNoPathway},
		"out of reach": {production, callwright.ErrUnavailable, call.CauseInternal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inClinic(t, func(t *testing.T, h *house, l *library, _ *agentstest.Requests) {
				l.failure = test.gone
				in := h.line.Call(call.CallerInfo{ID: "in", Org: "a", From: "x", To: "+15550000001"}, agentstest.PhoneConfig{})
				phone, err := in.Phone(t.Context())
				if (err == nil) != (test.want == call.CauseRemoteHangup) {
					t.Fatalf("the call was answered with %v", err)
				}
				if err == nil {
					h.hears(phone, "hello")
					phone.Hangup()
				}
				synctest.Wait()
				if got, _ := h.ended("in"); got.Ending.Cause != test.want || got.ErrorMessage == "" && err != nil {
					t.Errorf("record %+v", got)
				}
			}, func(c *call.Config) { c.Agents = reception{ref: test.ref} })
		})
	}
}

// TestInterruptionWhileAWebhookRuns checks that the caller's speech cancels the request to the calendar, and that the request is repeated
// when the conversation continues.
func TestInterruptionWhileAWebhookRuns(t *testing.T) {
	t.Parallel()
	inClinic(t, func(t *testing.T, h *house, _ *library, r *agentstest.Requests) {
		hangs := make(chan struct{})
		r.Answer = func(ctx context.Context, q request.Request) (request.Response, error) {
			select {
			case <-ctx.Done():
				return request.Response{}, ctx.Err()
			case <-hangs:
				return agentstest.JSON(`{"slot":"ten"}`)(ctx, q)
			}
		}
		c := h.order(call.Request{Agent: agents.Agent{Pathway: production}})
		phone := h.answered()
		h.hears(phone, "hello")
		h.says(phone, "monday")
		h.hears(phone, "one moment")
		h.says(phone, "are you there")
		waitFor(2 * time.Second)
		close(hangs)
		h.hears(phone, "come at ten")
		h.says(phone, "fine")
		got, _ := h.ended(c.ID)
		if got.Status != call.StatusCompleted || got.Variables["slot"] != "ten" || len(r.Made()) < 2 {
			t.Errorf("%d requests, record %+v", len(r.Made()), got)
		}
	})
}
