package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/webhook"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/httpapi/callsapi"
)

// secrets holds the signing secrets of two organizations.
var secrets = map[callwright.OrgID]callwright.Secret{
	"a": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "b": "whsec_TQ8aX0c1VtYp3nJr5sKd7uLe9wMf2hZq",
}

// receiver is a webhook that records deliveries and answers as scripted.
type receiver struct {
	mu     sync.Mutex
	answer error
	got    []agentstest.Delivery
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	d := agentstest.Delivery{ID: request.Header.Get("Webhook-Id"), Body: body}
	for org, secret := range secrets {
		if must(standardwebhooks.NewWebhook(secret.Reveal())).Verify(body, request.Header) == nil {
			d.Org = org
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, d)
	switch wait, later := callwright.RetryAfter(r.answer); {
	case r.answer == nil:
	case r.answer == error(agentstest.ErrRefused): //nolint:errorlint // this one, which has the code of others
		w.WriteHeader(http.StatusGone)
	default:
		if later {
			w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// TestNotifierConformance runs the conformance suite on the notifier with the real sender.
func TestNotifierConformance(t *testing.T) {
	t.Parallel()
	agentstest.RunNotifier(t, agentstest.NotifierHarness{
		Orgs: [2]callwright.OrgID{"a", "b"},
		New: func(t *testing.T) (call.Notifier, agentstest.Webhook) {
			tenants := orgstore.Tenants{Store: memstore.New()}
			for org, secret := range secrets {
				err := tenants.InsertOrganization(t.Context(), callwright.Organization{ID: org, WebhookSecret: secret})
				if err != nil {
					t.Fatal(err)
				}
			}
			sender := must(webhook.New(webhook.Config{Tenants: tenants, AllowPrivate: true}))
			t.Cleanup(sender.Close)
			r := &receiver{}
			server := httptest.NewServer(r)
			t.Cleanup(server.Close)
			return callsapi.NewNotifier(sender, "https://voice.example.com"), agentstest.Webhook{
				URL: server.URL,
				Answer: func(err error) {
					r.mu.Lock()
					defer r.mu.Unlock()
					r.answer = err
				},
				Deliveries: func() []agentstest.Delivery {
					r.mu.Lock()
					defer r.mu.Unlock()
					return slices.Clone(r.got)
				},
			}
		},
	})
}
