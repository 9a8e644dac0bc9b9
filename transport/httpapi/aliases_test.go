package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/transport/httpapi"
)

// TestOneDirectionStandsBesideItsSettings checks that a trunk can be attached and detached with a single direction, as other products'
// command lines do.
func TestOneDirectionStandsBesideItsSettings(t *testing.T) {
	t.Parallel()
	h := open(t)
	attach := func(members string) string {
		return `{"phone_number":"` + ourNumber + `","service":"sip",` + members + `}`
	}
	answer := h.want(http.StatusOK, "POST", "/v1/sip/attach", attach(`"direction":"outbound","sip_endpoint":"sip:a.example.com","directions":null`))
	if at(t, answer, "data", "configured", 0) != ourNumber {
		t.Errorf("attached %v", answer)
	}
	number := at(t, h.want(http.StatusOK, "GET", "/v1/sip/numbers", ""), "data", "numbers", 0)
	if at(t, number, "direction") != "outbound" || at(t, number, "status") != at(t, number, "health_status") {
		t.Errorf("listed %v", number)
	}
	h.want(http.StatusOK, "POST", "/v1/sip/attach", attach(`"direction":"inbound","auth_mode":"ip","options":{"allowed_ips":["203.0.113.7"]}`))
	if number := at(t, h.want(http.StatusOK, "GET", "/v1/sip/numbers", ""), "data", "numbers", 0); at(t, number, "direction") != "both" {
		t.Errorf("listed %v", number)
	}
	for members, path := range map[string]string{
		`"direction":"outbound"`: "sip_endpoint",
		`"direction":"outbound","sip_endpoint":"sip:a.example.com:5061","options":{"port":5062}`: "options.port",
		`"direction":"sideways"`:                                      "direction",
		`"sip_endpoint":"sip:a.example.com"`:                          "directions",
		`"direction":"inbound","directions":[{"type":"inbound"}]`:     "directions",
		`"directions":[{"type":"inbound"}],"auth_mode":"ip"`:          "direction",
		`"direction":"inbound","options":{"allowed_ips":["nobody!"]}`: "options.allowed_ips[0]",
	} {
		refused := h.want(http.StatusBadRequest, "POST", "/v1/sip/attach", attach(members))
		if got, _ := at(t, refused, "errors", 0, "path").(string); got != path {
			t.Errorf("%s: about %q, want %q: %v", members, got, path, refused)
		}
	}
	detached := h.want(http.StatusOK, "POST", "/v1/sip/detach", attach(`"direction":"inbound"`))
	if at(t, detached, "data", "detached", 0) != "inbound" {
		t.Errorf("detached %v", detached)
	}
	h.want(http.StatusBadRequest, "POST", "/v1/sip/detach", attach(`"direction":"outbound","directions":[{"type":"outbound"}]`))
	h.want(http.StatusBadRequest, "POST", "/v1/sip/detach", `{"phone_number":"`+ourNumber+`","service":"sip"}`)
}

func TestGeneratedPasswords(t *testing.T) {
	t.Parallel()
	h := open(t)
	seen := map[any]bool{}
	for body, length := range map[string]int{
		``: 16, `{}`: 16, `{"strength":"standard"}`: 16, `{"strength":"long"}`: 32, `{"length":8}`: 8, `{"length":256}`: 256, `{"length":null}`: 16,
	} {
		answer := h.want(http.StatusOK, "POST", "/v1/sip/generate-password", body)
		password, _ := at(t, answer, "data", "password").(string)
		if len(password) != length || at(t, answer, "data", "length") != float64(length) || !regexp.MustCompile("^[A-Za-z0-9]+$").MatchString(password) {
			t.Errorf("%s: %v", body, answer)
		}
		if seen[password] {
			t.Errorf("%s: twice the same", body)
		}
		seen[password] = true
	}
	for _, body := range []string{`{"length":7}`, `{"length":257}`, `{"length":16,"strength":"long"}`, `{"strength":"weak"}`} {
		h.want(http.StatusBadRequest, "POST", "/v1/sip/generate-password", body)
	}
	_, other := h.tenant("other")
	h.want(http.StatusForbidden, "POST", "/v1/sip/generate-password", `{}`, header{"Authorization", other})
}

// TestOtherNamesOfMembers checks that members are accepted under the names that other clients use, unless both names are given with
// different values.
func TestOtherNamesOfMembers(t *testing.T) {
	t.Parallel()
	h := open(t)
	answer := h.want(http.StatusCreated, "POST", "/v1/personas", `{"name":"Eva","prompt":"Take orders."}`)
	id, _ := at(t, answer, "data", "id").(string)
	if got := at(t, answer, "data", "current_production_version", "orchestration_prompt"); got != "Take orders." {
		t.Errorf("prompt %v in %v", got, answer)
	}
	answer = h.want(http.StatusOK, "PATCH", "/v1/personas/"+id, `{"prompt":"Take more.","orchestration_prompt": "Take more."}`)
	if got := at(t, answer, "data", "current_draft_version", "orchestration_prompt"); got != "Take more." {
		t.Errorf("prompt %v in %v", got, answer)
	}
	for body, want := range map[string]string{
		`{"prompt":"A","orchestration_prompt":"B"}`: "orchestration_prompt: must equal prompt, its other name",
		`{"orchestration_prompt":"B","prompt":"A"}`: "prompt: must equal orchestration_prompt, its other name",
		`{"prompt":7}`: "orchestration_prompt: must be a text of at most 32768 characters or null",
	} {
		refused := h.want(http.StatusBadRequest, "PATCH", "/v1/personas/"+id, body)
		if got := at(t, refused, "errors", 0, "message"); got != want {
			t.Errorf("%s: %v, want %s", body, got, want)
		}
	}
}

// TestIterationsStandAlone checks that iterations is accepted in place of simulations_per_scenario, and that one of them is required.
func TestIterationsStandAlone(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	answer := w.do(http.StatusAccepted, "POST", "/v1/agent-testing/simulation-sets", `{"scenario_ids":["$scenario"],"iterations":51}`)
	if got := at(t, answer, "data", "simulations_per_scenario"); got != 51.0 {
		t.Errorf("%v runs of each scenario: %v", got, answer)
	}
	answer = w.do(http.StatusBadRequest, "POST", "/v1/agent-testing/simulation-sets", `{"scenario_ids":["$scenario"]}`)
	if got := at(t, answer, "errors", 0, "message"); got != "simulations_per_scenario: is required" {
		t.Errorf("without a count: %v", got)
	}
}

// TestOtherPaths checks that operations are also served under the paths that other clients use.
func TestOtherPaths(t *testing.T) {
	t.Parallel()
	h := open(t)
	page, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/convo_pathway", "/v1/agent-testing/scenarios/generate"} {
		if !strings.Contains(string(page), path) {
			t.Errorf("docs/compatibility.md does not name %s", path)
		}
	}
	ask := func(method, path, body string) (int, string) { // not compared with the contract, which lacks these paths
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", h.key)
		answer := httptest.NewRecorder()
		h.unchecked.ServeHTTP(answer, r)
		return answer.Code, answer.Body.String()
	}
	id := h.drawn()
	_, known := ask("GET", "/v1/pathway/"+id, "")
	for _, path := range []string{"/v1/convo_pathway/" + id, "/v1/convo_pathway/" + strings.ToUpper(id)} {
		if code, same := ask("GET", path, ""); code != http.StatusOK || same != known {
			t.Errorf("%s: %s is not %s", path, same, known)
		}
	}
	for request, want := range map[string]int{
		"POST /v1/convo_pathway/create": http.StatusCreated, "GET /v1/convo_pathway": http.StatusOK, "GET /v1/convo_pathways": http.StatusNotFound,
	} {
		method, path, _ := strings.Cut(request, " ")
		if code, text := ask(method, path, `{"name":"Orders"}`); code != want {
			t.Errorf("%s: %d %s", request, code, text)
		}
	}
	if code, text := ask("POST", "/v1/agent-testing/scenarios/generate", `{}`); code != http.StatusBadRequest || !strings.Contains(text, "call_id: is required") {
		t.Errorf("generate: %d %s", code, text)
	}
}

// juneIsSlt is a Voices that replaces the voice June with slt, and no other voice.
type juneIsSlt struct{}

func (juneIsSlt) Replacement(_ context.Context, _ callwright.OrgID, voice, _ string) (string, error) {
	if voice == "June" {
		return "slt", nil
	}
	return "", nil
}

// TestReplacedVoicesAreNamed checks that every answer to a request with a replaced voice names that voice's field.
func TestReplacedVoicesAreNamed(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *httpapi.Config) { c.Voices = juneIsSlt{} })
	h.attach()
	agent := h.want(http.StatusCreated, "POST", "/v1/agents", `{"prompt":"Help.","voice":"June"}`)
	persona := h.want(http.StatusCreated, "POST", "/v1/personas", `{"name":"Eva","prompt":"Help.","call_config":{"voice":"June"}}`)
	for field, answer := range map[string]any{
		"voice":             h.want(http.StatusOK, "POST", "/v1/calls", `{"phone_number":"`+theirNumber+`","task":"Talk.","voice":"June"}`),
		"voice ":            agent,
		"voice  ":           h.want(http.StatusOK, "POST", "/v1/agents/"+at(t, agent, "agent", "agent_id").(string), `{"voice":"June"}`),
		"voice_id":          h.want(http.StatusOK, "POST", "/v1/inbound/"+ourNumber, `{"voice_id":"June"}`),
		"call_config.voice": persona,
		"call_config.voice ": h.want(http.StatusOK, "PATCH", "/v1/personas/"+at(t, persona, "data", "id").(string),
			`{"call_config":{"voice":"June"}}`),
	} {
		if at(t, answer, "ignored", 0, "field") != strings.TrimSpace(field) || at(t, answer, "ignored", 0, "message") != "this voice is unknown: slt speaks instead" {
			t.Errorf("%s: %v", field, answer)
		}
	}
	if answer := h.want(http.StatusOK, "POST", "/v1/calls", `{"phone_number":"`+theirNumber+`","task":"Talk.","voice":"slt"}`); answer["ignored"] != nil {
		t.Errorf("a voice that is here: %v", answer)
	}
}

// TestUnknownVoicesAreReplacedWhereThatIsConfigured checks that speech refuses an unknown voice, or replaces it if ReplaceUnknown is set.
func TestUnknownVoicesAreReplacedWhereThatIsConfigured(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusBadRequest, "POST", "/v1/speak", `{"text":"Hello.","voice":"June"}`)
	h.speakBy(func(c *speech.Config) { c.ReplaceUnknown = true })
	answer := h.want(http.StatusOK, "POST", "/v1/speak", `{"text":"Hello.","voice_id":"June"}`)
	if at(t, answer, "ignored", 0, "field") != "voice_id" {
		t.Errorf("answer %v", answer)
	}
	if answer := h.want(http.StatusOK, "POST", "/v1/speak", `{"text":"Hello."}`); answer["ignored"] != nil {
		t.Errorf("without a voice: %v", answer)
	}
	voices := h.want(http.StatusOK, "GET", "/v1/voices", "")
	if voice := at(t, voices, "voices", 0); at(t, voice, "is_custom") == at(t, voice, "public") {
		t.Errorf("voice %v", voice)
	}
}
