package remotebrain_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/remotebrain"
	"github.com/callwright/callwright/adapters/webhook"
)

// anHourAgo is a clock that is an hour late.
type anHourAgo struct{ callwright.SystemClock }

func (c anHourAgo) Now() time.Time { return c.SystemClock.Now().Add(-time.Hour) }

// old returns a Sender whose messages are an hour old.
func old(t testing.TB) *webhook.Sender {
	t.Helper()
	tenants := orgstore.Tenants{Store: memstore.New()}
	if err := tenants.InsertOrganization(t.Context(), callwright.Organization{ID: "acme", WebhookSecret: secret}); err != nil {
		t.Fatal(err)
	}
	s, err := webhook.New(webhook.Config{Tenants: tenants, AllowPrivate: true, Runtime: callwright.Runtime{Clock: anHourAgo{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// check checks the service at a URL, and returns the results by duty.
func check(t *testing.T, url string) map[string]remotebrain.Duty {
	t.Helper()
	all, err := remotebrain.Check(t.Context(), remotebrain.CheckConfig{
		Sender: sender(t, secret), Forged: sender(t, "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"), Old: old(t), URL: url, Org: "acme",
	})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]remotebrain.Duty{}
	for _, d := range all {
		found[d.Name] = d
	}
	return found
}

// signed returns a handler that passes requests with valid signatures.
func signed(t *testing.T, next http.HandlerFunc) http.HandlerFunc {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || verifier.Verify(body, r.Header) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		next(w, r)
	}
}

// TestCheckAcceptsGoodServices checks services that fulfil all duties, and one that answers no early turns and knows no signatures.
func TestCheckAcceptsGoodServices(t *testing.T) {
	t.Parallel()
	for name, service := range map[string]func(http.ResponseWriter, remotebrain.Request){"commits": deliberate, "does not commit": immediate} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(signed(t, answering(service)))
			t.Cleanup(server.Close)
			for duty, d := range check(t, server.URL) {
				if d.Result != remotebrain.Holds {
					t.Errorf("%s is %s: %s", duty, d.Result, d.Detail)
				}
			}
		})
	}
	url := serve(t, func(w http.ResponseWriter, _ remotebrain.Request) {
		write(w, remotebrain.Line{Type: remotebrain.LineSay, Text: "Hello."}, remotebrain.Line{Type: remotebrain.LineDone})
	})
	all, err := remotebrain.Check(t.Context(), remotebrain.CheckConfig{Sender: sender(t, secret), URL: url, Org: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		left := slices.Contains([]string{"leaves-no-trace", "continues-when-certain", "refuses-a-wrong-signature", "refuses-an-old-message"}, d.Name)
		if (d.Result == remotebrain.Unchecked) != left || d.Result == remotebrain.Broken || left && d.Detail == "" {
			t.Errorf("%s is %s: %s", d.Name, d.Result, d.Detail)
		}
	}
}

// TestCheckFindsBrokenDuties checks services each of which violates one duty.
func TestCheckFindsBrokenDuties(t *testing.T) {
	t.Parallel()
	silent := func(w http.ResponseWriter, _ remotebrain.Request) {
		write(w, remotebrain.Line{Type: remotebrain.LineDone})
	}
	unless := func(bad func(remotebrain.Request) bool, other func(http.ResponseWriter, remotebrain.Request)) http.HandlerFunc {
		return answering(func(w http.ResponseWriter, r remotebrain.Request) {
			if bad(r) {
				other(w, r)
				return
			}
			immediate(w, r)
		})
	}
	refuses := func(w http.ResponseWriter, _ remotebrain.Request) { w.WriteHeader(http.StatusUnprocessableEntity) }
	var mu sync.Mutex
	turns := map[string]int{}
	for duty, service := range map[string]http.HandlerFunc{
		"speaks-first":     unless(func(r remotebrain.Request) bool { return r.Turn.Kind == "start" && r.Turn.Number == 1 }, silent),
		"takes-a-greeting": unless(func(r remotebrain.Request) bool { return r.Turn.Kind == "speech" && r.Turn.Number == 1 }, silent),
		"takes-every-turn": unless(func(r remotebrain.Request) bool { return r.Turn.Kind == "digits" }, refuses),
		"ends-its-answers": answering(func(w http.ResponseWriter, r remotebrain.Request) {
			immediate(w, r)
			write(w, remotebrain.Line{Type: remotebrain.LineSay, Text: "By the way."})
		}),
		"survives-a-stop": unless(func(r remotebrain.Request) bool {
			return r.Turn.Interrupted && r.Turn.Heard == "" && r.Turn.Text == "Hello."
		}, refuses),
		"takes-a-repetition": unless(func(r remotebrain.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			key := fmt.Sprint("repeated ", r.Conversation, r.Turn.Number)
			turns[key]++
			return turns[key] > 1
		}, refuses),
		"takes-a-long-conversation": unless(func(r remotebrain.Request) bool { return len(r.Messages) > 50 }, refuses),
		"leaves-no-trace": answering(func(w http.ResponseWriter, r remotebrain.Request) {
			mu.Lock()
			turns[r.Conversation]++
			n := turns[r.Conversation]
			mu.Unlock()
			write(w, remotebrain.Line{Type: remotebrain.LineSay, Text: fmt.Sprint("Request ", n)}, remotebrain.Line{Type: remotebrain.LineDone, Early: true})
		}),
		"continues-when-certain": unless(func(r remotebrain.Request) bool { return r.Early }, func(w http.ResponseWriter, _ remotebrain.Request) {
			write(w, remotebrain.Line{Type: remotebrain.LineSay, Text: "Something else."}, remotebrain.Line{Type: remotebrain.LineDone, Early: true})
		}),
	} {
		t.Run(duty, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(signed(t, service))
			t.Cleanup(server.Close)
			if d := check(t, server.URL)[duty]; d.Result != remotebrain.Broken || d.Detail == "" {
				t.Errorf("it is %q: %s", d.Result, d.Detail)
			}
		})
	}
	t.Run("signatures", func(t *testing.T) {
		t.Parallel()
		found := check(t, serve(t, immediate))
		for _, duty := range []string{"refuses-a-wrong-signature", "refuses-an-old-message"} {
			if found[duty].Result != remotebrain.Broken {
				t.Errorf("%s is %q", duty, found[duty].Result)
			}
		}
	})
	t.Run("ignores-unknown-members", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(signed(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), "future") {
				w.WriteHeader(http.StatusUnprocessableEntity)
				return
			}
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			answering(immediate)(w, r)
		}))
		t.Cleanup(server.Close)
		if d := check(t, server.URL)["ignores-unknown-members"]; d.Result != remotebrain.Broken {
			t.Errorf("it is %q", d.Result)
		}
	})
	t.Run("serves-side-by-side", func(t *testing.T) {
		t.Parallel()
		var busy sync.Mutex
		server := httptest.NewServer(signed(t, func(w http.ResponseWriter, r *http.Request) {
			if !busy.TryLock() {
				w.WriteHeader(http.StatusConflict)
				return
			}
			defer busy.Unlock()
			answering(immediate)(w, r)
			for r.Context().Err() == nil { // the answer goes on until the client has read enough
				write(w, remotebrain.Line{Type: remotebrain.LineSay, Text: strings.Repeat("Word. ", 1000)})
			}
		}))
		t.Cleanup(server.Close)
		if d := check(t, server.URL)["serves-side-by-side"]; d.Result != remotebrain.Broken {
			t.Errorf("it is %q", d.Result)
		}
	})
}

// TestDutiesAreDocumented checks that docs/brains.md describes every duty.
func TestDutiesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/brains.md")
	if err != nil {
		t.Fatal(err)
	}
	all, err := remotebrain.Check(t.Context(), remotebrain.CheckConfig{Sender: says(""), URL: "https://brain.example", Org: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if !strings.Contains(string(page), "| `"+d.Name+"` |") {
			t.Errorf("the duty %s is not described", d.Name)
		}
	}
}
