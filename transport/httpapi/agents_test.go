package httpapi_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// agent creates a web agent and returns its record.
func (h *house) agent(body string) map[string]any {
	h.t.Helper()
	record, _ := at(h.t, h.want(http.StatusCreated, "POST", "/v1/agents", body), "agent").(map[string]any)
	return record
}

// agents returns the list of web agents.
func (h *house) agents() []any {
	h.t.Helper()
	list, _ := h.want(http.StatusOK, "GET", "/v1/agents", "")["agents"].([]any)
	return list
}

const (
	aTool        = `{"name":"look_up","description":"Looks.","url":"https://shop.example/look","method":"GET","x":[1.0,null]}`
	someRequests = `[{"url":"https://shop.example/{{id}}","method":"POST","headers":[{"key":"X-Key","value":"k"}],` +
		`"query":[{"key":"q","value":"{{name}}"}],"body":[{"key":"b","value":"1"}],"cache":true,` +
		`"response_data":[{"name":"price","data":"$.price","context":"It costs {{price}}."}]}]`
)

// TestPagesOfAgents checks that a large list of web agents is cut, and that next_cursor continues it.
func TestPagesOfAgents(t *testing.T) {
	t.Parallel()
	h := open(t)
	const count = 24
	for range count {
		h.agent(`{"prompt":"` + strings.Repeat("x", 100_000) + `"}`)
	}
	seen := map[any]bool{}
	for query, pages := "", 1; ; pages++ {
		answer := h.do("GET", "/v1/agents"+query, "")
		if answer.Code != http.StatusOK || answer.Body.Len() > 3<<20 {
			t.Fatalf("%d with %d bytes", answer.Code, answer.Body.Len())
		}
		var page map[string]any
		if err := json.Unmarshal(answer.Body.Bytes(), &page); err != nil {
			t.Fatal(err)
		}
		for i := range page["agents"].([]any) {
			seen[at(t, page, "agents", i, "agent_id")] = true
		}
		next, more := page["next_cursor"].(string)
		if !more {
			if len(seen) != count || pages != 2 {
				t.Errorf("%d pages have %d agents", pages, len(seen))
			}
			break
		}
		query = "?cursor=" + next
	}
	two := h.want(http.StatusOK, "GET", "/v1/agents?limit=2", "")
	if list, _ := two["agents"].([]any); len(list) != 2 || two["next_cursor"] == nil {
		t.Errorf("2 agents are %d, next %v", len(list), two["next_cursor"])
	}
	h.want(http.StatusBadRequest, "GET", "/v1/agents?limit=1001", "")
	h.want(http.StatusBadRequest, "GET", "/v1/agents?cursor=x", "")
	numbers := h.want(http.StatusOK, "GET", "/v1/inbound?limit=1", "")
	if list, _ := numbers["inbound_numbers"].([]any); len(list) > 1 {
		t.Errorf("1 number is %v", list)
	}
}

// TestAgentWithNothingHasNulls checks that the record of an agent without settings has exactly the thirteen members of the specification.
func TestAgentWithNothingHasNulls(t *testing.T) {
	t.Parallel()
	h := open(t)
	created := h.agent(`{"prompt":"Help."}`)
	want := map[string]any{
		"agent_id": created["agent_id"], "webhook": nil, "dynamic_data": nil, "interruption_threshold": nil,
		"first_sentence": nil, "model": "base", "voice_settings": nil, "voice": "", "prompt": "Help.", "temperature": nil,
		"max_duration": 30.0, "language": "ENG", "tools": nil,
	}
	if !reflect.DeepEqual(created, want) || created["agent_id"] == "" {
		t.Errorf("created %v, want %v", created, want)
	}
	if list := h.agents(); len(list) != 1 || !reflect.DeepEqual(list[0], created) {
		t.Errorf("list %v", list)
	}
}

// TestAgentComesBackAsItWasGiven checks how each setting of an agent reads back: as it was set, except that an empty or null value may read
// as another form of no value.
func TestAgentComesBackAsItWasGiven(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, _ := h.agent(`{"prompt":"Help."}`)["agent_id"].(string)
	for _, c := range []struct{ name, given, read string }{
		{"prompt", `"Help me."`, ""},
		{"webhook", `"https://hook.example/"`, ""},
		{"webhook", `null`, ""},
		{"webhook", `""`, `null`},
		{"dynamic_data", someRequests, ""},
		{"dynamic_data", `[]`, ""},
		{"dynamic_data", `null`, ""},
		{"interruption_threshold", `250.5`, ""},
		{"interruption_threshold", `0.29`, ""},
		{"interruption_threshold", `0`, ""},
		{"interruption_threshold", `null`, ""},
		{"idle", `{"after":0,"times":0,"prompt":"Hello?","goodbye":"Bye.","filler_after":1.5,"filler":"Hm."}`, ""},
		{"idle", `{"after":7.25}`, ""},
		{"machines", `{"ivr":"hangup","screening":"introduce","screening_message":"Ada."}`, ""},
		{"interruptibility", `0`, ""},
		{"interruptibility", `4`, ""},
		{"min_endpointing_delay", `450.5`, ""},
		{"max_endpointing_delay", `10000`, ""},
		{"first_sentence", `"Hello {{name}}."`, ""},
		{"first_sentence", `null`, ""},
		{"model", `"turbo"`, ""},
		{"model", `null`, `""`},
		{"voice_settings", `{"speed":1.5,"more":{"a":[null]}}`, ""},
		{"voice_settings", `{}`, ""},
		{"background_track", `"office"`, ""},
		{"pronunciation_guide", `[{"word":"API","pronunciation":"A P I","case_sensitive":false,"spaced":true}]`, ""},
		{"voice_settings", `null`, ""},
		{"voice", `"rms"`, ""},
		{"voice", `null`, `""`},
		{"temperature", `0`, ""},
		{"temperature", `0.75`, ""},
		{"temperature", `null`, ""},
		{"max_duration", `0.29`, ""},
		{"language", `"babel-en"`, ""},
		{"language", `null`, `""`},
		{"tools", `[` + aTool + `]`, ""},
		{"tools", `[]`, ""},
		{"tools", `null`, ""},
		{"metadata", `{"ticket":"4711","n":1.5}`, ""},
		{"keywords", `["Callwright:2"]`, ""},
	} {
		report := h.want(http.StatusOK, "POST", "/v1/agents/"+id, `{"`+c.name+`":`+c.given+`}`)
		var given, read any
		if c.read == "" {
			c.read = c.given
		}
		if err := json.Unmarshal([]byte(c.given), &given); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(c.read), &read); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(report["updates"], map[string]any{c.name: given}) || len(report["failed_updates"].(map[string]any)) > 0 {
			t.Errorf("%s %s: report %v", c.name, c.given, report)
		}
		if now := at(t, h.agents(), 0, c.name); !reflect.DeepEqual(now, read) {
			t.Errorf("%s %s: read %v", c.name, c.given, now)
		}
	}
	if list := h.do("GET", "/v1/agents", ""); strings.Contains(list.Body.String(), aTool) {
		t.Errorf("the tools are still there: %s", list.Body)
	}
	h.want(http.StatusOK, "POST", "/v1/agents/"+id, `{"tools":[`+aTool+`]}`)
	if list := h.do("GET", "/v1/agents", ""); !strings.Contains(list.Body.String(), aTool) {
		t.Errorf("%s does not hold %s", list.Body, aTool)
	}
}

func TestAgentsPathwayAndPromptExcludeEachOther(t *testing.T) {
	t.Parallel()
	h := open(t)
	pathway := h.drawn()
	id, _ := h.agent(`{"prompt":"Help.","first_sentence":"Hi.","tools":[` + aTool + `],"dynamic_data":[]}`)["agent_id"].(string)
	early := h.want(http.StatusOK, "POST", "/v1/agents/"+id, `{"pathway_id":"`+pathway+`"}`)
	if text, _ := at(t, early, "failed_updates", "pathway_id").(string); !strings.Contains(text, "is in production") {
		t.Errorf("nothing is in production: %v", early)
	}
	h.saved(pathway)
	h.want(http.StatusOK, "POST", "/v1/pathway/"+pathway+"/publish", `{"version_id":1}`)
	led := h.want(http.StatusOK, "POST", "/v1/agents/"+id, `{"pathway_id":"`+pathway+`","prompt":"Help.","voice":"rms"}`)
	if at(t, led, "failed_updates", "prompt") == nil || at(t, led, "updates", "pathway_id") != pathway ||
		at(t, led, "updates", "voice") != "rms" {
		t.Errorf("led %v", led)
	}
	for name, want := range map[string]any{
		"pathway_id": pathway, "prompt": "", "first_sentence": nil, "model": "", "dynamic_data": nil, "tools": nil, "voice": "rms",
	} {
		if got := at(t, h.agents(), 0, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	alone := h.want(http.StatusOK, "POST", "/v1/agents/"+id, `{"pathway_id":null}`)
	if at(t, alone, "failed_updates", "pathway_id") == nil {
		t.Errorf("an agent with neither: %v", alone)
	}
	back := h.want(http.StatusOK, "POST", "/v1/agents/"+id, `{"pathway_id":null,"prompt":"Help."}`)
	if at(t, back, "updates", "prompt") != "Help." || at(t, h.agents(), 0, "pathway_id") != nil {
		t.Errorf("back %v", back)
	}
}

func TestAgentsThatCannotBe(t *testing.T) {
	t.Parallel()
	h := open(t)
	for body, path := range map[string]string{
		`{}`:                              "prompt",
		`{"prompt":" "}`:                  "prompt",
		`{"prompt":"x","pathway_id":"p"}`: "prompt",
		`{"prompt":"x","webhook":"http://plain.example"}`:                "webhook",
		`{"prompt":"x","tools":["TL-1"]}`:                                "tools[0]",
		`{"prompt":"x","tools":[{"name":"t","url":"http://a.example"}]}`: "tools[0].url",
		`{"prompt":"x","dynamic_data":[{"url":"http://a.example"}]}`:     "dynamic_data[0].url",
		`{"prompt":"x","dynamic_data":[{}]}`:                             "dynamic_data[0].url",
		`{"prompt":"x","max_duration":1000}`:                             "max_duration",
		`{"prompt":"x","colour":"red"}`:                                  "colour",
	} {
		answer := h.want(http.StatusBadRequest, "POST", "/v1/agents", body)
		if text, _ := at(t, answer, "errors", 0, "message").(string); !strings.HasPrefix(text, path+": ") || answer["data"] != nil {
			t.Errorf("%s: %v", body, answer)
		}
	}
	absent := h.want(http.StatusNotFound, "POST", "/v1/agents", `{"pathway_id":"nobodys"}`)
	if at(t, absent, "errors", 0, "error") != "NOT_FOUND" {
		t.Errorf("absent %v", absent)
	}
	if list := h.agents(); len(list) != 0 {
		t.Errorf("list %v", list)
	}
	id, _ := h.agent(`{"prompt":"x"}`)["agent_id"].(string)
	report := h.want(http.StatusOK, "POST", "/v1/agents/"+id, `{"webhook":"http://plain.example","prompt":"","voice":"rms","pathway_id":"nobodys"}`)
	failed, _ := report["failed_updates"].(map[string]any)
	if len(failed) != 2 || failed["webhook"] == nil || failed["pathway_id"] == nil || at(t, report, "updates", "voice") != "rms" {
		t.Errorf("report %v", report)
	}
}

func TestGetAgent(t *testing.T) {
	t.Parallel()
	h := open(t)
	created := h.agent(`{"prompt":"Help.","voice":"rms"}`)
	id, _ := created["agent_id"].(string)
	if got := h.want(http.StatusOK, "GET", "/v1/agents/"+id, ""); !reflect.DeepEqual(got["agent"], any(created)) {
		t.Errorf("got %v, want %v", got, created)
	}
	_, other := h.tenant("other")
	foreign := h.want(http.StatusNotFound, "GET", "/v1/agents/"+id, "", header{"Authorization", other})
	if at(t, foreign, "errors", 0, "error") != "NOT_FOUND" {
		t.Errorf("foreign %v", foreign)
	}
}

func TestRemoveAgent(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, _ := h.agent(`{"prompt":"x"}`)["agent_id"].(string)
	_, other := h.tenant("other")
	h.want(http.StatusNotFound, "DELETE", "/v1/agents/"+id, "", header{"Authorization", other})
	if deleted := h.want(http.StatusOK, "DELETE", "/v1/agents/"+id, ""); deleted["status"] != "success" {
		t.Errorf("deleted %v", deleted)
	}
	h.want(http.StatusNotFound, "DELETE", "/v1/agents/"+id, "")
}

func TestAgentIsDeleted(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, _ := h.agent(`{"prompt":"x"}`)["agent_id"].(string)
	_, other := h.tenant("other")
	for path, body := range map[string]string{"": `{"voice":"rms"}`, "/delete": ""} {
		foreign := h.want(http.StatusNotFound, "POST", "/v1/agents/"+id+path, body, header{"Authorization", other})
		absent := h.want(http.StatusNotFound, "POST", "/v1/agents/nobodys"+path, body)
		if foreign["message"] != absent["message"] || at(t, foreign, "errors", 0, "error") != "NOT_FOUND" {
			t.Errorf("foreign %v, absent %v", foreign, absent)
		}
	}
	if deleted := h.want(http.StatusOK, "POST", "/v1/agents/"+id+"/delete", ""); deleted["status"] != "success" {
		t.Errorf("deleted %v", deleted)
	}
	if list := h.agents(); len(list) != 0 {
		t.Errorf("list %v", list)
	}
}
