package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/httpapi"
)

// outbox keeps what is sent.
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
	n := httpapi.Notifier{Sender: sent, BaseURL: "https://voice.example.com"}
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
