package remotebrain_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/remotebrain"
	"github.com/callwright/callwright/adapters/webhook"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// sender returns a Sender that signs with a secret and reaches loopback.
func sender(t testing.TB, secret callwright.Secret) *webhook.Sender {
	t.Helper()
	tenants := orgstore.Tenants{Store: memstore.New()}
	if err := tenants.InsertOrganization(t.Context(), callwright.Organization{ID: "acme", WebhookSecret: secret}); err != nil {
		t.Fatal(err)
	}
	s, err := webhook.New(webhook.Config{Tenants: tenants, AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// answering returns a handler whose answers a function returns.
func answering(answer func(w http.ResponseWriter, r remotebrain.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request remotebrain.Request
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		answer(w, request)
	}
}

// serve runs a service whose answers a function returns, and returns its URL.
func serve(t testing.TB, answer func(w http.ResponseWriter, r remotebrain.Request)) string {
	t.Helper()
	server := httptest.NewServer(answering(answer))
	t.Cleanup(server.Close)
	return server.URL
}

// write writes lines, each as soon as possible.
func write(w http.ResponseWriter, lines ...remotebrain.Line) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	for _, l := range lines {
		text, err := json.Marshal(l)
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(append(text, '\n'))
		_ = http.NewResponseController(w).Flush()
	}
}

// deliberate answers from the request alone, with every kind of step. Its effects wait for the turn to be certain.
func deliberate(w http.ResponseWriter, r remotebrain.Request) {
	said := fmt.Sprintf("You said %s. I have %d messages, and heard %q.", r.Turn.Text, len(r.Messages), r.Turn.Heard)
	if r.Said == "" {
		write(w, remotebrain.Line{Type: remotebrain.LineBargeIn, Level: new(3)}, remotebrain.Line{Type: remotebrain.LineSay, Text: said},
			remotebrain.Line{Type: remotebrain.LineExpect, Kind: "digits", Min: 4, Max: 6},
			remotebrain.Line{Type: remotebrain.LineText, Text: "What "}, remotebrain.Line{Type: remotebrain.LineText, Text: "else?"},
			remotebrain.Line{Type: remotebrain.LineWait, Seconds: 30})
	}
	if r.Early {
		write(w, remotebrain.Line{Type: remotebrain.LineCommit})
		return
	}
	count, _ := r.Variables["count"].(float64)
	write(w, remotebrain.Line{Type: remotebrain.LineSet, Variables: map[string]any{"count": count + 1}},
		remotebrain.Line{Type: remotebrain.LinePress, Digits: "1#"}, remotebrain.Line{Type: remotebrain.LineSay, Text: fmt.Sprint("Turn ", count+1, ".")})
	switch {
	case strings.Contains(r.Turn.Text, "bye"):
		write(w, remotebrain.Line{Type: remotebrain.LineEnd, Reason: "they said goodbye"})
	case strings.Contains(r.Turn.Text, "person"):
		write(w, remotebrain.Line{Type: remotebrain.LineTransfer})
	default:
		write(w, remotebrain.Line{Type: remotebrain.LineDone, Early: true})
	}
}

// immediate answers from the request alone, and leaves it to Callwright to hold back the effects.
func immediate(w http.ResponseWriter, r remotebrain.Request) {
	r.Early = false
	deliberate(w, r)
}

// brain returns a brain at a URL.
func brain(t testing.TB, url string, change func(*remotebrain.Config)) *remotebrain.Brain {
	t.Helper()
	c := remotebrain.Config{
		Sender: sender(t, secret), URL: url, Org: "acme", Conversation: "call-1", Language: "en", TransferTo: "+14155550100",
		Direction: remotebrain.Inbound, Variables: map[string]any{"name": "Robin"},
	}
	if change != nil {
		change(&c)
	}
	b, err := remotebrain.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBrain(t *testing.T) {
	t.Parallel()
	for name, service := range map[string]func(http.ResponseWriter, remotebrain.Request){"commits": deliberate, "does not commit": immediate} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := serve(t, service)
			agentstest.RunBrain(t, func(t *testing.T) conversation.Brain { return brain(t, url, nil) })
		})
	}
}
