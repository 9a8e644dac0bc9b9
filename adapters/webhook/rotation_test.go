package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/webhook"
)

// TestRotation checks which secrets sign a message within the overlap of a rotation and after the overlap.
func TestRotation(t *testing.T) {
	t.Parallel()
	const next = callwright.Secret("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX")
	for name, test := range map[string]struct {
		left     time.Duration // rest of the overlap
		accepted []callwright.Secret
		refused  []callwright.Secret
		header   callwright.Secret
		next     callwright.Secret
	}{
		"within the overlap": {time.Hour, []callwright.Secret{secret, next}, nil, secret, next},
		"after the overlap":  {-time.Second, []callwright.Secret{next}, []callwright.Secret{secret}, next, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ends := time.Now().Add(test.left)
			tenants := orgstore.Tenants{Store: memstore.New()}
			err := tenants.InsertOrganization(t.Context(), callwright.Organization{
				ID: "a", WebhookSecret: next, PreviousWebhookSecret: secret, PreviousWebhookEnds: &ends,
			})
			if err != nil {
				t.Fatal(err)
			}
			s, err := webhook.New(webhook.Config{Tenants: tenants, AllowPrivate: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			server, got := receiver(t, http.StatusOK, nil)
			if err := s.Send(t.Context(), "a", "c1", server.URL, []byte(`{"call_id":"c1"}`)); err != nil {
				t.Fatal(err)
			}
			r := <-got
			body, _ := r.Context().Value(bodyKey{}).([]byte)
			for _, key := range test.accepted {
				if err := verifier(t, key).Verify(body, r.Header); err != nil {
					t.Errorf("the published library refuses a signature: %v", err)
				}
			}
			for _, key := range test.refused {
				if verifier(t, key).Verify(body, r.Header) == nil {
					t.Error("a secret signs after its end")
				}
			}
			if n := len(strings.Fields(r.Header.Get(standardwebhooks.HeaderWebhookSignature))); n != len(test.accepted) {
				t.Errorf("there are %d signatures", n)
			}
			for header, key := range map[string]callwright.Secret{webhook.SignatureHeader: test.header, webhook.NextSignatureHeader: test.next} {
				want := ""
				if key != "" {
					mac := hmac.New(sha256.New, []byte(key.Reveal()))
					mac.Write(body)
					want = hex.EncodeToString(mac.Sum(nil))
				}
				if values := strings.Join(r.Header.Values(header), "|"); values != want {
					t.Errorf("%s is %q, want %q", header, values, want)
				}
			}
		})
	}
}

// verifier returns a verifier of the published Standard Webhooks library, which is independent of this package's code.
func verifier(t *testing.T, key callwright.Secret) *standardwebhooks.Webhook {
	t.Helper()
	w, err := standardwebhooks.NewWebhook(key.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	return w
}
