package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/webhook"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/httpapi/callsapi"
)

// outbox is a Sender that records the last message and returns err.
type outbox struct {
	notifier
	org     callwright.OrgID
	id, url string
	body    string
	err     error
}

func (o *outbox) Send(_ context.Context, org callwright.OrgID, id, url string, body []byte) error {
	o.org, o.id, o.url, o.body = org, id, url, string(body)
	return o.err
}

func TestWebhookGetsTheRecordThatAReadAnswers(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := h.ended("c1", time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC))
	line := call.Entry{Seq: 1, Speaker: call.SpeakerUser, Text: "Hi.", CreatedAt: c.CreatedAt}
	if err := h.calls.Append(t.Context(), h.org, c.ID, line); err != nil {
		t.Fatal(err)
	}
	sent := &outbox{}
	n := callsapi.NewNotifier(sent, "https://voice.example.com")
	if err := n.Notify(t.Context(), h.org, "https://hook.example", c, []call.Entry{line}, nil); err != nil {
		t.Fatal(err)
	}
	read := h.do("GET", "/v1/calls/c1", "")
	if read.Code != http.StatusOK || sent.body != read.Body.String() {
		t.Errorf("sent %s, read %s", sent.body, read.Body)
	}
	if sent.org != h.org || sent.id != "c1" || sent.url != "https://hook.example" {
		t.Errorf("sent for %s, call %s, to %s", sent.org, sent.id, sent.url)
	}
	sent.err = errors.New("the receiver is down")
	if err := n.Notify(t.Context(), h.org, "https://hook.example", c, nil, nil); !errors.Is(err, sent.err) {
		t.Errorf("a failed delivery gives %v", err)
	}
}

// TestEventIsSignedAsEveryMessage sends an event with the real sender, and verifies the received message with the published library.
func TestEventIsSignedAsEveryMessage(t *testing.T) {
	t.Parallel()
	h := open(t)
	type message struct {
		header http.Header
		body   []byte
	}
	arrived := make(chan message, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		arrived <- message{r.Header, body}
	}))
	t.Cleanup(receiver.Close)
	tenants := orgstore.Tenants{Store: h.store}
	sender := must(webhook.New(webhook.Config{Tenants: tenants, AllowPrivate: true}))
	t.Cleanup(sender.Close)
	n := callsapi.NewNotifier(sender, "https://voice.example.com")
	notice := call.Notice{Seq: 3, Category: call.EventsLatency, Level: call.EventPerformance, Message: "An answer took 800 ms.", CreatedAt: time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC)}
	if err := n.NotifyEvent(t.Context(), h.org, receiver.URL, call.Call{ID: "c1"}, notice); err != nil {
		t.Fatal(err)
	}
	got := <-arrived
	if want := `{"message":"An answer took 800 ms.","call_id":"c1","category":"latency","log_level":"performance","created_at":"2026-03-02T09:15:00.000Z"}`; string(got.body) != want {
		t.Errorf("body %s, want %s", got.body, want)
	}
	if id := got.header.Get("Webhook-Id"); id != "c1-3" {
		t.Errorf("id %s", id)
	}
	org, err := tenants.Organization(t.Context(), h.org)
	if err != nil {
		t.Fatal(err)
	}
	check := must(standardwebhooks.NewWebhook(org.WebhookSecret.Reveal()))
	if err := check.Verify(got.body, got.header); err != nil {
		t.Error(err)
	}
}
