package settings_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/internal/settings"
)

// fails records a failed attempt to deliver a message. If again is set, the message will be retried; otherwise it is given up.
func (h *house) fails(m delivery.Message, again bool) {
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
	h.get("/settings/deliveries", "No messages failed.", "<code>webhook_url</code>", "refuses for good is given up at once")
	hook := "https://hooks.example.com/hunter2?token=hunter2"
	for i, m := range []delivery.Message{
		{Kind: delivery.MessageCall, Subject: "c1"}, {Kind: delivery.MessageCallEvent, Subject: "c2"},
		{Kind: delivery.MessageTestRun, Subject: "r1"}, {Kind: delivery.MessageTestBatch, Subject: "b1"},
		{Kind: delivery.MessagePort, Subject: "p1"}, {Kind: delivery.MessageAlert, Subject: "+15550000001"}, {Kind: "<script>", Subject: "s1"},
	} {
		m.Org, m.ID, m.URL = "acme", fmt.Sprint(i), hook
		h.fails(m, i > 0)
	}
	h.fails(delivery.Message{Org: "other", Kind: delivery.MessageCall, ID: "x", Subject: "foreign", URL: hook}, false)
	text := h.get("/settings/deliveries", "Record of the call c1", "Change of the port p1", "hooks.example.com", "given up", "pending",
		"&lt;b&gt;503&lt;/b&gt;")
	if strings.Contains(text, "hunter2") || strings.Contains(text, "foreign") {
		t.Errorf("there is what must not be shown:\n%s", text)
	}
	if text := h.get("/settings/deliveries?state=given_up", "c1"); strings.Contains(text, "r1") {
		t.Errorf("the filter shows all:\n%s", text)
	}
	h.get("/settings/deliveries?state=delivered", "No message has this state")
	h.do(http.MethodGet, "/settings/deliveries?state=lost", nil, http.StatusBadRequest)
	h.do(http.MethodGet, "/settings/deliveries?after=x", nil, http.StatusBadRequest)
	for i := range 60 {
		h.fails(delivery.Message{Org: "acme", Kind: delivery.MessageCall, ID: fmt.Sprint("more", i), Subject: "c3", URL: hook}, false)
	}
	h.get("/settings/deliveries?state=given_up", `rel="next"`, "state=given_up")
}

// reader is an Authenticator that returns itself as the principal of every request.
type reader callwright.Principal

func (r reader) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal(r), nil
}

// TestDeliveryLinks checks that a delivery links only to pages that the dashboard contains and that the reader may see.
func TestDeliveryLinks(t *testing.T) {
	t.Parallel()
	h := open(t)
	links := map[string]string{ // the keys are the paths of areas
		"/calls": `href="/calls/s1"`, "/tests": `href="/tests/runs/s3"`, "/ports": `href="/ports/s5"`, "/trunks": `href="/trunks/s6"`,
	}
	for i, kind := range []delivery.MessageKind{
		delivery.MessageCall, delivery.MessageCallEvent, delivery.MessageTestRun, delivery.MessageTestBatch, delivery.MessagePort,
		delivery.MessageAlert,
	} {
		h.fails(delivery.Message{Org: "acme", Kind: kind, ID: fmt.Sprint(i), Subject: fmt.Sprint("s", i+1), URL: "https://hooks.example.com/"}, false)
	}
	areas := []page.Area{
		{Path: "/calls"}, {Path: "/tests"}, {Path: "/ports", Entitlement: callwright.EntitlementSIP}, {Path: "/trunks", Entitlement: callwright.EntitlementSIP},
	}
	sip := []callwright.Entitlement{callwright.EntitlementSIP}
	for name, c := range map[string]struct {
		areas []page.Area
		held  []callwright.Entitlement
		want  []string
	}{
		"all":            {areas, sip, []string{"/calls", "/tests", "/ports", "/trunks"}},
		"no entitlement": {areas, nil, []string{"/calls", "/tests"}},
		"no tests":       {areas[2:], sip, []string{"/ports", "/trunks"}},
		"no other areas": {nil, sip, nil},
	} {
		site, err := page.New(page.Config{
			Authenticator: reader{Org: "acme", KeyID: "k", Entitlements: c.held},
			Areas:         []page.Area{settings.New(settings.Config{Access: h.access, Deliveries: h.deliveries, Areas: c.areas})},
		})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		site.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/settings/deliveries", nil))
		for area, link := range links {
			if got := strings.Contains(w.Body.String(), link); got != slices.Contains(c.want, area) {
				t.Errorf("%s: it is %v that there is %s in\n%s", name, got, link, w.Body)
			}
		}
	}
}

// TestPausedHosts checks that the page lists only the paused hosts of the reader's organization, and that the reader can resume only these
// hosts.
func TestPausedHosts(t *testing.T) {
	t.Parallel()
	h := open(t)
	at := time.Now()
	for org, host := range map[callwright.OrgID]string{"acme": "hooks.example.com:8443", "other": "foreign.example.com"} {
		e := delivery.Endpoint{Org: org, Host: host, Since: at, Failures: 61, Failure: "<b>no answer</b>", Last: at, PausedAt: &at, TrialAt: &at}
		if err := h.endpoints.StoreEndpoint(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	text := h.get("/settings/deliveries", "Paused hosts", "hooks.example.com:8443", "61", "&lt;b&gt;no answer&lt;/b&gt;", "Resume messages to hooks.example.com:8443")
	if strings.Contains(text, "foreign") {
		t.Errorf("another organization's host is shown:\n%s", text)
	}
	resume := func(host string, status int, want ...string) {
		h.post("/settings/deliveries", "/settings/deliveries/resume", url.Values{"host": {host}}, status, want...)
	}
	resume("foreign.example.com", http.StatusNotFound)
	resume("hooks.example.com:8443", http.StatusOK, "Messages to hooks.example.com:8443 go on within 25 minutes.", "No messages failed.")
	if text := h.get("/settings/deliveries"); strings.Contains(text, "Paused hosts") {
		t.Errorf("it is paused still:\n%s", text)
	}
	if _, err := h.endpoints.Endpoint(t.Context(), "other", "foreign.example.com"); err != nil {
		t.Error(err)
	}
}
