package httpapi_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/sip/proof"
)

// TestNumberProof checks that an inbound attachment requires a proof of the number, that the spoken code proves it, and that proofs of one
// number are limited.
func TestNumberProof(t *testing.T) {
	t.Parallel()
	h := open(t)
	const another = "+14155550177"
	inbound := func(number string) string {
		return `{"phone_number":"` + number + `","service":"sip","directions":[{"type":"inbound"}]}`
	}
	named := `{"phone_number":"` + another + `"}`
	if answer := h.want(http.StatusConflict, "POST", "/v1/sip/numbers/proof", named); at(t, answer, "errors", 0, "path") != "phone_number" {
		t.Errorf("without the setting: %v", answer)
	}
	h.line.mu.Lock()
	h.line.proof = true
	h.line.mu.Unlock()
	answer := h.want(http.StatusOK, "POST", "/v1/sip/attach", inbound(another))
	if at(t, answer, "data", "failed", 0, "proof_required") != true || at(t, answer, "data", "failed", 0, "error") != "INVALID_STATE" {
		t.Errorf("without a proof: %v", answer)
	}
	h.want(http.StatusConflict, "POST", "/v1/sip/numbers/proof", named) // fails without an outbound trunk
	h.want(http.StatusOK, "POST", "/v1/sip/attach",
		`{"phone_number":"`+ourNumber+`","service":"sip","directions":[{"type":"outbound","sip_endpoint":"sip:pbx.example.com"}]}`)
	h.want(http.StatusNotFound, "GET", "/v1/sip/numbers/proof?phone_number=%2B14155550177", "")
	answer = h.want(http.StatusAccepted, "POST", "/v1/sip/numbers/proof", named)
	if at(t, answer, "data", "status") != "waiting" || at(t, answer, "data", "phone_number") != another || at(t, answer, "data", "reason") != nil {
		t.Errorf("asked for: %v", answer)
	}
	verify := func(status int, code string, headers ...header) any {
		return h.want(status, "POST", "/v1/sip/numbers/proof/verify", `{"phone_number":"`+another+`","code":"`+code+`"}`, headers...)
	}
	verify(http.StatusConflict, "123456")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = h.line.work.Run(ctx) }()
	parts := <-h.line.spoken
	stop()
	<-ended
	if answer = h.want(http.StatusOK, "GET", "/v1/sip/numbers/proof?phone_number=%2B14155550177", ""); at(t, answer, "data", "status") != "called" {
		t.Errorf("called: %v", answer)
	}
	var code strings.Builder
	for _, part := range parts[1:7] {
		code.WriteByte('0' + byte(slices.Index([]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}, part)))
	}
	wrong := "111111"
	if code.String() == wrong {
		wrong = "222222"
	}
	if answer := verify(http.StatusBadRequest, wrong); at(t, answer, "errors", 0, "path") != "code" {
		t.Errorf("a wrong code: %v", answer)
	}
	_, other := h.tenant("other", "SIP")
	verify(http.StatusNotFound, code.String(), header{"Authorization", other})
	if answer := verify(http.StatusOK, code.String()); at(t, answer, "data", "status") != "proven" {
		t.Errorf("the code: %v", answer)
	}
	if answer := h.want(http.StatusOK, "POST", "/v1/sip/attach", inbound(another)); at(t, answer, "data", "configured", 0) != another {
		t.Errorf("attached: %v", answer)
	}
	h.want(http.StatusConflict, "POST", "/v1/sip/numbers/proof", named)
	if answer := h.want(http.StatusConflict, "POST", "/v1/sip/numbers/proof", named, header{"Authorization", other}); at(t, answer, "errors", 0, "error") != "CONFLICT" {
		t.Errorf("for another organization: %v", answer)
	}
	h.want(http.StatusOK, "POST", "/v1/sip/detach", `{"phone_number":"`+another+`","service":"sip","direction":"inbound"}`)
	h.want(http.StatusOK, "POST", "/v1/sip/attach", inbound(another)) // the proof is valid for a day
	const third = `{"phone_number":"+14155550178"}`
	for range proof.MaxOfNumber {
		h.want(http.StatusAccepted, "POST", "/v1/sip/numbers/proof", third)
	}
	if answer := h.do("POST", "/v1/sip/numbers/proof", third); answer.Code != http.StatusTooManyRequests || answer.Header().Get("Retry-After") == "" {
		t.Errorf("too many: %d %s", answer.Code, answer.Body)
	}
}
