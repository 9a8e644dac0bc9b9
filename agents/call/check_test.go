package call_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/speech/tts"
)

// deaf is a call.AMD that never decides.
type deaf struct{}

func (deaf) Hear(conversation.Frame) call.Answerer { return call.Answerer{} }
func (deaf) Words(string, bool)                    {}
func (deaf) Ended() bool                           { return false }

// onlyHTTPS refuses URLs with schemes other than https.
func onlyHTTPS(url string) error {
	if !strings.HasPrefix(url, "https://") {
		return callwright.Invalid("", "must begin with https://")
	}
	return nil
}

func long(n int) string { return strings.Repeat("x", n) }

func agent(a agents.Agent) call.Request { return call.Request{Agent: a} }

func plan(p call.Plan) call.Request {
	return call.Request{Agent: agents.Agent{Task: "Talk.", Webhook: "https://example.com/"}, Plan: p}
}

func tools(texts ...string) []json.RawMessage {
	var raws []json.RawMessage
	for _, text := range texts {
		raws = append(raws, json.RawMessage(text))
	}
	return raws
}

// TestCharacters checks that limits count characters, as the contract requires, and not bytes.
func TestCharacters(t *testing.T) {
	t.Parallel()
	wide := func(n int) string { return strings.Repeat("é", n) }
	inHouseWith(t, func(_ *testing.T, h *house) {
		r := plan(call.Plan{
			SummaryPrompt: wide(call.MaxSummary), Dispositions: []string{wide(call.MaxDisposition), "b"},
			Voicemail: call.Voicemail{Action: call.VoicemailMessage, Message: wide(call.MaxMessage)},
		})
		r.Agent.Task, r.Agent.Persona, r.Agent.FirstSentence = wide(agents.MaxTask), wide(agents.MaxPersona), wide(agents.MaxFirstSentence)
		r.Agent.Tools = tools(`{"name":"a","url":"https://a.example/","description":"` + wide(1024) + `"}`)
		h.order(r)
	}, func(c *call.Config) {
		c.AMD, c.Requests = func(int, string) call.AMD { return deaf{} }, &agentstest.Requests{}
	})
}

// TestCreateNamesTheField checks that Create refuses each invalid request, and that the error names the field.
func TestCreateNamesTheField(t *testing.T) {
	t.Parallel()
	seven := pathway.Selector{Number: 7}
	fetch := func(d agents.DynamicData) call.Request {
		return agent(agents.Agent{Task: "t", DynamicData: []agents.DynamicData{{URL: "https://a.example/"}, d}})
	}
	for field, requests := range map[string][]call.Request{
		"task": {
			{}, agent(agents.Agent{Task: " "}), agent(agents.Agent{Task: long(agents.MaxTask + 1)}),
			agent(agents.Agent{Task: "t", Pathway: production}),
		},
		"pathway_id":      {agent(agents.Agent{Pathway: agents.PathwayRef{ID: "none", Version: seven}})},
		"pathway_version": {agent(agents.Agent{Pathway: agents.PathwayRef{ID: "clinic", Version: pathway.Selector{Number: 8}}}), agent(agents.Agent{Task: "t", Pathway: agents.PathwayRef{Version: seven}})},
		"start_node_id": {
			agent(agents.Agent{Pathway: agents.PathwayRef{ID: "clinic", Version: seven, StartNode: "none"}}),
			agent(agents.Agent{Task: "t", Pathway: agents.PathwayRef{StartNode: "greet"}}),
		},
		"persona": {agent(agents.Agent{Task: "t", Persona: long(agents.MaxPersona + 1)})},
		"interruptibility": {
			agent(agents.Agent{Task: "t", Interruptibility: new(-1)}),
			agent(agents.Agent{Task: "t", Interruptibility: new(5)}),
		},
		"min_endpointing_delay": {agent(agents.Agent{Task: "t", LeastWait: endpoint.MinWait - 1})},
		"max_endpointing_delay": {agent(agents.Agent{Task: "t", LongestWait: endpoint.MaxWait + 1})},
		"idle.after": {
			agent(agents.Agent{Task: "t", Idle: &dialogue.Idle{After: new(-time.Second)}}),
			agent(agents.Agent{Task: "t", Idle: &dialogue.Idle{After: new(11 * time.Minute)}}),
		},
		"idle.times":        {agent(agents.Agent{Task: "t", Idle: &dialogue.Idle{Times: new(11)}}), agent(agents.Agent{Task: "t", Idle: &dialogue.Idle{Times: new(-1)}})},
		"idle.filler_after": {agent(agents.Agent{Task: "t", Idle: &dialogue.Idle{FillerAfter: new(16 * time.Second)}})},
		"first_sentence": {
			agent(agents.Agent{Task: "t", FirstSentence: " \n\t"}), agent(agents.Agent{Task: "t", FirstSentence: long(agents.MaxFirstSentence + 1)}),
		},
		"idle.prompt":  {agent(agents.Agent{Task: "t", Idle: &dialogue.Idle{Prompt: " "}}), agent(agents.Agent{Task: "t", Idle: &dialogue.Idle{Prompt: long(dialogue.MaxIdleText + 1)}})},
		"idle.goodbye": {agent(agents.Agent{Task: "t", Idle: &dialogue.Idle{Goodbye: "\t"}}), agent(agents.Agent{Task: "t", Idle: &dialogue.Idle{Goodbye: long(dialogue.MaxIdleText + 1)}})},
		"idle.filler":  {agent(agents.Agent{Task: "t", Idle: &dialogue.Idle{Filler: "\n"}}), agent(agents.Agent{Task: "t", Idle: &dialogue.Idle{Filler: long(dialogue.MaxIdleText + 1)}})},
		"interruption_threshold": {
			agent(agents.Agent{Task: "t", Interruption: new(-time.Second)}),
			agent(agents.Agent{Task: "t", Interruption: new(11 * time.Second)}),
		},
		"tools[1].url": {agent(agents.Agent{Task: "t", Tools: tools(
			`{"name":"a","url":"https://a.example/"}`, `{"name":"b","url":"http://a.example/"}`)})},
		"tools[0].name":                         {agent(agents.Agent{Task: "t", Tools: tools(`{"name":"","url":"https://a.example/"}`)})},
		"tools[0]":                              {agent(agents.Agent{Task: "t", Tools: tools(`"TL-1"`)})},
		"dynamic_data":                          {agent(agents.Agent{Task: "t", DynamicData: make([]agents.DynamicData, agents.MaxDynamicData+1)})},
		"dynamic_data[1].url":                   {fetch(agents.DynamicData{URL: "http://a.example/"}), fetch(agents.DynamicData{URL: "x"})},
		"dynamic_data[1].method":                {fetch(agents.DynamicData{URL: "https://a.example/", Method: "BREW"})},
		"dynamic_data[1].response_data[0].data": {fetch(agents.DynamicData{URL: "https://a.example/", Response: []request.Mapping{{Name: "x", Path: "y"}}})},
		"voicemail.action":                      {plan(call.Plan{Voicemail: call.Voicemail{Action: "cry"}})},
		"voicemail.message": {
			plan(call.Plan{Voicemail: call.Voicemail{Action: call.VoicemailMessage, Message: " "}}),
			plan(call.Plan{Voicemail: call.Voicemail{Message: long(tts.MaxText + 1)}}),
		},
		"retry.wait": {
			plan(call.Plan{Retry: &call.Retry{}}), plan(call.Plan{Retry: &call.Retry{Wait: 25 * time.Hour}}),
		},
		"retry.voicemail_message": {plan(call.Plan{Retry: &call.Retry{
			Wait: time.Minute, Voicemail: call.Voicemail{Action: call.VoicemailMessage},
		}})},
		"dispositions":    {plan(call.Plan{Dispositions: make([]string, 51)})},
		"dispositions[1]": {plan(call.Plan{Dispositions: []string{"a", " "}}), plan(call.Plan{Dispositions: []string{"a", "a"}}), plan(call.Plan{Dispositions: []string{"a", long(101)}})},
		"summary_prompt":  {plan(call.Plan{SummaryPrompt: long(2000)})},
		"webhook_events": {{
			Agent: agents.Agent{Task: "t"}, Plan: call.Plan{Events: []call.EventCategory{call.EventsCall}},
		}},
		"webhook_events[0]": {plan(call.Plan{Events: []call.EventCategory{"citations"}})},
		"start_time":        {{Agent: agents.Agent{Task: "t"}, StartAt: new(time.Now().Add(31 * 24 * time.Hour))}},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			inClinic(t, func(t *testing.T, h *house, _ *library, r *agentstest.Requests) {
				r.Check = onlyHTTPS
				for i, q := range requests {
					if q.StartAt != nil {
						q.StartAt = new(time.Now().Add(31 * 24 * time.Hour)) // relative to the bubble's clock
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
			}, func(c *call.Config) { c.AMD = func(int, string) call.AMD { return deaf{} } })
		})
	}
}

// TestSizeOfRequests checks that tools and dynamic data together may have MaxRequests bytes and no more.
func TestSizeOfRequests(t *testing.T) {
	t.Parallel()
	inClinic(t, func(t *testing.T, h *house, _ *library, _ *agentstest.Requests) {
		sized := func(size int) (all []json.RawMessage) {
			for most := 32 << 10; size > 0; size -= most { // at most 32 KB for each tool
				text := fmt.Sprintf(`{"name":"t%d","url":"https://a.example/"`, len(all))
				all = append(all, json.RawMessage(text+strings.Repeat(" ", max(min(size, most)-len(text)-1, 0))+`}`))
			}
			return all
		}
		data := func(size int) []agents.DynamicData {
			return []agents.DynamicData{{URL: "https://a.example/", Body: []request.Pair{{Name: "x", Value: long(size)}}}}
		}
		for name, test := range map[string]struct {
			agent agents.Agent
			field string
		}{
			"what fits":         {agents.Agent{Tools: sized(agents.MaxRequests)}, ""},
			"what fits of both": {agents.Agent{Tools: sized(agents.MaxRequests - 2000), DynamicData: data(1000)}, ""},
			"tools":             {agents.Agent{Tools: sized(agents.MaxRequests + 1)}, "tools"},
			"data":              {agents.Agent{DynamicData: data(agents.MaxRequests)}, "dynamic_data"},
			"both":              {agents.Agent{Tools: sized(agents.MaxRequests / 2), DynamicData: data(agents.MaxRequests / 2)}, "dynamic_data"},
		} {
			test.agent.Task = "Talk."
			_, err := h.Create(t.Context(), "a", call.Request{To: "+15550000002", Agent: test.agent})
			e, _ := errors.AsType[*callwright.Error](err)
			if (err == nil) != (test.field == "") || e != nil && (e.Field != test.field || e.Code != callwright.CodeBadRequest) {
				t.Errorf("%s gave %v", name, err)
			}
		}
	})
}

// TestCreateNamesBoth checks that the error for a task together with a pathway, and the error for neither, name both fields.
func TestCreateNamesBoth(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		for _, a := range []agents.Agent{{}, {Task: "t", Pathway: production}} {
			_, err := h.Create(t.Context(), "a", call.Request{To: "+15550000002", Agent: a})
			if err == nil || !strings.Contains(err.Error(), "task") || !strings.Contains(err.Error(), "pathway_id") {
				t.Errorf("%+v gave %v", a, err)
			}
		}
	})
}

// TestCreateWithoutTheParts checks that Create returns CodeUnavailable for a request that requires a missing optional port, and that
// VoicemailIgnore requires no port.
func TestCreateWithoutTheParts(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		for name, r := range map[string]call.Request{
			"pathways":     agent(agents.Agent{Pathway: production}),
			"tools":        agent(agents.Agent{Task: "t", Tools: tools(`{"name":"a","url":"https://a.example/"}`)}),
			"dynamic data": agent(agents.Agent{Task: "t", DynamicData: []agents.DynamicData{{URL: "https://a.example/"}}}),
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

// TestListPassesFiltersOn checks that List passes Status, AnsweredBy and Completed to the store.
func TestListPassesFiltersOn(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		busy := h.create(agents.Agent{})
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
