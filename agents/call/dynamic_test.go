package call_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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

// answer returns the scripted response of the requested host, or status 404 for an unknown host. A request to the slow host blocks until
// ctx ends.
func answer(ctx context.Context, r request.Request) (request.Response, error) {
	switch {
	case strings.HasPrefix(r.URL, "https://crm.example/42"):
		return request.Response{Status: 200, Body: []byte(`{"name":"Ada\u0000","vip":true}`)}, nil
	case strings.HasPrefix(r.URL, "https://down.example/"):
		return request.Response{}, callwright.Errorf(callwright.CodeUnavailable, "nobody answers")
	case strings.HasPrefix(r.URL, "https://slow.example/"):
		<-ctx.Done()
		return request.Response{}, ctx.Err()
	}
	return request.Response{Status: 404}, nil
}

// inOffice runs a test with a house whose calls can send requests to the hosts of answer.
func inOffice(t *testing.T, test func(t *testing.T, h *house, r *agentstest.Requests), change ...func(*call.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &agentstest.Requests{Answer: answer}
		change = append([]func(*call.Config){func(c *call.Config) { c.Requests = r }}, change...)
		h := newHouse(t, 0, agentstest.PhoneConfig{}, change...)
		defer h.stop()
		test(t, h, r)
	})
}

var customer = agents.DynamicData{
	URL: "https://crm.example/{{customer}}", Method: "POST", Body: []request.Pair{{Name: "id", Value: "<{{customer}}>"}},
	Response: []request.Mapping{{Name: "name", Path: "$.name"}, {Name: "vip", Path: "$.vip"}},
}

// TestDynamicData checks that answers of other systems appear in the agent's texts, in the variables for the trunk's headers and in the
// record. A failed request must be reported, and must not affect other requests.
func TestDynamicData(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, h *house, r *agentstest.Requests) {
		c := h.order(call.Request{
			Agent: agents.Agent{
				FirstSentence: "hello {{name}}", Webhook: "https://example.com/",
				DynamicData: []agents.DynamicData{{URL: "https://down.example/"}, customer},
			},
			Plan:        call.Plan{Events: []call.EventCategory{call.EventsDynamicData}},
			RequestData: map[string]any{"customer": "42"},
		})
		phone := h.answered()
		h.hears(phone, "hello Ada")
		phone.Hangup()
		got, _ := h.ended(c.ID)
		if known := fmt.Sprint(got.Variables); known != "map[customer:42 name:Ada vip:true]" {
			t.Errorf("the call knows %s", known)
		}
		if given := fmt.Sprint(h.line.Dials()[0].Variables); given != "map[customer:42 name:Ada vip:true]" {
			t.Errorf("the line was given %s", given)
		}
		logs, err := h.Logs(t.Context(), "a", c.ID)
		if err != nil || len(logs) != 1 || logs[0].Turn != 0 || len(logs[0].Entries) != 3 ||
			logs[0].Entries[0].Request.Error != "nobody answers" || logs[0].Entries[1].Request.Status != 200 {
			t.Errorf("logs %+v, %v", logs, err)
		}
		if !slices.ContainsFunc(r.Made(), func(q request.Request) bool { return string(q.Body) == `{"id":"<42>"}` }) {
			t.Errorf("the requests were %+v", r.Made())
		}
		waitFor(time.Hour)
		if len(h.notices.events) != 2 {
			t.Errorf("the webhook was told %+v", h.notices.events)
		}
	})
}

// TestDynamicDataOfACaller checks that a call is answered after at most five seconds, even if other systems are slow.
func TestDynamicDataOfACaller(t *testing.T) {
	t.Parallel()
	slow := agents.DynamicData{URL: "https://slow.example/"}
	who := answerer{agent: agents.Agent{
		Task: "Answer.", FirstSentence: "welcome {{name}}", MaxDuration: time.Hour,
		DynamicData: []agents.DynamicData{slow, customer, slow},
	}}
	inOffice(t, func(t *testing.T, h *house, _ *agentstest.Requests) {
		began := time.Now()
		in := h.line.Call(call.CallerInfo{
			ID: "in", Org: "a", From: "x", To: "+15550000001", Variables: map[string]string{"customer": "42"},
		}, agentstest.PhoneConfig{})
		phone, err := in.Phone(t.Context())
		if err != nil || time.Since(began) != 5*time.Second {
			t.Fatalf("answered after %s, %v", time.Since(began), err)
		}
		h.hears(phone, "welcome Ada")
		phone.Hangup()
		if got, _ := h.ended("in"); got.Variables["name"] != "Ada" || got.Variables["customer"] != "42" {
			t.Errorf("the call knows %v", got.Variables)
		}
	}, func(c *call.Config) { c.Agents = who })
}

// answerer returns the same agent for every number.
type answerer struct {
	call.Agents
	agent agents.Agent
}

func (a answerer) Answering(context.Context, callwright.OrgID, callwright.PhoneNumber) (agents.Agent, error) {
	return a.agent, nil
}

// TestCallerGivesUpMeanwhile checks that a call is canceled and never starts if its caller gives up while requests to other systems run.
func TestCallerGivesUpMeanwhile(t *testing.T) {
	t.Parallel()
	who := answerer{agent: agents.Agent{Task: "Answer.", DynamicData: []agents.DynamicData{{URL: "https://slow.example/"}}}}
	inOffice(t, func(t *testing.T, h *house, _ *agentstest.Requests) {
		in := h.line.Call(call.CallerInfo{ID: "in", Org: "a", From: "x", To: "+15550000001"}, agentstest.PhoneConfig{})
		waitFor(time.Second)
		in.GiveUp()
		if got, _ := h.ended("in"); got.Status != call.StatusCanceled || got.StartedAt != nil {
			t.Errorf("record %+v", got)
		}
	}, func(c *call.Config) { c.Agents = who })
}

// TestStopMeanwhile checks that a call which is stopped while requests to other systems run is not dialed.
func TestStopMeanwhile(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, h *house, _ *agentstest.Requests) {
		c := h.create(agents.Agent{DynamicData: []agents.DynamicData{{URL: "https://slow.example/"}}})
		waitFor(time.Second)
		if err := h.Stop(t.Context(), "a", c.ID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got, _, err := h.Get(t.Context(), "a", c.ID)
		if err != nil || got.Status != call.StatusCanceled || got.StartedAt != nil {
			t.Errorf("record %+v, %v", got, err)
		}
	})
}

// TestFacts checks that the model receives the context of dynamic data, both for an agent with a task and for a pathway.
func TestFacts(t *testing.T) {
	t.Parallel()
	known := customer
	known.Response = []request.Mapping{{Name: "name", Path: "$.name", Context: "The caller is {{name}}."}}
	model := &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		return agentstest.Texts("hello"), nil
	}}
	g, err := graph.Compile(graph.Document{Nodes: []json.RawMessage{
		json.RawMessage(`{"id":"a","type":"Default","data":{"name":"A","isStart":true,"prompt":"Greet."}}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	lead := &library{graphs: map[string]map[int]*graph.Graph{"p": {0: g}}}
	for name, agent := range map[string]agents.Agent{"task": {Task: "t"}, "pathway": {Pathway: agents.PathwayRef{ID: "p"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inOffice(t, func(_ *testing.T, h *house, _ *agentstest.Requests) {
				agent.DynamicData = []agents.DynamicData{known}
				h.order(call.Request{Agent: agent, RequestData: map[string]any{"customer": "42"}})
				phone := h.answered()
				h.hears(phone, "hello")
				phone.Hangup()
			}, func(c *call.Config) { c.Model, c.Pathways = model, lead })
		})
	}
	t.Cleanup(func() {
		for _, r := range model.Requests() {
			if !slices.Equal(r.Facts, []string{"The caller is Ada."}) {
				t.Errorf("the model was told %q", r.Facts)
			}
		}
		if len(model.Requests()) != 2 {
			t.Errorf("the model was asked %d times", len(model.Requests()))
		}
	})
}

// TestTools checks that the request of a tool, which an agent with a task calls, appears in the turn's log and in an event, and that the
// tool's variable is in the record.
func TestTools(t *testing.T) {
	t.Parallel()
	m := &agentstest.Model{Says: func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == llm.RoleTool {
			return []llm.ReplyPart{{Text: "it is Ada."}}, nil
		}
		return []llm.ReplyPart{{Call: &llm.ToolCall{ID: "1", Name: "who", Arguments: []byte(`{}`)}}}, nil
	}}
	inOffice(t, func(t *testing.T, h *house, _ *agentstest.Requests) {
		c := h.order(call.Request{
			Agent: agents.Agent{Task: "t", FirstSentence: "hello", Webhook: "https://example.com/", Tools: tools(
				`{"name":"who","url":"https://crm.example/42","response":{"name":"$.name"}}`)},
			Plan: call.Plan{Events: []call.EventCategory{call.EventsTool}},
		})
		phone := h.answered()
		h.hears(phone, "hello")
		h.says(phone, "who am i")
		h.hears(phone, "it is Ada.")
		phone.Hangup()
		got, _ := h.ended(c.ID)
		logs, err := h.Logs(t.Context(), "a", c.ID)
		if err != nil || len(logs) != 1 || logs[0].Turn != 2 || logs[0].Heard != "who am i" ||
			logs[0].Entries[0].Kind != pathway.LogRequest || got.Variables["name"] != "Ada" {
			t.Errorf("logs %+v, %v; the call knows %v", logs, err, got.Variables)
		}
		waitFor(time.Hour)
		if len(h.notices.events) != 1 || h.notices.events[0].Category != call.EventsTool {
			t.Errorf("the webhook was told %+v", h.notices.events)
		}
	}, func(c *call.Config) { c.Model = m })
}

// TestDynamicDataOfDearAnswers checks that evaluating the responses to all DynamicData requests of a call uses one shared budget of
// request.MaxSteps steps.
func TestDynamicDataOfDearAnswers(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, h *house, r *agentstest.Requests) {
		r.Answer = agentstest.JSON("[" + strings.Repeat("{},", 90_000) + "{}]")
		dear := agents.DynamicData{URL: "https://x.example/", Response: []request.Mapping{{Name: "x", Path: `$..[?(@.a=="b")]`}}}
		c := h.order(call.Request{Agent: agents.Agent{FirstSentence: "hello", DynamicData: []agents.DynamicData{dear, dear}}})
		phone := h.answered()
		h.hears(phone, "hello")
		phone.Hangup()
		h.ended(c.ID)
		logs, err := h.Logs(t.Context(), "a", c.ID)
		if err != nil || len(logs) == 0 {
			t.Fatal(logs, err)
		}
		failed := 0
		for _, e := range logs[0].Entries {
			if e.Request != nil && e.Request.Error != "" {
				failed++
			}
		}
		if failed == 0 {
			t.Error("both answers are followed") // one answer uses nearly the whole budget
		}
	})
}
