package httpapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/callwright/callwright/agents/call"
)

// TestLanguageNames checks the names that clients of similar APIs use for a language, including those that leave the choice to the engine.
func TestLanguageNames(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	for given, want := range map[string]string{
		"babel-en": "", "auto": "", "Fluent": "", "babel": "", "ENG": "en", "en-US": "en-US", "es": "es",
	} {
		body, err := json.Marshal(map[string]string{"phone_number": theirNumber, "task": "Ask.", "language": given})
		if err != nil {
			t.Fatal(err)
		}
		answer := h.do(http.MethodPost, "/v1/calls", string(body))
		var created struct {
			CallID string `json:"call_id"`
		}
		if err := json.Unmarshal(answer.Body.Bytes(), &created); err != nil || answer.Code != http.StatusOK {
			t.Fatalf("%q: %d %s", given, answer.Code, answer.Body)
		}
		var stored call.Call
		if stored, err = h.calls.Get(t.Context(), h.org, created.CallID); err != nil || stored.Agent.Language != want {
			t.Errorf("%q is kept as %q, %v; want %q", given, stored.Agent.Language, err, want)
		}
	}
}
