package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/webhook"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func sender(t *testing.T, allowPrivate bool) *webhook.Sender {
	t.Helper()
	tenants := orgstore.Tenants{Store: memstore.New()}
	err := tenants.InsertOrganization(t.Context(), callwright.Organization{ID: "a", WebhookSecret: secret})
	if err != nil {
		t.Fatal(err)
	}
	s, err := webhook.New(webhook.Config{Tenants: tenants, AllowPrivate: allowPrivate})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// receiver starts a server that answers with a status and a header, and sends the received requests to the returned channel.
func receiver(t *testing.T, status int, header http.Header) (*httptest.Server, <-chan *http.Request) {
	t.Helper()
	got := make(chan *http.Request, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r = r.Clone(context.WithValue(context.Background(), bodyKey{}, body))
		got <- r
		for name := range header {
			w.Header().Set(name, header.Get(name))
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server, got
}

type bodyKey struct{}

func TestSendSigns(t *testing.T) {
	t.Parallel()
	server, got := receiver(t, http.StatusOK, nil)
	body := []byte(`{"call_id":"c1"}`)
	if err := sender(t, true).Send(t.Context(), "a", "c1", server.URL, body); err != nil {
		t.Fatal(err)
	}
	r := <-got
	received, _ := r.Context().Value(bodyKey{}).([]byte)
	if string(received) != string(body) {
		t.Errorf("received %q", received)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(received)
	if want := hex.EncodeToString(mac.Sum(nil)); r.Header.Get("X-Webhook-Signature") != want {
		t.Errorf("signature %q, want %q", r.Header.Get("X-Webhook-Signature"), want)
	}
	standard, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := standard.Verify(received, r.Header); err != nil {
		t.Errorf("the published library refuses the signature: %v", err)
	}
}

func TestSendAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		header http.Header
		code   callwright.Code
		wait   time.Duration
	}{
		"created":     {http.StatusCreated, nil, "", 0},
		"gone":        {http.StatusGone, nil, callwright.CodeForbidden, 0},
		"redirect":    {http.StatusFound, http.Header{"Location": {"/elsewhere"}}, callwright.CodeForbidden, 0},
		"unavailable": {http.StatusServiceUnavailable, nil, callwright.CodeUnavailable, 0},
		"timeout":     {http.StatusRequestTimeout, nil, callwright.CodeUnavailable, 0},
		"limited":     {http.StatusTooManyRequests, http.Header{"Retry-After": {"7"}}, callwright.CodeUnavailable, 7 * time.Second},
		"far off":     {http.StatusTooManyRequests, http.Header{"Retry-After": {"999999"}}, callwright.CodeUnavailable, time.Hour},
		"nonsense":    {http.StatusTooManyRequests, http.Header{"Retry-After": {"soon"}}, callwright.CodeUnavailable, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, got := receiver(t, test.status, test.header)
			err := sender(t, true).Send(t.Context(), "a", "c1", server.URL, []byte("{}"))
			if wait, _ := callwright.RetryAfter(err); callwright.CodeOf(err) != test.code || wait != test.wait {
				t.Errorf("got %v after %s", err, wait)
			}
			if len(got) != 1 {
				t.Errorf("%d requests came", len(got))
			}
		})
	}
}

func TestSendRefusesPrivateAddresses(t *testing.T) {
	t.Parallel()
	server, got := receiver(t, http.StatusOK, nil)
	s := sender(t, false)
	// CheckURL accepts the name, because it resolves no names. The dialer then refuses the address.
	_, port, _ := splitURL(server.URL)
	if err := s.Send(t.Context(), "a", "c1", "https://localhost:"+port, nil); !errors.Is(err, callwright.ErrForbidden) ||
		!strings.Contains(callwright.MessageOf(err), "use a public host") {
		t.Errorf("a loopback address gave %v", err)
	}
	if len(got) != 0 {
		t.Error("the receiver was reached")
	}
}

func splitURL(text string) (host, port string, err error) {
	r, err := http.NewRequest(http.MethodGet, text, nil) //nolint:noctx // only parsed, never sent
	if err != nil {
		return "", "", err
	}
	return r.URL.Hostname(), r.URL.Port(), nil
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	public, private := sender(t, false), sender(t, true)
	for text, want := range map[string][2]bool{ // accepted without and with AllowPrivate
		"https://example.com/hook?x=1":      {true, true},
		"http://example.com/":               {false, true},
		"https://127.0.0.1/":                {false, true},
		"https://[::1]/":                    {false, true},
		"https://10.0.0.1/":                 {false, true},
		"https://169.254.169.254/":          {false, true},
		"https://100.64.0.1/":               {false, true},
		"https://[::ffff:127.0.0.1]/":       {false, true},
		"https://[64:ff9b::a00:1]/":         {false, true},
		"https://my_host.example/":          {true, true},
		"https://user:pw@example.com/":      {false, false},
		"https://[fe80::1%25eth0]/":         {false, false},
		"https://127\u30020\u30020\u30021/": {false, false}, // IDNA converts these to full stops
		"https://\uff11\uff12\uff17.0.0.1/": {false, false}, // IDNA converts these to digits
		"https://example.com:0/":            {false, false},
		"https://example.com:99999/":        {false, false},
		"https://example.com:8443/":         {true, true},
		"ftp://example.com/":                {false, false},
		"example.com":                       {false, false},
		"":                                  {false, false},
		"https://":                          {false, false},
		"https://a b/":                      {false, false},
	} {
		for i, s := range []*webhook.Sender{public, private} {
			err := s.CheckURL(text)
			if (err == nil) != want[i] || err != nil && !errors.Is(err, callwright.ErrBadRequest) {
				t.Errorf("sender %d: %q gave %v", i, text, err)
			}
		}
	}
}

// TestSendEnds checks that Send returns when the receiver switches protocols and then hangs. No timeout would interrupt a read from such a
// connection.
func TestSendEnds(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		_, _ = io.Copy(io.Discard, c)
	}))
	t.Cleanup(server.Close)
	err := sender(t, true).Send(t.Context(), "a", "c1", server.URL, []byte("{}"))
	if callwright.CodeOf(err) != callwright.CodeUnavailable {
		t.Errorf("got %v", err)
	}
}

// TestFailureHidesURL checks that the error for an unreachable receiver hides the URL: errors are logged, and the URL may contain a secret.
func TestFailureHidesURL(t *testing.T) {
	t.Parallel()
	server, _ := receiver(t, http.StatusOK, nil)
	server.Close()
	err := sender(t, true).Send(t.Context(), "a", "c1", server.URL+"/hook?token=hush", []byte("{}"))
	if callwright.CodeOf(err) != callwright.CodeUnavailable || strings.Contains(err.Error(), "hush") {
		t.Errorf("got %v", err)
	}
	for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
		if strings.Contains(cause.Error(), "hush") {
			t.Errorf("its cause is %v", cause)
		}
	}
}
