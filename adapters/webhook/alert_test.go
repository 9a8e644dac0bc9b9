package webhook_test

import (
	"net/http"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/webhook"
	"github.com/callwright/callwright/sip/alert"
)

var _ alert.Hooks = (*webhook.Sender)(nil)

func TestSendNotice(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)
	over := at.Add(time.Hour)
	server, got := receiver(t, http.StatusOK, nil)
	standard, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	for want, n := range map[string]alert.Notice{
		`{"event":"sip.trunk.alert","alert_type":"unreachable","phone_number":"+15550000001","direction":"outbound",` +
			`"value":5,"threshold":5,"triggered_at":"2026-05-04T03:02:01.123Z","resolved_at":null}`: {
			ID: "t1.unreachable.1", Org: "a", Kind: alert.Unreachable, Number: "+15550000001", Direction: "outbound",
			Value: 5, Threshold: 5, TriggeredAt: at,
		},
		`{"event":"sip.trunk.alert","alert_type":"failure_rate","phone_number":"+15550000002","direction":"inbound",` +
			`"value":3.33,"threshold":20,"triggered_at":"2026-05-04T03:02:01.123Z","resolved_at":"2026-05-04T04:02:01.123Z"}`: {
			ID: "t2.failure_rate.2", Org: "a", Kind: alert.FailureRate, Number: "+15550000002", Direction: "inbound",
			Value: 3.33, Threshold: 20, TriggeredAt: at, ResolvedAt: &over,
		},
	} {
		if err := sender(t, true).SendNotice(t.Context(), server.URL, n); err != nil {
			t.Fatal(err)
		}
		r := <-got
		body, _ := r.Context().Value(bodyKey{}).([]byte)
		if string(body) != want {
			t.Errorf("sent %s\nwant %s", body, want)
		}
		if err := standard.Verify(body, r.Header); err != nil || r.Header.Get("Webhook-Id") != n.ID {
			t.Errorf("id %q, signature: %v", r.Header.Get("Webhook-Id"), err)
		}
	}
	foreign := alert.Notice{ID: "x", Org: "nobody"}
	if err := sender(t, true).SendNotice(t.Context(), server.URL, foreign); callwright.CodeOf(err) != callwright.CodeNotFound {
		t.Errorf("an unknown organization gave %v", err)
	}
}
