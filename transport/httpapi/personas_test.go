package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents/persona"
)

// persona creates a persona and returns its record.
func (h *house) persona(body string) map[string]any {
	h.t.Helper()
	record, _ := h.want(http.StatusCreated, "POST", "/v1/personas", body)["data"].(map[string]any)
	return record
}

// refusedPersona makes a request, and checks the status, the code and the path of its error.
func (h *house) refusedPersona(status int, code, path, method, target, body string) {
	h.t.Helper()
	answer := h.want(status, method, "/v1/personas"+target, body)
	entry, _ := at(h.t, answer, "errors", 0).(map[string]any)
	if got, _ := entry["path"].(string); entry["error"] != code || got != path {
		h.t.Errorf("%s %s %s: got %v, want %s about %q", method, target, body, entry, code, path)
	}
}

// TestPersonaOfTheContract creates, changes, promotes and deletes the persona of the contract's examples.
func TestPersonaOfTheContract(t *testing.T) {
	t.Parallel()
	h := open(t)
	w := &world{h: h, org: h.org, key: h.key, made: map[string]string{}}
	created := h.persona(w.fill(`{"name":"Front desk","role":"Receptionist","tags":["clinic"],"orchestration_prompt":"Book or move appointments.",
		"personality_prompt":"Calm and brief.","pathway_conditions":[{"pathway_id":"$pathway","condition":"The caller wants an appointment."}],
		"call_config":{"voice":"slt","record":true,"language":"en","max_duration":30},"default_tools":[` + aTool + `]}`))
	id, _ := created["id"].(string)
	v1, _ := created["current_production_version_id"].(string)
	version := func(id, kind, number, task string) string {
		return w.fill(`{"id":"` + id + `","persona_id":"$id","version_type":"` + kind + `","version_number":` + number + `,
			"orchestration_prompt":"` + task + `","personality_prompt":"Calm and brief.",
			"pathway_conditions":[{"pathway_id":"$pathway","condition":"The caller wants an appointment."}],"kb_ids":[],
			"call_config":{"voice":"slt","record":true,"language":"en","background":null,"max_duration":30,"wait_for_greeting":false},
			"default_tools":[` + aTool + `],"created_at":"$time","updated_at":"$time"}`)
	}
	whole := func(production, draftID, productionVersion, draft string) string {
		return `{"id":"$id","name":"Front desk","role":"Receptionist","description":null,"tags":["clinic"],"image_url":null,
			"created_at":"$time","updated_at":"$time","deleted_at":null,"user_id":null,"current_production_version_id":"` + production + `",
			"current_draft_version_id":` + draftID + `,"inbound_numbers":[],"current_production_version":` + productionVersion + draft + `}`
	}
	first := version(v1, "production", "1", "Book or move appointments.")
	likePersona(t, created, id, whole(v1, "null", first, `,"current_draft_version":null`))

	changed, _ := h.want(200, "PATCH", "/v1/personas/"+id, `{"orchestration_prompt":"Cancel appointments."}`)["data"].(map[string]any)
	v2, _ := changed["current_draft_version_id"].(string)
	draft := version(v2, "draft", "2", "Cancel appointments.")
	likePersona(t, changed, id, whole(v1, `"`+v2+`"`, first, `,"current_draft_version":`+draft))
	if got := h.want(200, "GET", "/v1/personas/"+id, "")["data"]; !reflect.DeepEqual(got, any(changed)) {
		t.Errorf("got  %v\nwant %v", got, changed)
	}
	list, _ := h.want(200, "GET", "/v1/personas", "")["data"].([]any)
	if len(list) != 1 {
		t.Fatalf("the list has %d", len(list))
	}
	likePersona(t, list[0], id, whole(v1, `"`+v2+`"`, first, ""))

	promoted := h.want(200, "POST", "/v1/personas/"+id+"/promote", "")["data"]
	likePersona(t, promoted, id, whole(v2, "null", version(v2, "production", "2", "Cancel appointments."), `,"current_draft_version":null`))
	versions := h.want(200, "GET", "/v1/personas/"+id+"/versions?limit=1", "")
	cursor, _ := versions["next_cursor"].(string)
	older := h.want(200, "GET", "/v1/personas/"+id+"/versions?cursor="+cursor, "")
	if got := at(t, versions, "data", 0, "id"); got != v2 || older["next_cursor"] != nil {
		t.Errorf("the first page begins with %v, and after %q comes %v", got, cursor, older["next_cursor"])
	}
	likePersona(t, at(t, older, "data", 0), id, first)

	if got := h.want(200, "DELETE", "/v1/personas/"+id, "")["data"]; !reflect.DeepEqual(got, map[string]any{"deleted": true}) {
		t.Errorf("deleted: %v", got)
	}
	h.refusedPersona(404, "NOT_FOUND", "", "GET", "/"+id, "")
	if list, _ := h.want(200, "GET", "/v1/personas", "")["data"].([]any); len(list) != 0 {
		t.Errorf("the list still has %v", list)
	}
}

// likePersona compares a record with JSON. In the JSON, $id is the persona's id and $time is any time.
func likePersona(t *testing.T, got any, id, want string) {
	t.Helper()
	var wanted any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(want, "$id", id)), &wanted); err != nil {
		t.Fatal(err)
	}
	if given := anyTime(got); !reflect.DeepEqual(given, wanted) {
		t.Errorf("got  %v\nwant %v", given, wanted)
	}
}

// anyTime returns a copy of a record in which $time replaces all times.
func anyTime(value any) any {
	record, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := map[string]any{}
	for name, member := range record {
		if out[name] = anyTime(member); strings.HasSuffix(name, "_at") && member != nil {
			out[name] = "$time"
		}
	}
	return out
}

// TestPersonaMembers checks how each member of a persona reads back: as it was set, except that an empty, null or aliased value may read in
// another form.
func TestPersonaMembers(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, _ := h.persona(`{"name":"Eva","orchestration_prompt":"Talk."}`)["id"].(string)
	for _, c := range []struct{ member, given, read string }{
		{"name", `"Ada"`, ""},
		{"role", `"Host"`, ""},
		{"role", `null`, ""},
		{"description", `"Books."`, ""},
		{"description", `""`, `null`},
		{"tags", `["a","b"]`, ""},
		{"tags", `null`, `[]`},
		{"image_url", `"https://x.example/eva.png"`, ""},
		{"image_url", `null`, ""},
		{"draft.orchestration_prompt", `"Sing."`, ""},
		{"draft.orchestration_prompt", `null`, ""},
		{"draft.personality_prompt", `"Calm."`, ""},
		{"draft.personality_prompt", `""`, `null`},
		{"draft.pathway_conditions", `[]`, ""},
		{"draft.kb_ids", `null`, `[]`},
		{"draft.default_tools", `[` + aTool + `]`, ""},
		{"draft.default_tools", `null`, `[]`},
		{"draft.call_config.voice", `"slt"`, ""},
		{"draft.call_config.voice", `null`, ""},
		{"draft.call_config.record", `true`, ""},
		{"draft.call_config.language", `"ENG"`, `"en"`},
		{"draft.call_config.language", `"babel-en"`, `null`},
		{"draft.call_config.background", `"none"`, `null`},
		{"draft.call_config.background", `"cafe"`, ``},
		{"draft.call_config.max_duration", `0.5`, ""},
		{"draft.call_config.max_duration", `null`, ""},
		{"draft.call_config.wait_for_greeting", `true`, ""},
		{"draft.call_config.interruption_threshold", `350.5`, ""},
		{"draft.call_config.interruptibility", `0`, ""},
		{"draft.call_config.min_endpointing_delay", `450.5`, ""},
		{"draft.call_config.max_endpointing_delay", `4000`, ""},
		{"draft.call_config.idle", `{"times":0,"filler_after":0.5}`, ""},
		{"draft.call_config.voice_settings", `{"pitch":1.1,"speed":0.9}`, ""},
		{"draft.call_config.pronunciation_guide", `[{"word":"Nguyen","pronunciation":"win"}]`, `[{"word":"Nguyen","pronunciation":"win","case_sensitive":false,"spaced":true}]`},
		{"draft.call_config.machines", `{"voicemail":"leave_message","voicemail_message":"Call us."}`, ""},
	} {
		body, path := c.given, []any{"data"}
		for _, name := range slices.Backward(strings.Split(strings.TrimPrefix(c.member, "draft."), ".")) {
			body = `{"` + name + `":` + body + `}`
		}
		for name := range strings.SplitSeq(strings.Replace(c.member, "draft.", "current_draft_version.", 1), ".") {
			path = append(path, name)
		}
		if c.read == "" {
			c.read = c.given
		}
		var want any
		if err := json.Unmarshal([]byte(c.read), &want); err != nil {
			t.Fatal(err)
		}
		changed := h.want(200, "PATCH", "/v1/personas/"+id, body)
		read := h.want(200, "GET", "/v1/personas/"+id, "")
		if got := at(t, read, path...); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(changed, read) {
			t.Errorf("%s: read %v, changed to %v", body, got, changed)
		}
	}
}

func TestPersonasAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, _ := h.persona(`{"name":"Eva","orchestration_prompt":"Talk."}`)["id"].(string)
	empty := h.want(201, "POST", "/v1/pathway/create", `{"name":"Empty"}`)["pathway_id"].(string)
	long := strings.Repeat("x", 32769)
	condition := func(pathway, when string) string {
		return `"pathway_conditions":[{"pathway_id":"` + pathway + `","condition":"` + when + `"}]`
	}
	for _, c := range []struct {
		status           int
		code, path, body string // body holds the members of a JSON object
		only             string // the method to test, or empty for both
		nameless         bool   // do not add the required members to the body of POST
	}{
		{400, "BAD_REQUEST", "name", `"role":"Host"`, "POST", true},
		{400, "BAD_REQUEST", "name", `"name":""`, "", true},
		{400, "BAD_REQUEST", "", ``, "PATCH", true},
		{400, "BAD_REQUEST", "colour", `"colour":"red"`, "", false},
		{400, "BAD_REQUEST", "role", `"role":7`, "", false},
		{400, "BAD_REQUEST", "tags[0]", `"tags":[""]`, "", false},
		{400, "BAD_REQUEST", "image_url", `"image_url":"javascript:alert(1)"`, "", false},
		{400, "BAD_REQUEST", "orchestration_prompt", `"orchestration_prompt":"` + long + `"`, "", false},
		{400, "BAD_REQUEST", "personality_prompt", `"personality_prompt":" "`, "", false},
		{400, "BAD_REQUEST", "pathway_conditions[0].condition", condition("p", ""), "", false},
		{400, "BAD_REQUEST", "pathway_conditions[0].when", `"pathway_conditions":[{"pathway_id":"p","condition":"x","when":"y"}]`, "", false},
		{404, "NOT_FOUND", "pathway_conditions[0].pathway_id", condition("nowhere", "They order."), "", false},
		{404, "NOT_FOUND", "pathway_conditions[0].pathway_id", condition(empty, "They order."), "", false},
		{400, "BAD_REQUEST", "kb_ids", `"kb_ids":["kb1"]`, "", false},
		{400, "BAD_REQUEST", "call_config.max_duration", `"call_config":{"max_duration":721}`, "", false},
		{400, "BAD_REQUEST", "call_config.background", `"call_config":{"background":"street"}`, "", false},
		{400, "BAD_REQUEST", "call_config", `"call_config":{}`, "", false},
		{400, "BAD_REQUEST", "call_config.voice_settings.speed", `"call_config":{"voice_settings":{"speed":3}}`, "", false},
		{400, "BAD_REQUEST", "call_config.pronunciation_guide[0].word", `"call_config":{"pronunciation_guide":[{"word":" ","pronunciation":"x"}]}`, "", false},
		{400, "BAD_REQUEST", "call_config.machines.screening_message", `"call_config":{"machines":{"screening":"introduce"}}`, "", false},
		{400, "BAD_REQUEST", "call_config.volume", `"call_config":{"volume":11}`, "", false},
		{400, "BAD_REQUEST", "default_tools[0]", `"default_tools":["TL-1"]`, "", false},
		{400, "BAD_REQUEST", "default_tools[0].url", `"default_tools":[{"name":"x","url":"http://plain.example/"}]`, "", false},
	} {
		body := "{" + c.body + "}"
		if c.only != "PATCH" {
			create := body
			if !c.nameless {
				create = `{"name":"Eva","orchestration_prompt":"Talk.",` + c.body + "}"
				if strings.Contains(c.body, "orchestration_prompt") {
					create = `{"name":"Eva",` + c.body + "}"
				}
			}
			h.refusedPersona(c.status, c.code, c.path, "POST", "", create)
		}
		if c.only != "POST" {
			h.refusedPersona(c.status, c.code, c.path, "PATCH", "/"+id, body)
		}
	}
	h.refusedPersona(400, "BAD_REQUEST", "page", "GET", "?page=0", "")
	h.refusedPersona(400, "BAD_REQUEST", "limit", "GET", "?limit=101", "")
	h.refusedPersona(400, "BAD_REQUEST", "cursor", "GET", "/"+id+"/versions?cursor=x", "")
	if list, _ := h.want(200, "GET", "/v1/personas", "")["data"].([]any); len(list) != 1 {
		t.Errorf("%d personas were kept", len(list))
	}
}

// TestPersonaStates checks the errors of operations that a persona's state does not allow, and of operations on an unknown persona.
func TestPersonaStates(t *testing.T) {
	t.Parallel()
	h := open(t)
	record := h.persona(`{"name":"Eva","personality_prompt":"Calm."}`)
	id, _ := record["id"].(string)
	if record["current_production_version"] != nil || at(t, record, "current_draft_version", "version_number") != 1.0 {
		t.Errorf("without a task it is %v", record)
	}
	h.refusedPersona(409, "INVALID_STATE", "orchestration_prompt", "POST", "/"+id+"/promote", "")
	h.want(200, "DELETE", "/v1/personas/"+id+"/draft", "")
	h.refusedPersona(409, "INVALID_STATE", "", "DELETE", "/"+id+"/draft", "")
	h.refusedPersona(409, "INVALID_STATE", "", "POST", "/"+id+"/promote", "")
	for _, c := range []struct{ method, target, body string }{
		{"GET", "", ""}, {"PATCH", "", `{"name":"Ada"}`}, {"DELETE", "", ""}, {"POST", "/promote", ""}, {"DELETE", "/draft", ""}, {"GET", "/versions", ""},
	} {
		h.refusedPersona(404, "NOT_FOUND", "", c.method, "/nobody"+c.target, c.body)
	}
	pathways := &world{h: h, org: h.org, key: h.key, made: map[string]string{}}
	with := pathways.fill(`{"orchestration_prompt":"Talk.","pathway_conditions":[{"pathway_id":"$pathway","condition":"They order."}]}`)
	h.want(200, "PATCH", "/v1/personas/"+id, with)
	h.want(200, "DELETE", "/v1/pathway/"+pathways.id("pathway"), "")
	h.refusedPersona(404, "NOT_FOUND", "pathway_conditions[0].pathway_id", "POST", "/"+id+"/promote", "")
}

// TestPersonaOfANumberAndACall checks that a number, a call and a test can use a persona.
func TestPersonaOfANumberAndACall(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	id, _ := h.persona(`{"name":"Eva","orchestration_prompt":"Talk.","call_config":{"voice":"rms","record":true,"max_duration":5}}`)["id"].(string)
	draft, _ := h.persona(`{"name":"Ada"}`)["id"].(string)
	report := h.want(200, "POST", "/v1/inbound/14155550100", `{"persona_id":"`+strings.ToUpper(id)+`","prompt":null}`)
	if updates, _ := report["updates"].(map[string]any); len(updates) != 2 || len(report["failed_updates"].(map[string]any)) != 0 {
		t.Errorf("the report is %v", report)
	}
	if got := h.want(200, "GET", "/v1/inbound/14155550100", ""); got["persona_id"] != id || got["prompt"] != nil || got["voice_id"] != nil {
		t.Errorf("the number is %v", got)
	}
	if got := at(t, h.want(200, "GET", "/v1/personas/"+id, ""), "data", "inbound_numbers"); !reflect.DeepEqual(got, []any{ourNumber}) {
		t.Errorf("it answers at %v", got)
	}
	h.refusedPersona(409, "CONFLICT", "", "DELETE", "/"+id, "")
	for refused, why := range map[string]string{"nobody": "not found", draft: "promote its draft"} {
		report := h.want(200, "POST", "/v1/inbound/14155550100", `{"persona_id":"`+refused+`"}`)
		if text, _ := at(t, report, "failed_updates", "persona_id").(string); !strings.Contains(text, why) {
			t.Errorf("%s was not refused: %v", refused, report)
		}
	}
	h.want(200, "POST", "/v1/inbound/14155550100", `{"prompt":"Take orders."}`)
	h.want(200, "DELETE", "/v1/personas/"+draft, "")

	c := h.created(`"persona_id":"` + id + `","record":false`)
	record := h.want(200, "GET", "/v1/calls/"+c.ID, "")
	if record["persona_id"] != id || record["persona_version"] != 1.0 || record["task"] != "Talk." || record["voice_id"] != "rms" ||
		record["record"] != false || record["max_duration"] != 5.0 || record["pathway_id"] != nil {
		t.Errorf("the call is %v", record)
	}
	fresh, _ := h.persona(`{"name":"Ada"}`)["id"].(string)
	for _, refused := range []struct {
		status       int
		code, member string
	}{
		{404, "NOT_FOUND", `"persona_id":"nobody"`}, {409, "INVALID_STATE", `"persona_id":"` + fresh + `"`},
		{400, "BAD_REQUEST", `"persona_id":"` + id + `","task":"Talk."`}, {400, "BAD_REQUEST", `"persona_id":"` + id + `","pathway_id":"p"`},
	} {
		answer := h.want(refused.status, "POST", "/v1/calls", `{"phone_number":"`+theirNumber+`",`+refused.member+`}`)
		if at(t, answer, "errors", 0, "error") != refused.code || at(t, answer, "errors", 0, "field") != "persona_id" {
			t.Errorf("%s: %v", refused.member, answer)
		}
	}

	scenario := h.want(201, "POST", "/v1/agent-testing/scenarios", `{"persona_id":"`+id+`","name":"Talks","tester_persona_prompt":"Talk."}`)
	if at(t, scenario, "data", "persona_id") != id || at(t, scenario, "data", "pathway_id") != nil {
		t.Errorf("the scenario is %v", scenario)
	}
	run := h.want(202, "POST", "/v1/agent-testing/scenarios/"+at(t, scenario, "data", "id").(string)+"/run", "")
	runID, _ := at(t, run, "data", "run_id").(string)
	if got := h.want(200, "GET", "/v1/agent-testing/runs/"+runID, "")["data"].(map[string]any); got["persona_id"] != id || got["version_number"] != 1.0 {
		t.Errorf("the run is %v", got)
	}
}

// TestPersonaLimits checks the limits of an organization's personas and of a persona's versions.
func TestPersonaLimits(t *testing.T) {
	t.Parallel()
	h := open(t)
	store := agentstore.Personas{Store: h.store}
	for i := range persona.MaxPersonas {
		p := persona.Persona{ID: fmt.Sprint("p", i), Org: h.org, Name: "Eva", Production: fmt.Sprint("v", i)}
		if err := store.InsertPersona(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	last := persona.Version{ID: "v0", Persona: "p0", Org: h.org, Type: persona.Production, Number: persona.MaxVersions, Orchestration: "Talk."}
	if err := store.InsertVersion(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	h.refusedPersona(409, "INVALID_STATE", "", "POST", "", `{"name":"Eva","orchestration_prompt":"Talk."}`)
	h.refusedPersona(409, "INVALID_STATE", "", "PATCH", "/p0", `{"orchestration_prompt":"Sing."}`)
}
