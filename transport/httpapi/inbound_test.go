package httpapi_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func TestInboundNumberIsRegisteredReadAndChanged(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	list := h.want(http.StatusOK, "GET", "/v1/inbound", "")
	if at(t, list, "inbound_numbers", 0, "phone_number") != ourNumber ||
		at(t, list, "inbound_numbers", 0, "prompt") != nil || at(t, list, "inbound_numbers", 0, "max_duration") != 30.0 {
		t.Errorf("list %v", list)
	}
	report := h.want(http.StatusOK, "POST", "/v1/inbound/%2B14155550100", `{
		"prompt": "Take orders.", "voice_id": "rms", "first_sentence": "Good morning.", "record": true, "max_duration": 5,
		"temperature": 0.5, "language": "en", "model": "base", "webhook": "http://plain.example", "wait_for_greeting": true,
		"transfer_phone_number": "nobody", "fallback_number": "+14155550199", "persona_id": "nobody", "background_track": "street",
		"voice_settings": {"speed": 3}}`)
	if at(t, report, "updates", "prompt") != "Take orders." || at(t, report, "updates", "record") != true ||
		at(t, report, "updates", "temperature") != 0.5 || report["status"] != "success" {
		t.Errorf("report %v", report)
	}
	failed, _ := report["failed_updates"].(map[string]any)
	for _, name := range []string{
		"webhook", "transfer_phone_number", "fallback_number", "persona_id", "background_track", "voice_settings",
	} {
		if text, _ := failed[name].(string); text == "" {
			t.Errorf("%s was not refused: %v", name, report)
		}
	}
	if len(failed) != 6 {
		t.Errorf("failed_updates %v", failed)
	}
	number := h.want(http.StatusOK, "GET", "/v1/inbound/14155550100", "")
	for name, want := range map[string]any{
		"prompt": "Take orders.", "voice_id": "rms", "first_sentence": "Good morning.", "record": true,
		"max_duration": 5.0, "temperature": 0.5, "webhook": nil, "transfer_phone_number": nil, "wait_for_greeting": true,
	} {
		if number[name] != want {
			t.Errorf("%s is %v, want %v", name, number[name], want)
		}
	}
	h.want(http.StatusOK, "POST", "/v1/inbound/14155550100", `{"transfer_phone_number":"14155550199"}`)
	if number = h.want(http.StatusOK, "GET", "/v1/inbound/14155550100", ""); number["transfer_phone_number"] != "+14155550199" {
		t.Errorf("transfers to %v", number["transfer_phone_number"])
	}
	cleared := h.want(http.StatusOK, "POST", "/v1/inbound/14155550100", `{"prompt":null,"temperature":null,"voice":""}`)
	if updates, _ := cleared["updates"].(map[string]any); len(updates) != 3 || updates["prompt"] != nil || updates["voice"] != "" {
		t.Errorf("cleared %v", cleared)
	}
	number = h.want(http.StatusOK, "GET", "/v1/inbound/14155550100", "")
	if number["prompt"] != nil || number["temperature"] != nil || number["voice_id"] != nil || number["record"] != true {
		t.Errorf("after clearing %v", number)
	}
}

func TestInboundNumberIsLedByAPathway(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	id := h.drawn()
	h.saved(id)
	change := func(body string) map[string]any {
		return h.want(http.StatusOK, "POST", "/v1/inbound/14155550100", body)
	}
	read := func() map[string]any { return h.want(http.StatusOK, "GET", "/v1/inbound/14155550100", "") }
	change(`{"prompt":"Take orders."}`)
	early := change(`{"pathway_id":"` + id + `"}`)
	if text, _ := at(t, early, "failed_updates", "pathway_id").(string); !strings.Contains(text, "is in production") {
		t.Errorf("nothing is in production: %v", early)
	}
	for version, kept := range map[string]any{`1`: 1.0, `0`: 0.0} {
		led := change(`{"pathway_id":"` + id + `","pathway_version":` + version + `}`)
		if at(t, led, "updates", "pathway_id") != id || at(t, led, "updates", "pathway_version") != kept {
			t.Errorf("led %v", led)
		}
		if now := read(); now["pathway_id"] != id || now["pathway_version"] != kept || now["prompt"] != nil {
			t.Errorf("now %v", now)
		}
	}
	for body, name := range map[string]string{
		`{"pathway_id":"nobodys","pathway_version":1}`: "pathway_id", `{"pathway_version":9}`: "pathway_version",
		`{"pathway_version":"staging"}`: "pathway_version",
	} {
		if failed := change(body); at(t, failed, "failed_updates", name) == nil || read()["pathway_version"] == "staging" {
			t.Errorf("%s: %v", body, failed)
		}
	}
	h.want(http.StatusOK, "POST", "/v1/pathway/"+id+"/publish", `{"version_id":1}`)
	change(`{"pathway_version":null}`)
	if now := read(); now["pathway_version"] != "production" || now["pathway_id"] != id {
		t.Errorf("what is in production: %v", now)
	}
	if back := change(`{"prompt":"Take orders."}`); at(t, back, "updates", "prompt") != "Take orders." {
		t.Errorf("back %v", back)
	}
	if now := read(); now["pathway_id"] != nil || now["pathway_version"] != nil || now["prompt"] != "Take orders." {
		t.Errorf("back %v", now)
	}
	alone := change(`{"pathway_version":1}`)
	if at(t, alone, "failed_updates", "pathway_version") == nil {
		t.Errorf("a version without a pathway: %v", alone)
	}
}

// TestInboundNumberCopiesAWebAgent checks that agent_id copies the settings of a web agent, and is refused by name if there is none.
func TestInboundNumberCopiesAWebAgent(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	made := h.want(http.StatusCreated, "POST", "/v1/agents", `{"prompt":"Take orders.","interruptibility":3}`)
	id, _ := at(t, made, "agent", "agent_id").(string)
	report := h.want(http.StatusOK, "POST", "/v1/inbound/"+ourNumber, `{"agent_id":"`+strings.ToUpper(id)+`","first_sentence":"Hello."}`)
	if at(t, report, "updates", "first_sentence") != "Hello." || len(report["updates"].(map[string]any)) != 2 || len(report["failed_updates"].(map[string]any)) != 0 {
		t.Errorf("report %v", report)
	}
	if n := h.want(http.StatusOK, "GET", "/v1/inbound/"+ourNumber, ""); n["prompt"] != "Take orders." || n["interruptibility"] != 3.0 || n["first_sentence"] != "Hello." {
		t.Errorf("number %v", n)
	}
	report = h.want(http.StatusOK, "POST", "/v1/inbound/"+ourNumber, `{"agent_id":"absent"}`)
	if at(t, report, "failed_updates", "agent_id") != "agent not found" || report["warnings"] == nil {
		t.Errorf("report %v", report)
	}
}

// TestInboundNumberOfADeletedPathway checks that a number whose pathway was deleted still accepts other changes, but not an unknown
// pathway.
func TestInboundNumberOfADeletedPathway(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	id := h.drawn()
	change := func(body string) map[string]any {
		return h.want(http.StatusOK, "POST", "/v1/inbound/14155550100", body)
	}
	change(`{"pathway_id":"` + id + `","pathway_version":0}`)
	h.want(http.StatusOK, "DELETE", "/v1/pathway/"+id, "")
	report := change(`{"record":true,"transfer_phone_number":"nobody","pathway_id":"nobodys","voice":"rms"}`)
	if failed, _ := report["failed_updates"].(map[string]any); len(failed) != 2 || failed["pathway_id"] == nil || failed["transfer_phone_number"] == nil {
		t.Errorf("refused %v", failed)
	}
	now := h.want(http.StatusOK, "GET", "/v1/inbound/14155550100", "")
	if now["record"] != true || now["voice_id"] != "rms" || now["pathway_id"] != id {
		t.Errorf("now %v", now)
	}
	change(`{"prompt":"Take orders."}`)
	if now = h.want(http.StatusOK, "GET", "/v1/inbound/14155550100", ""); now["pathway_id"] != nil || now["prompt"] != "Take orders." {
		t.Errorf("with a prompt %v", now)
	}
}

func TestInboundNumberAsksOtherSystems(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	body := `{"persona":"You are kind.","interruption_threshold":350,"interruptibility":3,"idle":{"after":5,"times":1},"min_endpointing_delay":450,"max_endpointing_delay":4000,"voice_settings":{"speed":1.25},"background_track":"cafe",
		"pronunciation_guide":[{"word":"API","pronunciation":"A P I","case_sensitive":true,"spaced":false}],"tools":[` + aTool + `],"dynamic_data":` + someRequests + `}`
	report := h.want(http.StatusOK, "POST", "/v1/inbound/14155550100", body)
	if failed, _ := report["failed_updates"].(map[string]any); len(failed) > 0 {
		t.Errorf("report %v", report)
	}
	number := h.want(http.StatusOK, "GET", "/v1/inbound/14155550100", "")
	var given map[string]any
	if err := json.Unmarshal([]byte(body), &given); err != nil {
		t.Fatal(err)
	}
	for name, want := range given {
		if !reflect.DeepEqual(number[name], want) {
			t.Errorf("%s is %v, want %v", name, number[name], want)
		}
	}
	refused := h.want(http.StatusOK, "POST", "/v1/inbound/14155550100",
		`{"tools":["TL-1"],"dynamic_data":[{"url":"http://plain.example"}],"persona":null,"interruption_threshold":null,"interruptibility":null,
			"min_endpointing_delay":null,"max_endpointing_delay":null,
			"voice_settings":null,"background_track":null,"pronunciation_guide":null,"idle":null}`)
	if failed, _ := refused["failed_updates"].(map[string]any); len(failed) != 2 || failed["tools"] == nil || failed["dynamic_data"] == nil {
		t.Errorf("refused %v", refused)
	}
	number = h.want(http.StatusOK, "GET", "/v1/inbound/14155550100", "")
	if number["persona"] != nil || number["interruption_threshold"] != nil || number["interruptibility"] != nil || number["voice_settings"] != nil || number["idle"] != nil ||
		number["background_track"] != nil || number["pronunciation_guide"] != nil || number["min_endpointing_delay"] != nil ||
		number["max_endpointing_delay"] != nil || number["tools"] == nil || number["dynamic_data"] == nil {
		t.Errorf("afterwards %v", number)
	}
}

func TestInboundNumbersThatAreNotThere(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	_, other := h.tenant("other", "SIP")
	foreign := h.want(http.StatusNotFound, "GET", "/v1/inbound/14155550100", "", header{"Authorization", other})
	absent := h.want(http.StatusNotFound, "GET", "/v1/inbound/14155550999", "")
	if at(t, foreign, "errors", 0, "error") != "NOT_FOUND" || at(t, absent, "errors", 0, "error") != "NOT_FOUND" ||
		at(t, foreign, "errors", 0, "message") != at(t, absent, "errors", 0, "message") {
		t.Errorf("foreign %v, absent %v", foreign, absent)
	}
	update := h.want(http.StatusNotFound, "POST", "/v1/inbound/14155550999", `{"record":true}`)
	bad := h.want(http.StatusBadRequest, "POST", "/v1/inbound/nobody", `{"record":true}`)
	empty := h.want(http.StatusBadRequest, "POST", "/v1/inbound/14155550100", `{}`)
	if at(t, update, "errors", 0, "error") != "NOT_FOUND" || at(t, bad, "errors", 0, "error") != "BAD_REQUEST" || at(t, empty, "errors", 0, "error") != "BAD_REQUEST" {
		t.Errorf("update %v, bad %v, empty %v", update, bad, empty)
	}
}
