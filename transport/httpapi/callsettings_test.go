package httpapi_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/pathway"
	requests "github.com/callwright/callwright/agents/request"
)

// created creates a call whose body has additional members, and returns the stored call.
func (h *house) created(members string) call.Call {
	h.t.Helper()
	answer := h.want(http.StatusOK, "POST", "/v1/calls", `{"phone_number":"`+theirNumber+`",`+members+`}`)
	c, err := h.calls.Get(h.t.Context(), h.org, answer["call_id"].(string))
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

func TestCallTakesItsPlan(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	begin := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	c := h.created(`"task":"Talk.","persona":"You are kind.","webhook":"https://hook.example/","interruption_threshold":350,
		"tools":[` + aTool + `],"dynamic_data":` + someRequests + `,"start_time":"` + begin.Format(time.RFC3339) + `",
		"voicemail":{"action":"leave_message","message":"We call again."},
		"retry":{"wait":600,"voicemail_action":"hangup"},"dispositions":["yes","no"],"summary_prompt":"In one sentence.",
		"webhook_events":["call","dynamic_data"]`)
	want := call.Plan{
		Voicemail:    call.Voicemail{Action: call.VoicemailMessage, Message: "We call again."},
		Retry:        &call.Retry{Wait: 10 * time.Minute, Voicemail: call.Voicemail{Action: call.VoicemailHangup}},
		Dispositions: []string{"yes", "no"}, SummaryPrompt: "In one sentence.",
		Events: []call.EventCategory{call.EventsCall, call.EventsDynamicData},
	}
	if !reflect.DeepEqual(c.Plan, want) || c.StartAt == nil || !c.StartAt.Equal(begin) {
		t.Errorf("plan %+v at %v", c.Plan, c.StartAt)
	}
	dynamic := []agents.DynamicData{{
		URL: "https://shop.example/{{id}}", Method: "POST", Cache: true,
		Headers:  []requests.Pair{{Name: "X-Key", Value: "k"}},
		Query:    []requests.Pair{{Name: "q", Value: "{{name}}"}},
		Body:     []requests.Pair{{Name: "b", Value: "1"}},
		Response: []requests.Mapping{{Name: "price", Path: "$.price", Context: "It costs {{price}}."}},
	}}
	if !reflect.DeepEqual(c.Agent.DynamicData, dynamic) || c.Agent.Persona != "You are kind." ||
		*c.Agent.Interruption != 350*time.Millisecond || !reflect.DeepEqual(c.Agent.Tools, []json.RawMessage{json.RawMessage(aTool)}) {
		t.Errorf("agent %+v", c.Agent)
	}
	record := h.want(http.StatusOK, "GET", "/v1/calls/"+c.ID, "")
	if record["start_time"] != begin.Format("2006-01-02T15:04:05.000Z") || record["analysis"] != nil {
		t.Errorf("record %v", record)
	}
}

func TestCallIsLedByAPathway(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	id := h.drawn()
	h.saved(id)
	h.want(http.StatusOK, "POST", "/v1/pathway/"+id+"/publish", `{"version_id":1,"environment":"staging"}`)
	for members, want := range map[string]agents.PathwayRef{
		`,"pathway_version":1`:                           {ID: id, Version: pathway.Selector{Number: 1}},
		`,"pathway_version":0`:                           {ID: id},
		`,"pathway_version":"staging"`:                   {ID: id, Version: pathway.Selector{Environment: pathway.Staging}},
		`,"pathway_version":1,"start_node_id":"goodbye"`: {ID: id, Version: pathway.Selector{Number: 1}, StartNode: "goodbye"},
	} {
		if c := h.created(`"pathway_id":"` + id + `"` + members); c.Agent.Pathway != want || c.Agent.Task != "" {
			t.Errorf("%s: %+v", members, c.Agent)
		}
	}
	number := `{"phone_number":"` + theirNumber + `",`
	early := h.want(http.StatusNotFound, "POST", "/v1/calls", number+`"pathway_id":"`+id+`"}`)
	if text, _ := at(t, early, "errors", 0, "message").(string); !strings.HasPrefix(text, "pathway_version: ") {
		t.Errorf("nothing is in production: %v", early)
	}
	h.want(http.StatusOK, "POST", "/v1/pathway/"+id+"/publish", `{"version_id":1}`)
	c := h.created(`"pathway_id":"` + id + `"`)
	if c.Agent.Pathway.Version != (pathway.Selector{Environment: pathway.Production}) {
		t.Errorf("version %+v", c.Agent.Pathway.Version)
	}
	if record := h.want(http.StatusOK, "GET", "/v1/calls/"+c.ID, ""); record["pathway_id"] != id || record["pathway_version"] != nil {
		t.Errorf("record %v", record)
	}
}

func TestCallTakesTheSettingsOfAWebAgent(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	agent, _ := h.agent(`{"prompt":"Help.","voice":"rms","first_sentence":"Hi.","max_duration":7,"temperature":0.5,
		"webhook":"https://hook.example/","tools":[` + aTool + `]}`)["agent_id"].(string)
	plain := h.created(`"agent_id":"` + agent + `"`).Agent
	if plain.Task != "Help." || plain.Voice != "rms" || plain.FirstSentence != "Hi." || plain.MaxDuration != 7*time.Minute ||
		*plain.Temperature != 0.5 || plain.Webhook != "https://hook.example/" || len(plain.Tools) != 1 || plain.Language != "en" ||
		plain.Interruption != nil || plain.Record {
		t.Errorf("plain %+v", plain)
	}
	changed := h.created(`"agent_id":"` + agent + `","task":"Ask.","voice":"slt","max_duration":2,"record":true,"tools":null`).Agent
	if changed.Task != "Ask." || changed.Voice != "slt" || changed.MaxDuration != 2*time.Minute || !changed.Record ||
		changed.Tools != nil || changed.FirstSentence != "Hi." {
		t.Errorf("changed %+v", changed)
	}
	id := h.drawn()
	led := h.created(`"agent_id":"` + agent + `","pathway_id":"` + id + `","pathway_version":0`).Agent
	if led.Task != "" || led.Pathway.ID != id || led.Voice != "rms" {
		t.Errorf("led %+v", led)
	}
	_, other := h.tenant("other", "SIP")
	body := `{"phone_number":"` + theirNumber + `","agent_id":"` + agent + `"}`
	foreign := h.want(http.StatusNotFound, "POST", "/v1/calls", body, header{"Authorization", other})
	if text, _ := at(t, foreign, "errors", 0, "message").(string); !strings.HasPrefix(text, "agent_id: ") {
		t.Errorf("foreign %v", foreign)
	}
}

// TestCallIsInterruptedAsItsSettingsSay checks which settings of a call, its web agent and its persona determine how it is interrupted.
func TestCallIsInterruptedAsItsSettingsSay(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	plain, _ := h.agent(`{"prompt":"Help.","interruption_threshold":500}`)["agent_id"].(string)
	calm, _ := h.agent(`{"prompt":"Help.","interruptibility":1}`)["agent_id"].(string)
	h.want(http.StatusOK, "POST", "/v1/agents/"+calm, `{"voice":"slt"}`)
	desk, _ := h.persona(`{"name":"Eva","orchestration_prompt":"Talk.","call_config":{"interruptibility":3,"interruption_threshold":90}}`)["id"].(string)
	for members, want := range map[string]string{
		`"task":"x"`:                      "level nil, threshold nil",
		`"task":"x","interruptibility":3`: "level 3, threshold nil",
		`"task":"x","interruptibility":4,"block_interruptions":true`:  "level 0, threshold nil",
		`"task":"x","interruptibility":4,"block_interruptions":false`: "level 4, threshold nil",
		`"task":"x","block_interruptions":false`:                      "level nil, threshold nil",
		`"task":"x","interruptibility":1,"interruption_threshold":90`: "level 1, threshold 90ms",
		`"agent_id":"` + plain + `"`:                                  "level nil, threshold 500ms",
		`"agent_id":"` + plain + `","interruptibility":4`:             "level 4, threshold nil",
		`"agent_id":"` + plain + `","block_interruptions":true`:       "level 0, threshold nil",
		`"agent_id":"` + calm + `"`:                                   "level 1, threshold nil",
		`"agent_id":"` + calm + `","interruption_threshold":700`:      "level 1, threshold 700ms",
		`"persona_id":"` + desk + `"`:                                 "level 3, threshold 90ms",
		`"persona_id":"` + desk + `","interruptibility":0`:            "level 0, threshold nil",
	} {
		a := h.created(members).Agent
		level, threshold := "nil", "nil"
		if a.Interruptibility != nil {
			level = strconv.Itoa(*a.Interruptibility)
		}
		if a.Interruption != nil {
			threshold = a.Interruption.String()
		}
		if got := "level " + level + ", threshold " + threshold; got != want {
			t.Errorf("%s: got %s, want %s", members, got, want)
		}
	}
}

// TestCallWaitsAsItsSettingsSay checks which settings of a call, its web agent and its persona bound the silence that ends a turn. Each bound
// is inherited alone.
func TestCallWaitsAsItsSettingsSay(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	agent, _ := h.agent(`{"prompt":"Help.","min_endpointing_delay":400}`)["agent_id"].(string)
	h.want(http.StatusOK, "POST", "/v1/agents/"+agent, `{"voice":"slt","max_endpointing_delay":5000}`)
	plain, _ := h.agent(`{"prompt":"Help.","min_endpointing_delay":400}`)["agent_id"].(string)
	h.want(http.StatusOK, "POST", "/v1/agents/"+plain, `{"min_endpointing_delay":null}`)
	desk, _ := h.persona(`{"name":"Eva","orchestration_prompt":"Talk.","call_config":{"min_endpointing_delay":700,"max_endpointing_delay":6000.5}}`)["id"].(string)
	for members, want := range map[string][2]time.Duration{
		`"task":"x"`: {},
		`"task":"x","min_endpointing_delay":150,"max_endpointing_delay":null`: {150 * time.Millisecond, 0},
		`"agent_id":"` + agent + `"`:                                          {400 * time.Millisecond, 5 * time.Second},
		`"agent_id":"` + agent + `","max_endpointing_delay":1000`:             {400 * time.Millisecond, time.Second},
		`"agent_id":"` + plain + `"`:                                          {},
		`"persona_id":"` + desk + `"`:                                         {700 * time.Millisecond, 6000500 * time.Microsecond},
		`"persona_id":"` + desk + `","min_endpointing_delay":9000`:            {9 * time.Second, 6000500 * time.Microsecond},
	} {
		a := h.created(members).Agent
		if got := [2]time.Duration{a.LeastWait, a.LongestWait}; got != want {
			t.Errorf("%s: got %s, want %s", members, got, want)
		}
	}
}

func TestCallsWithSettingsThatCannotBe(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	id := h.drawn()
	for members, want := range map[string]string{
		`"task":"x","pathway_id":"` + id + `"`:                                                               "400 task",
		`"pathway_id":"nobodys"`:                                                                             "404 pathway_id",
		`"pathway_id":"` + id + `","pathway_version":9`:                                                      "404 pathway_version",
		`"pathway_id":"` + id + `","pathway_version":0,"start_node_id":"nowhere"`:                            "400 start_node_id",
		`"task":"x","pathway_version":1`:                                                                     "400 pathway_version",
		`"task":"x","start_node_id":"greeting"`:                                                              "400 start_node_id",
		`"task":"x","voicemail":{"action":"leave_message"}`:                                                  "400 voicemail.message",
		`"task":"x","retry":{"wait":0}`:                                                                      "400 retry.wait",
		`"task":"x","retry":{"wait":9,"voicemail_action":"leave_message"}`:                                   "400 retry.voicemail_message",
		`"task":"x","dispositions":["a","a"]`:                                                                "400 dispositions[1]",
		`"task":"x","webhook_events":["call"]`:                                                               "400 webhook_events",
		`"task":"x","webhook":"https://h.example","webhook_events":["weather"]`:                              "400 webhook_events[0]",
		`"task":"x","summary_prompt":"` + strings.Repeat("s", 2000) + `"`:                                    "400 summary_prompt",
		`"task":"x","start_time":"2999-01-01T00:00:00Z"`:                                                     "400 start_time",
		`"task":"x","tools":["TL-1"]`:                                                                        "400 tools[0]",
		`"task":"x","dynamic_data":[{"url":"https://a.example","response_data":[{"name":"n","data":"x["}]}]`: "400 dynamic_data[0].response_data[0].data",
		`"task":"x","interruption_threshold":10001`:                                                          "400 interruption_threshold",
		`"task":"x","agent_id":"nobodys"`:                                                                    "404 agent_id",
	} {
		status := http.StatusBadRequest
		if strings.HasPrefix(want, "404") {
			status = http.StatusNotFound
		}
		answer := h.want(status, "POST", "/v1/calls", `{"phone_number":"`+theirNumber+`",`+members+`}`)
		if text, _ := at(t, answer, "errors", 0, "message").(string); !strings.HasPrefix(text, want[4:]+": ") {
			t.Errorf("%s: %v", members, answer)
		}
	}
}

func TestCallsAreFoundByHowTheyCameOut(t *testing.T) {
	t.Parallel()
	h := open(t)
	first := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for i, change := range []func(*call.Call){
		func(*call.Call) {},
		func(c *call.Call) { c.AnsweredBy, c.Agent.Pathway.ID = call.AnsweredByVoicemail, "p1" },
		func(c *call.Call) { c.Status = call.StatusBusy; c.StartedAt = nil; c.AnsweredBy = "" },
		func(c *call.Call) { ended := c.StartedAt.Add(5 * time.Minute); c.EndedAt = &ended },
	} {
		h.endedAs([]string{"c1", "c2", "c3", "c4"}[i], first.Add(time.Duration(i)*time.Hour), change)
	}
	for query, want := range map[string]string{
		"answered_by=voicemail": "c2", "status=busy": "c3", "pathway_id=p1": "c2", "pathway_id=p2": "",
		"duration_gt=1": "c4", "duration_lt=1": "c3 c2 c1", "duration_gt=0": "c4 c2 c1", "duration_gt=0.7&duration_lt=2": "c2 c1",
	} {
		answer := h.want(http.StatusOK, "GET", "/v1/calls?"+query, "")
		var ids []string
		calls, _ := answer["calls"].([]any)
		for i := range calls {
			ids = append(ids, at(t, calls, i, "call_id").(string))
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if list := h.want(http.StatusOK, "GET", "/v1/calls?answered_by=voicemail", ""); at(t, list, "calls", 0, "pathway_id") != "p1" {
		t.Errorf("list %v", list)
	}
	for _, query := range []string{"answered_by=me", "status=fine", "duration_lt=0", "duration_gt=-1"} {
		h.want(http.StatusBadRequest, "GET", "/v1/calls?"+query, "")
	}
}

func TestRecordTellsWhatThePathwayDid(t *testing.T) {
	t.Parallel()
	h := open(t)
	created := time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC)
	number := 3
	h.endedAs("c1", created, func(c *call.Call) {
		c.Agent.Task, c.Agent.Pathway.ID, c.PathwayNumber = "", "p1", &number
		c.RequestData = map[string]any{"name": "Robin"}
		c.Variables = map[string]any{"name": "Robin", "day": "Tuesday"}
		c.Analysis = call.Analysis{Summary: "It went well.", Disposition: "booked", Error: "half of it failed"}
		c.RetryOf, c.RetriedBy = "c0", "c2"
		c.Agent.Idle, c.Agent.Sources = &dialogue.Idle{Prompt: "Hello?"}, map[agents.Setting]agents.Source{agents.SettingIdle: agents.SourcePersona}
		c.Plan.Voicemail.Action = call.VoicemailHangup
	})
	moment := func(seconds int) time.Time { return created.Add(time.Duration(seconds) * time.Second) }
	for _, l := range []pathway.Log{
		{Turn: 1, Said: "Which day?"},
		{Turn: 2, Heard: "Tuesday.", Said: "Tuesday it is.", Entries: []pathway.LogEntry{
			{Kind: pathway.LogVariables, Node: "ask", Name: "Ask", Variables: map[string]any{"day": "Tuesday"}, Text: "day", At: moment(5)},
			{Kind: pathway.LogDecision, Node: "ask", Name: "Ask", Chosen: "book", Edge: "e1", Text: "A day was named.", At: moment(6)},
			{Kind: pathway.LogRequest, Node: "book", Name: "Book", At: moment(7), Text: "POST https://shop.example/book: 200", Request: &requests.Log{
				Name: "Book", Method: "POST", URL: "https://shop.example/book", Status: 200, Body: json.RawMessage(`"secret"`),
				Duration: 30 * time.Millisecond, Variables: map[string]any{"ok": true},
			}},
			{Kind: pathway.LogVisit, Node: "end", Name: "End", Tag: "booked", At: moment(8), Settings: map[string]float64{"interruptibility": 0}},
		}},
	} {
		if err := h.calls.AppendLog(t.Context(), h.org, "c1", l); err != nil {
			t.Fatal(err)
		}
	}
	record := h.want(http.StatusOK, "GET", "/v1/calls/c1", "")
	for name, want := range map[string]any{
		"pathway_id": "p1", "pathway_version": 3.0, "task": nil, "summary": "It went well.", "disposition_tag": "booked",
		"analysis_error": "half of it failed", "retry_of": "c0", "retried_by": "c2", "warm_transfer_call": nil,
		"local_dialing": false, "endpoint_url": "https://voice.example.com", "start_time": nil,
	} {
		if record[name] != want {
			t.Errorf("%s is %v, want %v", name, record[name], want)
		}
	}
	if at(t, record, "variables", "day") != "Tuesday" || at(t, record, "request_data", "day") != nil ||
		at(t, record, "analysis", "summary") != "It went well." || len(record["citations"].([]any)) != 0 {
		t.Errorf("record %v", record)
	}
	settings := map[any]any{}
	for _, s := range record["settings"].([]any) {
		one, _ := s.(map[string]any)
		settings[one["name"]] = one
		delete(one, "name")
	}
	for name, want := range map[string]map[string]any{
		"idle.prompt": {"value": "Hello?", "source": "persona"}, "idle.times": {"value": 2.0, "source": "default"},
		"machines.voicemail": {"value": "hangup", "source": "call"}, "background_track": {"value": nil, "source": "default"},
		"interruptibility": {"value": 0.0, "source": "node", "node_id": "end"},
	} {
		if !reflect.DeepEqual(settings[name], want) {
			t.Errorf("%s is %v, not %v", name, settings[name], want)
		}
	}
	logs, _ := record["pathway_logs"].([]any)
	var roles []any
	for i := range logs {
		roles = append(roles, at(t, logs, i, "role"))
	}
	did := any("pathway")
	if want := []any{"assistant", "user", did, did, did, did, "assistant"}; !slices.Equal(roles, want) {
		t.Fatalf("roles %v, want %v", roles, want)
	}
	decision := logs[3]
	if at(t, decision, "decision") != "A day was named." || at(t, decision, "chosen_node_id") != "book" || at(t, decision, "text") != "" ||
		at(t, decision, "created_at") != "2026-03-02T09:15:06.000Z" || at(t, logs, 5, "tag") != "booked" ||
		at(t, logs, 0, "created_at") != "2026-03-02T09:15:00.000Z" || at(t, logs, 1, "text") != "Tuesday." {
		t.Errorf("logs %v", logs)
	}
	var info map[string]any
	text, _ := at(t, logs, 4, "pathway_info").(string)
	if err := json.Unmarshal([]byte(text), &info); err != nil {
		t.Fatal(err)
	}
	if info["kind"] != "tool_call" || at(t, info, "request", "status") != 200.0 || at(t, info, "request", "took_ms") != 30.0 ||
		at(t, info, "request", "variables", "ok") != true || info["node_id"] != "book" || strings.Contains(text, "secret") {
		t.Errorf("info %s", text)
	}
}
