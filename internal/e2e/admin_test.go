package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// firstOrganization is the id of the organization that a new server creates.
const firstOrganization = "00000000-0000-7000-8000-000000000001"

// administered is the JSON output of "callwright admin".
type administered struct {
	Organization struct {
		ID string `json:"id"`
	} `json:"organization"`
	Key struct {
		ID string `json:"id"`
	} `json:"key"`
	APIKey string `json:"api_key"`
	Secret string `json:"webhook_secret"`
	Keys   []struct {
		LastUsedAt *string `json:"last_used_at"`
	} `json:"keys"`
}

// administer runs "callwright admin" on the data of a running server.
func administer(t *testing.T, s *server.Server, args ...string) (got administered) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), server.Command(t), append([]string{"admin", "--json"}, args...)...)
	cmd.Env = []string{"CALLWRIGHT_DATA=" + s.Data}
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		t.Fatalf("callwright admin %s: %v: %s%s", strings.Join(args, " "), err, out, said.String())
	}
	return got
}

// answers returns the status of a request to the server with the given API key.
func answers(t *testing.T, s *server.Server, key string) int {
	t.Helper()
	with := *s
	with.Key = key
	status, _ := with.Get(t, "/v1/calls")
	return status
}

// TestAdminBesideServer checks that a running server applies the changes of the command immediately: a new organization, and new, rotated
// and revoked keys.
func TestAdminBesideServer(t *testing.T) {
	t.Parallel()
	s := server.Start(t, server.Config{})
	org := administer(t, s, "orgs", "create", "Acme").Organization.ID
	first := administer(t, s, "keys", "create", "ci", "--org", org)
	if k := administer(t, s, "keys", "list", "--org", org).Keys; len(k) != 1 || k[0].LastUsedAt != nil {
		t.Errorf("before its use the keys are %+v", k)
	}
	if status := answers(t, s, first.APIKey); status != http.StatusOK {
		t.Fatalf("a new key is answered with %d", status)
	}
	await.That(t, "the last use of the key", func() bool {
		return administer(t, s, "keys", "list", "--org", org).Keys[0].LastUsedAt != nil
	})
	next := administer(t, s, "keys", "rotate", first.Key.ID, "--org", org, "--overlap", "1h")
	for name, key := range map[string]string{"old": first.APIKey, "new": next.APIKey} {
		if status := answers(t, s, key); status != http.StatusOK {
			t.Errorf("within the overlap the %s key is answered with %d", name, status)
		}
	}
	administer(t, s, "keys", "revoke", first.Key.ID, "--org", org)
	if old, now := answers(t, s, first.APIKey), answers(t, s, next.APIKey); old != http.StatusUnauthorized || now != http.StatusOK {
		t.Errorf("after the revocation the old key is answered with %d, the new one with %d", old, now)
	}
	if log := s.Log(); strings.Contains(log, first.APIKey) || strings.Contains(log, next.APIKey) {
		t.Error("the server logs keys")
	}
}

// TestWebhookSecretIsRotated checks the signatures of a call's record after rotations of the secret. The previous secret must verify the
// record only during the overlap.
func TestWebhookSecretIsRotated(t *testing.T) {
	t.Parallel()
	s := server.Start(t, server.Config{})
	s.AttachOutbound(t, ours.String(), "sip:127.0.0.1:9;transport=tls") // nothing listens there
	type message struct {
		header http.Header
		body   []byte
	}
	came := make(chan message, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		came <- message{r.Header, body}
	}))
	t.Cleanup(receiver.Close)
	before := s.WebhookSecret(t)
	for _, round := range []struct {
		overlap string
		good    bool // the previous secret is valid, too
	}{{"1h", true}, {"0", false}} {
		now := administer(t, s, "webhook-secret", "rotate", firstOrganization, "--overlap", round.overlap).Secret
		request := appointment()
		request.Webhook = callsoas.NewOptString(receiver.URL)
		s.Ended(t, s.Call(t, request))
		m := <-came
		for secret, good := range map[string]bool{before: round.good, now: true} {
			check, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			if err := check.Verify(m.body, m.header); (err == nil) != good {
				t.Errorf("after a rotation with the overlap %s: %v", round.overlap, err)
			}
		}
		if n := len(strings.Fields(m.header.Get(standardwebhooks.HeaderWebhookSignature))); (n == 2) != round.good {
			t.Errorf("after a rotation with the overlap %s there are %d signatures", round.overlap, n)
		}
	}
}
