package settings_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
)

// fails has an attempt at a message fail, after which it is given up or sent again.
func (h *house) fails(m callwright.Message, again bool) {
	h.t.Helper()
	at, next := time.Now(), time.Time{}
	if again {
		next = at.Add(time.Minute)
	}
	failure := callwright.Errorf(callwright.CodeUnavailable, "it answered with <b>503</b>")
	if err := h.deliveries.Attempted(h.t.Context(), m, failure, at, next); err != nil {
		h.t.Fatal(err)
	}
}

func TestDeliveries(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.get("/settings", `href="/settings/deliveries"`)
	h.get("/settings/deliveries", "Every message was taken")
	hook := "https://hooks.example.com/hunter2?token=hunter2"
	for i, m := range []callwright.Message{
		{Kind: callwright.MessageCall, Subject: "c1"}, {Kind: callwright.MessageCallEvent, Subject: "c2"},
		{Kind: callwright.MessageTestRun, Subject: "r1"}, {Kind: callwright.MessageTestBatch, Subject: "b1"},
		{Kind: callwright.MessagePort, Subject: "p1"}, {Kind: callwright.MessageAlert, Subject: "+15550000001"}, {Kind: "<script>", Subject: "s1"},
	} {
		m.Org, m.ID, m.URL = "acme", fmt.Sprint(i), hook
		h.fails(m, i > 0)
	}
	h.fails(callwright.Message{Org: "other", Kind: callwright.MessageCall, ID: "x", Subject: "foreign", URL: hook}, false)
	text := h.get("/settings/deliveries", `href="/calls/c1"`, `href="/calls/c2"`, `href="/tests/runs/r1"`, `href="/tests/groups/b1"`, `href="/ports/p1"`,
		`href="/trunks/&#43;15550000001"`, "hooks.example.com", "given up", "pending", "&lt;b&gt;503&lt;/b&gt;")
	if strings.Contains(text, "hunter2") || strings.Contains(text, "foreign") {
		t.Errorf("there is what must not be shown:\n%s", text)
	}
	if text := h.get("/settings/deliveries?state=given_up", `href="/calls/c1"`); strings.Contains(text, "r1") {
		t.Errorf("the filter shows all:\n%s", text)
	}
	h.get("/settings/deliveries?state=delivered", "No message has this state")
	h.do(http.MethodGet, "/settings/deliveries?state=lost", nil, http.StatusBadRequest)
	h.do(http.MethodGet, "/settings/deliveries?after=x", nil, http.StatusBadRequest)
	for i := range 60 {
		h.fails(callwright.Message{Org: "acme", Kind: callwright.MessageCall, ID: fmt.Sprint("more", i), Subject: "c3", URL: hook}, false)
	}
	h.get("/settings/deliveries?state=given_up", `rel="next"`, "state=given_up")
}
