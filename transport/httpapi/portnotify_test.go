package httpapi_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/webhook"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/transport/httpapi/portingapi"
)

// noticed stores a port request. It returns a copy that has failed and has a webhook, and an entry for its history.
func noticed(h *house, url string) (porting.Request, porting.Entry) {
	h.t.Helper()
	foc := time.Date(2026, 4, 1, 16, 0, 0, 0, time.UTC)
	r, err := h.porting.Store.Request(h.t.Context(), h.org, h.port("+14155550100"))
	if err != nil {
		h.t.Fatal(err)
	}
	r.State, r.Webhook, r.Failure = porting.Failed, callwright.Secret(url), &porting.Failure{Code: porting.PortFreeze, Raw: "raw words"}
	r.Numbers[0].State, r.Numbers[0].FOC, r.Numbers[0].Failure = porting.NumberRejected, foc, &porting.Failure{Code: porting.PortFreeze, Raw: "raw words"}
	return r, porting.Entry{
		Number: 4, At: foc.Add(1500 * time.Microsecond), From: porting.InProgress, To: porting.Failed, Event: porting.Rejected, Actor: porting.Carrier, Note: "a note",
	}
}

func TestPortWebhook(t *testing.T) {
	t.Parallel()
	h := open(t)
	r, e := noticed(h, "https://hooks.example.com/ports?token=hidden")
	sent := &outbox{}
	n := portingapi.NewNotifier(sent)
	if err := n.NotifyPort(t.Context(), r.ID+"/4", r, e); err != nil {
		t.Fatal(err)
	}
	if sent.org != h.org || sent.id != r.ID+"-4" || sent.url != r.Webhook.Reveal() {
		t.Errorf("sent for %s, message %s, to %s", sent.org, sent.id, sent.url)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(sent.body), &body); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"event": "port.status_changed", "event_id": r.ID + "-4", "at": "2026-04-01T16:00:00.001Z", "port_request_id": r.ID, "change": "rejected",
		"from": "in_progress", "to": "failed", "detail": nil, "actor": "carrier", "status": "failed", "status_detail": nil,
		"failure_code": "port_freeze", "failure_reason": porting.PortFreeze.Remedy().Text, "who_must_act": "customer",
	} {
		if got, ok := body[name]; !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	number, _ := at(t, body, "phone_numbers", 0).(map[string]any)
	if number["number"] != "+14155550100" || number["status"] != "rejected" || number["reason_code"] != "port_freeze" || number["foc_date"] != "2026-04-01T16:00:00.000Z" {
		t.Errorf("the number: %v", number)
	}
	for _, secret := range []string{"raw words", "hidden", "4711", "88231"} {
		if strings.Contains(sent.body, secret) {
			t.Errorf("%s is sent: %s", secret, sent.body)
		}
	}
	e.From = ""
	if err := n.NotifyPort(t.Context(), r.ID+"/1", r, e); err != nil || !strings.Contains(sent.body, `"from":null`) {
		t.Errorf("the first entry: %s, %v", sent.body, err)
	}
	sent.err = errors.New("the receiver is down")
	if err := n.NotifyPort(t.Context(), r.ID+"/4", r, e); !errors.Is(err, sent.err) {
		t.Errorf("a failed delivery gives %v", err)
	}
}

// TestPortWebhookIsSigned sends a change with the real sender, and verifies the received message with the published library. It also checks
// that an answer of 410 (Gone) causes an error that matches ErrForbidden.
func TestPortWebhookIsSigned(t *testing.T) {
	t.Parallel()
	h := open(t)
	type arrival struct {
		header http.Header
		body   []byte
	}
	arrived, answer := make(chan arrival, 1), http.StatusOK
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(answer)
		arrived <- arrival{r.Header, body}
	}))
	t.Cleanup(receiver.Close)
	tenants := orgstore.Tenants{Store: h.store}
	sender := must(webhook.New(webhook.Config{Tenants: tenants, AllowPrivate: true}))
	t.Cleanup(sender.Close)
	n := portingapi.NewNotifier(sender)
	r, e := noticed(h, receiver.URL)
	if err := n.NotifyPort(t.Context(), r.ID+"/4", r, e); err != nil {
		t.Fatal(err)
	}
	got := <-arrived
	if id := got.header.Get("Webhook-Id"); id != r.ID+"-4" {
		t.Errorf("id %s", id)
	}
	org, err := tenants.Organization(t.Context(), h.org)
	if err != nil {
		t.Fatal(err)
	}
	if err := must(standardwebhooks.NewWebhook(org.WebhookSecret.Reveal())).Verify(got.body, got.header); err != nil {
		t.Error(err)
	}
	answer = http.StatusGone
	if err := n.NotifyPort(t.Context(), r.ID+"/4", r, e); !errors.Is(err, callwright.ErrForbidden) {
		t.Errorf("a receiver that refuses for good gives %v", err)
	}
	<-arrived
}

func TestCarriersTellOfOrders(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.port("+14155550100")
	now := time.Now().UTC()
	h.changed(id, func(r *porting.Request) {
		r.State, r.Sending, r.Ref, r.DueAt = porting.InProgress, true, "order-1", now.Add(6*time.Hour)
	})
	handler := portingapi.GatewayEvents(h.areas.ports.Ports, nil, h.carrier)
	send := func(path, body string, header http.Header) int {
		r := httptest.NewRequestWithContext(t.Context(), "POST", path, strings.NewReader(body))
		r.Header = header
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		return answer.Code
	}
	const path = "/internal/gateways/simulated/webhook"
	header, body := h.carrier.Event(porting.Order{Ref: "order-1"}, 1)
	for name, c := range map[string]struct {
		path, body string
		header     http.Header
		want       int
	}{
		"not signed":       {path, string(body), http.Header{}, http.StatusUnauthorized},
		"changed":          {path, string(body) + " ", header, http.StatusUnauthorized},
		"another gateway":  {"/internal/gateways/other/webhook", string(body), header, http.StatusNotFound},
		"another path":     {"/internal/gateways/simulated", string(body), header, http.StatusNotFound},
		"larger than 64 K": {path, strings.Repeat("x", 64<<10+1), header, http.StatusRequestEntityTooLarge},
	} {
		if got := send(c.path, c.body, c.header); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	due := func() time.Time {
		r, err := h.porting.Store.Request(t.Context(), h.org, id)
		if err != nil {
			t.Fatal(err)
		}
		return r.DueAt
	}
	if due().Before(now.Add(time.Hour)) {
		t.Error("a message that is refused has the order looked at")
	}
	for range 2 {
		if got := send(path, string(body), header); got != http.StatusAccepted {
			t.Errorf("a message of the carrier: %d", got)
		}
	}
	if due().After(now.Add(time.Hour)) {
		t.Errorf("the order is looked at on %s only", due())
	}
	header, body = h.carrier.Event(porting.Order{Ref: "unknown"}, 1)
	if got := send(path, string(body), header); got != http.StatusAccepted {
		t.Errorf("a message about no order: %d", got)
	}
}
