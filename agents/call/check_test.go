package call_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

// deaf is a screener that never decides.
type deaf struct{}

func (deaf) Hear(conversation.Frame) (call.AnsweredBy, bool) { return "", false }
func (deaf) Ended() bool                                     { return false }

// onlyHTTPS refuses other addresses.
func onlyHTTPS(url string) error {
	if !strings.HasPrefix(url, "https://") {
		return callwright.Invalid("", "must begin with https://")
	}
	return nil
}

func long(n int) string { return strings.Repeat("x", n) }

func agent(a call.Agent) call.Request { return call.Request{Agent: a} }

func plan(p call.Plan) call.Request {
	return call.Request{Agent: call.Agent{Task: "Talk.", Webhook: "https://example.com/"}, Plan: p}
}

func tools(texts ...string) []json.RawMessage {
	var raws []json.RawMessage
	for _, text := range texts {
		raws = append(raws, json.RawMessage(text))
	}
	return raws
}

// TestCreateNamesTheField: each request that no call could follow is refused at once, and the error names the field.
func TestCreateNamesTheField(t *testing.T) {
	t.Parallel()
	seven := pathway.Selector{Number: 7}
	fetch := func(d call.DynamicData) call.Request {
		return agent(call.Agent{Task: "t", DynamicData: []call.DynamicData{{URL: "https://a.example/"}, d}})
	}
	for field, requests := range map[string][]call.Request{
		"task": {
			{}, agent(call.Agent{Task: " "}), agent(call.Agent{Task: long(call.MaxTask + 1)}),
			agent(call.Agent{Task: "t", Pathway: production}),
		},
		"pathway_id":      {agent(call.Agent{Pathway: call.PathwayRef{ID: "none", Version: seven}})},
		"pathway_version": {agent(call.Agent{Pathway: call.PathwayRef{ID: "clinic", Version: pathway.Selector{Number: 8}}}), agent(call.Agent{Task: "t", Pathway: call.PathwayRef{Version: seven}})},
		"start_node_id": {
			agent(call.Agent{Pathway: call.PathwayRef{ID: "clinic", Version: seven, StartNode: "none"}}),
			agent(call.Agent{Task: "t", Pathway: call.PathwayRef{StartNode: "greet"}}),
		},
		"persona": {agent(call.Agent{Task: "t", Persona: long(call.MaxPersona + 1)})},
		"interruption_threshold": {
			agent(call.Agent{Task: "t", Interruption: new(-time.Second)}),
			agent(call.Agent{Task: "t", Interruption: new(11 * time.Second)}),
		},
		"tools[1].url": {agent(call.Agent{Task: "t", Tools: tools(
			`{"name":"a","url":"https://a.example/"}`, `{"name":"b","url":"http://a.example/"}`)})},
		"tools[0].name":                         {agent(call.Agent{Task: "t", Tools: tools(`{"name":"","url":"https://a.example/"}`)})},
		"tools[0]":                              {agent(call.Agent{Task: "t", Tools: tools(`"TL-1"`)})},
		"dynamic_data":                          {agent(call.Agent{Task: "t", DynamicData: make([]call.DynamicData, call.MaxDynamicData+1)})},
		"dynamic_data[1].url":                   {fetch(call.DynamicData{URL: "http://a.example/"}), fetch(call.DynamicData{URL: "x"})},
		"dynamic_data[1].method":                {fetch(call.DynamicData{URL: "https://a.example/", Method: "BREW"})},
		"dynamic_data[1].response_data[0].data": {fetch(call.DynamicData{URL: "https://a.example/", Response: []request.Mapping{{Name: "x", Path: "y"}}})},
		"voicemail.action":                      {plan(call.Plan{Voicemail: call.Voicemail{Action: "cry"}})},
		"voicemail.message": {
			plan(call.Plan{Voicemail: call.Voicemail{Action: call.VoicemailMessage, Message: " "}}),
			plan(call.Plan{Voicemail: call.Voicemail{Message: long(conversation.MaxSpeech + 1)}}),
		},
		"retry.wait": {
			plan(call.Plan{Retry: &call.Retry{}}), plan(call.Plan{Retry: &call.Retry{Wait: 25 * time.Hour}}),
		},
		"retry.voicemail_message": {plan(call.Plan{Retry: &call.Retry{
			Wait: time.Minute, Voicemail: call.Voicemail{Action: call.VoicemailMessage},
		}})},
		"dispositions":    {plan(call.Plan{Dispositions: []string{}}), plan(call.Plan{Dispositions: make([]string, 51)})},
		"dispositions[1]": {plan(call.Plan{Dispositions: []string{"a", " "}}), plan(call.Plan{Dispositions: []string{"a", "a"}}), plan(call.Plan{Dispositions: []string{"a", long(101)}})},
		"summary_prompt":  {plan(call.Plan{SummaryPrompt: long(2000)})},
		"webhook_events": {{
			Agent: call.Agent{Task: "t"}, Plan: call.Plan{Events: []call.EventCategory{call.EventsCall}},
		}},
		"webhook_events[0]": {plan(call.Plan{Events: []call.EventCategory{"citations"}})},
		"start_time":        {{Agent: call.Agent{Task: "t"}, StartAt: new(time.Now().Add(31 * 24 * time.Hour))}},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			inClinic(t, func(t *testing.T, h *house, _ *library, r *agentstest.Requests) {
				r.Check = onlyHTTPS
				for i, q := range requests {
					if q.StartAt != nil {
						q.StartAt = new(time.Now().Add(31 * 24 * time.Hour)) // by the bubble's clock
					}
					q.From, q.To = "+15550000001", "+15550000002"
					_, err := h.Create(t.Context(), "a", q)
					e, ok := errors.AsType[*callwright.Error](err)
					if !ok || e.Field != field || e.Code != callwright.CodeBadRequest && e.Code != callwright.CodeNotFound {
						t.Errorf("request %d gave %v (%+v)", i, err, e)
					}
				}
				if _, total, err := h.List(t.Context(), "a", call.Filter{}); err != nil || total != 0 {
					t.Errorf("there are %d calls, %v", total, err)
				}
			}, func(c *call.Config) { c.Screener = func(int) call.Screener { return deaf{} } })
		})
	}
}

// TestSizeOfRequests: tools and dynamic data may be as large together as MaxRequests, and not larger.
func TestSizeOfRequests(t *testing.T) {
	t.Parallel()
	inClinic(t, func(t *testing.T, h *house, _ *library, _ *agentstest.Requests) {
		sized := func(size int) (all []json.RawMessage) {
			for most := 32 << 10; size > 0; size -= most { // which one tool may have
				text := fmt.Sprintf(`{"name":"t%d","url":"https://a.example/"`, len(all))
				all = append(all, json.RawMessage(text+strings.Repeat(" ", max(min(size, most)-len(text)-1, 0))+`}`))
			}
			return all
		}
		data := func(size int) []call.DynamicData {
			return []call.DynamicData{{URL: "https://a.example/", Body: []request.Pair{{Name: "x", Value: long(size)}}}}
		}
		for name, test := range map[string]struct {
			agent call.Agent
			field string
		}{
			"what fits":         {call.Agent{Tools: sized(call.MaxRequests)}, ""},
			"what fits of both": {call.Agent{Tools: sized(call.MaxRequests - 2000), DynamicData: data(1000)}, ""},
			"tools":             {call.Agent{Tools: sized(call.MaxRequests + 1)}, "tools"},
			"data":              {call.Agent{DynamicData: data(call.MaxRequests)}, "dynamic_data"},
			"both":              {call.Agent{Tools: sized(call.MaxRequests / 2), DynamicData: data(call.MaxRequests / 2)}, "dynamic_data"},
		} {
			err := h.CheckAgent(t.Context(), "a", &test.agent)
			e, _ := errors.AsType[*callwright.Error](err)
			if (err == nil) != (test.field == "") || e != nil && (e.Field != test.field || e.Code != callwright.CodeBadRequest) {
				t.Errorf("%s gave %v", name, err)
			}
		}
	})
}

// TestCreateNamesBoth says of a task and a pathway together, or of neither, both names.
func TestCreateNamesBoth(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		for _, a := range []call.Agent{{}, {Task: "t", Pathway: production}} {
			_, err := h.Create(t.Context(), "a", call.Request{To: "+15550000002", Agent: a})
			if err == nil || !strings.Contains(err.Error(), "task") || !strings.Contains(err.Error(), "pathway_id") {
				t.Errorf("%+v gave %v", a, err)
			}
		}
	})
}

// TestCreateWithoutTheParts: a server that lacks an optional part says so.
func TestCreateWithoutTheParts(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		for name, r := range map[string]call.Request{
			"pathways":     agent(call.Agent{Pathway: production}),
			"tools":        agent(call.Agent{Task: "t", Tools: tools(`{"name":"a","url":"https://a.example/"}`)}),
			"dynamic data": agent(call.Agent{Task: "t", DynamicData: []call.DynamicData{{URL: "https://a.example/"}}}),
			"a screener":   plan(call.Plan{Voicemail: call.Voicemail{Action: call.VoicemailHangup}}),
			"a second screener": plan(call.Plan{Retry: &call.Retry{
				Wait: time.Minute, Voicemail: call.Voicemail{Action: call.VoicemailHangup},
			}}),
		} {
			r.To = "+15550000002"
			if _, err := h.Create(t.Context(), "a", r); !errors.Is(err, callwright.ErrUnavailable) {
				t.Errorf("without %s it gave %v", name, err)
			}
		}
		r := plan(call.Plan{Voicemail: call.Voicemail{Action: call.VoicemailIgnore}})
		r.To = "+15550000002"
		if _, err := h.Create(t.Context(), "a", r); err != nil {
			t.Errorf("to ignore answering machines gave %v", err)
		}
	})
}

// TestCheckAgentOfANumber: who answers calls may have neither task nor pathway, and gets the defaults.
func TestCheckAgentOfANumber(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		a := call.Agent{TransferTo: "+15550000007"}
		if err := h.CheckAgent(t.Context(), "a", &a); err != nil {
			t.Fatal(err)
		}
		if a.MaxDuration != call.DefaultMaxDuration || a.TransferTo != "+15550000007" {
			t.Errorf("the agent is %+v", a)
		}
	})
}

func TestListRefuses(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		for field, f := range map[string]call.Filter{
			"limit":       {Limit: call.MaxPage + 1},
			"duration_gt": {LongerThan: -1},
			"duration_lt": {ShorterThan: -1},
			"answered_by": {AnsweredBy: "dog"},
			"status":      {Status: "fine"},
		} {
			_, _, err := h.List(t.Context(), "a", f)
			if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Field != field {
				t.Errorf("%+v gave %v", f, err)
			}
		}
	})
}

// TestListPassesFiltersOn finds calls by what the store can look for.
func TestListPassesFiltersOn(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		busy := h.create(call.Agent{})
		h.ended(busy.ID)
		later := time.Now().Add(time.Hour)
		waits := h.order(call.Request{StartAt: &later})
		for want, f := range map[string]call.Filter{
			busy.ID:  {Status: call.StatusBusy, AnsweredBy: call.AnsweredByNobody, Limit: 1},
			waits.ID: {Completed: new(false)},
		} {
			page, total, err := h.List(t.Context(), "a", f)
			if err != nil || total != 1 || page.Items[0].ID != want {
				t.Errorf("%+v gave %+v, %v", f, page.Items, err)
			}
		}
	})
}
