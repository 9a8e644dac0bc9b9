package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/call"
)

// TestCallsOfClientsInTheWild creates a call with each member that other clients send. The expected text lists the ignored members, or
// begins with the status and names the refused member.
func TestCallsOfClientsInTheWild(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	const hook = `"webhook":"https://hook.example/x"`
	for _, c := range []struct{ member, want string }{
		{`"voice":"slt"`, ""},
		{`"voice":null`, ""},
		{`"first_sentence":"Hello."`, ""},
		{`"first_sentence":null`, ""},
		{`"wait_for_greeting":true`, ""},
		{`"wait_for_greeting":null`, ""},
		{`"record":true`, ""},
		{`"max_duration":12`, ""},
		{`"max_duration":null`, ""},
		{`"model":"base"`, ""},
		{`"model":"turbo"`, ""},
		{`"language":"babel-en"`, ""},
		{`"language":"en"`, ""},
		{`"temperature":0.7`, ""},
		{`"temperature":null`, ""},
		{`"from":"` + ourNumber + `"`, ""},
		{`"from":null`, ""},
		{`"pathway_id":null`, ""},
		{`"pathway_version":null`, ""},
		{`"start_node_id":null`, ""},
		{`"persona_id":null`, ""},
		{`"start_time":null`, ""},
		{`"transfer_phone_number":"+14155550199"`, ""},
		{`"transfer_phone_number":null`, ""},
		{`"transfer_list":{"default":"+14155550199"}`, ""},
		{`"transfer_list":{}`, ""},
		{`"transfer_list":null`, ""},
		{`"transfer_list":{"default":"+14155550199","sales":"+14155550198"}`, "transfer_list.sales"},
		{`"interruption_threshold":500`, ""},
		{`"interruption_threshold":null`, ""},
		{`"idle":null`, ""},
		{`"idle":{}`, ""},
		{`"idle":{"after":600,"times":10,"prompt":"Hello?","goodbye":"Bye.","filler_after":15,"filler":"Hm."}`, ""},
		{`"idle":{"after":601}`, "400 idle.after"},
		{`"idle":{"times":11}`, "400 idle.times"},
		{`"idle":{"filler_after":-1}`, "400 idle.filler_after"},
		{`"idle":{"prompt":""}`, "400 idle.prompt"},
		{`"interruptibility":2`, ""},
		{`"interruptibility":0`, ""},
		{`"interruptibility":null`, ""},
		{`"interruptibility":5`, "400 interruptibility"},
		{`"min_endpointing_delay":100,"max_endpointing_delay":10000`, ""},
		{`"min_endpointing_delay":null,"max_endpointing_delay":null`, ""},
		{`"min_endpointing_delay":99`, "400 min_endpointing_delay"},
		{`"max_endpointing_delay":10001`, "400 max_endpointing_delay"},
		{`"block_interruptions":false`, ""},
		{`"block_interruptions":true`, ""},
		{`"block_interruptions":null`, ""},
		{`"dialing_strategy":null`, ""},
		{`"dialing_strategy":{"type":"local"}`, "dialing_strategy"},
		{`"timezone":null`, ""},
		{`"timezone":"America/Los_Angeles"`, "timezone"},
		{`"background_track":null`, ""},
		{`"background_track":"none"`, ""},
		{`"background_track":"office"`, ""},
		{`"background_track":"street"`, "400 background_track"},
		{`"noise_cancellation":false`, ""},
		{`"noise_cancellation":true`, "noise_cancellation"},
		{`"voicemail":null`, ""},
		{`"voicemail":{"action":"hangup"}`, ""},
		{`"voicemail":{"action":"leave_message","message":"Call us.","sms":null,"sensitive":false}`, ""},
		{`"voicemail":{"action":"hangup","sms":{"to":"+14155550123","from":"+14155550100","message":"Hi."},"sensitive":true}`, "voicemail.sms voicemail.sensitive"},
		{`"machines":null`, ""},
		{`"machines":{}`, ""},
		{`"machines":{"voicemail":"leave_message","voicemail_message":"Call us.","ivr":"hangup","screening":"introduce","screening_message":"Ada.","announcement":"ignore","fax":"hangup"}`, ""},
		{`"machines":{"ivr":"introduce"}`, "400 machines.ivr"},
		{`"machines":{"screening":"introduce"}`, "400 machines.screening_message"},
		{`"machines":{"voicemail":"leave_message","voicemail_message":" "}`, "400 machines.voicemail_message"},
		{`"retry":null`, ""},
		{`"retry":{"wait":60,"voicemail_action":"hangup","voicemail_message":null}`, ""},
		{`"summary_prompt":null`, ""},
		{`"dispositions":[]`, ""},
		{`"request_data":{"name":"Robin"}`, ""},
		{`"request_data":null`, ""},
		{`"metadata":{}`, ""},
		{`"metadata":null`, ""},
		{hook, ""},
		{`"webhook":null`, ""},
		{`"webhook_events":[]`, ""},
		{`"webhook_events":null`, ""},
		{hook + `,"webhook_events":["queue","call","citations","evals"]`, "webhook_events[2] webhook_events[3]"},
		{`"dynamic_data":[]`, ""},
		{`"dynamic_data":null`, ""},
		{`"keywords":[]`, ""},
		{`"keywords":null`, ""},
		{`"keywords":["Callwright:2"]`, "keywords"},
		{`"voice_settings":null`, ""},
		{`"voice_settings":{"speed":1.2,"pitch":null}`, ""},
		{`"voice_settings":{"stability":0.5,"speed":1.2,"style":1,"old":null}`, "voice_settings.stability voice_settings.style"},
		{`"voice_settings":{"speed":3}`, "400 voice_settings.speed"},
		{`"voice_settings":{"pitch":"high"}`, "400 voice_settings.pitch"},
		{`"ignore_button_press":false`, ""},
		{`"ignore_button_press":true`, "ignore_button_press"},
		{`"precall_dtmf_sequence":""`, ""},
		{`"precall_dtmf_sequence":null`, ""},
		{`"precall_dtmf_sequence":"1ww2#"`, "400 precall_dtmf_sequence"},
		{`"pronunciation_guide":[]`, ""},
		{`"pronunciation_guide":[{"word":"API","pronunciation":"A P I","case_sensitive":false,"spaced":true}]`, ""},
		{`"pronunciation_guide":[{"word":"API","pronunciation":"A P I","case_sensitive":"false","spaced":"true"}]`, ""},
		{`"pronunciation_guide":[{"word":"API","pronunciation":"A P I"},{"word":" ","pronunciation":"x"}]`, "400 pronunciation_guide[1].word"},
		{`"guard_rails":[]`, ""},
		{`"guard_rails":[{"name":"no prices"}]`, "400 guard_rails"},
		{`"citation_schema_ids":[]`, ""},
		{`"citation_schema_ids":["c1"]`, "citation_schema_ids"},
		{`"post_call_evals":{}`, ""},
		{`"post_call_evals":{"polite":true}`, "post_call_evals"},
		{`"tools":[]`, ""},
		{`"tools":null`, ""},
		// Unknown members are refused.
		{`"keyword":["x"]`, "400 keyword"},
		{`"keyword":null`, "400 keyword"},
		{`"voicemail.sms":true`, "400 voicemail.sms"},
	} {
		body := `{"phone_number":"` + theirNumber + `","task":"Talk.",` + c.member + `}`
		answer := h.do("POST", "/v1/calls", body)
		var got struct {
			Ignored []map[string]string `json:"ignored"`
			Errors  []map[string]string `json:"errors"`
		}
		if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		var fields []string
		if answer.Code != http.StatusOK {
			fields = append(fields, fmt.Sprint(answer.Code), got.Errors[0]["path"])
		}
		for _, member := range got.Ignored {
			if fields = append(fields, member["field"]); member["message"] == "" {
				t.Errorf("%s: ignored without a reason", c.member)
			}
		}
		if result := strings.Join(fields, " "); result != c.want {
			t.Errorf("%s: got %q, want %q: %s", c.member, result, c.want, answer.Body)
		}
	}
	for body, want := range map[string]string{
		`{"phone_number":null,"task":"Talk."}`:               "phone_number: is required",
		`{"phone_number":"` + theirNumber + `","task":null}`: "task: is required without pathway_id",
	} {
		answer := h.want(http.StatusBadRequest, "POST", "/v1/calls", body)
		if text, _ := at(t, answer, "errors", 0, "message").(string); !strings.HasPrefix(text, want) {
			t.Errorf("%s: %q, want %q", body, text, want)
		}
	}
}

// TestTransferListHasThePlaceOfTheNumber checks that the default of transfer_list replaces transfer_phone_number. It also checks that the
// webhook event evals is not stored.
func TestTransferListHasThePlaceOfTheNumber(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	c := h.created(`"task":"x","transfer_phone_number":"+14155550111","transfer_list":{"default":"+14155550199","sales":"+14155550198"}`)
	if c.Agent.TransferTo != "+14155550199" {
		t.Errorf("transfers to %q", c.Agent.TransferTo)
	}
	if c := h.created(`"task":"x","webhook":"https://h.example","webhook_events":["evals","call"]`); !slices.Equal(c.Plan.Events, []call.EventCategory{call.EventsCall}) {
		t.Errorf("events %v", c.Plan.Events)
	}
}

// TestIgnoredMembersAreRepeated checks that a repeated answer also lists the ignored members.
func TestIgnoredMembersAreRepeated(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	body := `{"phone_number":"` + theirNumber + `","task":"Talk.","keywords":["x"],"webhook":"https://h.example","webhook_events":["evals"]}`
	first := h.do("POST", "/v1/calls", body, header{"Idempotency-Key", "k"})
	again := h.do("POST", "/v1/calls", body, header{"Idempotency-Key", "k"})
	if first.Code != 200 || first.Body.String() != again.Body.String() || strings.Count(again.Body.String(), `"field"`) != 2 {
		t.Errorf("first %s, then %s", first.Body, again.Body)
	}
}

// TestSpeechSettingsOfClientsInTheWild checks which members that other servers accept for speech are listed as ignored.
func TestSpeechSettingsOfClientsInTheWild(t *testing.T) {
	t.Parallel()
	h := open(t)
	for member, want := range map[string]any{
		`"stream":false`:           nil,
		`"stream":true`:            "stream",
		`"consistency":0.5`:        "consistency",
		`"expressiveness":1`:       "expressiveness",
		`"boost":null`:             nil,
		`"language":null`:          nil,
		`"voice_id":null`:          nil,
		`"output_format":null`:     nil,
		`"voice":null,"boost":0.1`: "boost",
	} {
		answer := h.want(http.StatusOK, "POST", "/v1/speak", `{"text":"Hello.",`+member+`}`)
		var got any
		if answer["ignored"] != nil {
			got = at(t, answer, "ignored", 0, "field")
		}
		if got != want {
			t.Errorf("%s: ignored %v, want %v", member, got, want)
		}
	}
}

// TestInboundNumbersTakeWhatAsksForNothing checks that members without effect on inbound numbers are accepted only with values that request
// nothing.
func TestInboundNumbersTakeWhatAsksForNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	answer := h.want(http.StatusOK, "POST", "/v1/inbound/"+ourNumber,
		`{"prompt":"Help.","background_track":"none","fallback_number":null,"voice_settings":{},"record":null,"max_duration":null}`)
	if failed, _ := answer["failed_updates"].(map[string]any); len(failed) != 0 {
		t.Errorf("failed: %v", failed)
	}
	answer = h.want(http.StatusOK, "POST", "/v1/inbound/"+ourNumber,
		`{"background_track":"office","fallback_number":"+14155550199","voice_settings":{"speed":2.5}}`)
	if failed, _ := answer["failed_updates"].(map[string]any); len(failed) != 2 || failed["voice_settings"] != "voice_settings.speed: must be a factor from 0.5 to 2" ||
		answer["message"] != "Inbound number updated. 2 settings were refused: failed_updates has the reasons." {
		t.Errorf("failed: %v, %v", failed, answer["message"])
	}
	answer = h.want(http.StatusOK, "POST", "/v1/inbound/"+ourNumber, `{"voice_settings":{"pitch":"high"}}`)
	if failed, _ := answer["failed_updates"].(map[string]any); failed["voice_settings"] != "voice_settings.pitch: must be a factor from 0.5 to 2" ||
		answer["message"] != "Nothing was updated: failed_updates has the reasons." {
		t.Errorf("failed: %v, %v", failed, answer["message"])
	}
}
