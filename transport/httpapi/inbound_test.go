package httpapi_test

import (
	"net/http"
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
		"transfer_phone_number": "nobody", "pathway_id": "p1", "fallback_number": null}`)
	if at(t, report, "updates", "prompt") != "Take orders." || at(t, report, "updates", "record") != true ||
		at(t, report, "updates", "temperature") != 0.5 || report["status"] != "success" {
		t.Errorf("report %v", report)
	}
	failed, _ := report["failed_updates"].(map[string]any)
	for _, name := range []string{"webhook", "transfer_phone_number", "pathway_id", "fallback_number"} {
		if text, _ := failed[name].(string); text == "" {
			t.Errorf("%s was not refused: %v", name, report)
		}
	}
	if len(failed) != 4 {
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
	cleared := h.want(http.StatusOK, "POST", "/v1/inbound/14155550100", `{"prompt":null,"temperature":null,"voice":""}`)
	if updates, _ := cleared["updates"].(map[string]any); len(updates) != 3 || updates["prompt"] != nil || updates["voice"] != "" {
		t.Errorf("cleared %v", cleared)
	}
	number = h.want(http.StatusOK, "GET", "/v1/inbound/14155550100", "")
	if number["prompt"] != nil || number["temperature"] != nil || number["voice_id"] != nil || number["record"] != true {
		t.Errorf("after clearing %v", number)
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
	if update["code"] != "NOT_FOUND" || bad["code"] != "BAD_REQUEST" || empty["code"] != "BAD_REQUEST" {
		t.Errorf("update %v, bad %v, empty %v", update, bad, empty)
	}
}
