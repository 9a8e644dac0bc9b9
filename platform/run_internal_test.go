package platform

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/speech/speechtest"
)

// TestRun has the whole platform run with parts of the program, twice on one data folder, and leave nothing behind.
func TestRun(t *testing.T) { //nolint:paralleltest // it counts goroutines
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c := Defaults()
	c.Data, c.SIPAddr, c.RTPPorts, c.Logger = t.TempDir(), "127.0.0.1:0", PortRange{}, slog.New(slog.DiscardHandler)
	c.Addr, c.PublicURL = "", "https://acme.example"
	c.Model, c.Synthesizer, c.Recognizer = &agentstest.Model{Called: "own"}, &speechtest.Engine{}, &agentstest.Recognizer{}
	for start := range 2 {
		p, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		if code := get(t, p, "/readyz"); code != http.StatusServiceUnavailable {
			t.Errorf("before it runs, /readyz is %d", code)
		}
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		i := p.Info()
		if code := get(t, p, "/readyz"); code != http.StatusOK || i.DashboardURL != "https://acme.example/" || (i.NewAPIKey == "") != (start > 0) {
			t.Errorf("/readyz is %d, info %+v", code, i)
		}
		if text := i.RunsOn[1]; text.Name != "model" || text.By != "own" {
			t.Errorf("it runs on %+v", i.RunsOn)
		}
		if o, err := p.Services().Access.Organization(t.Context(), FirstOrganization); err != nil || o.Name == "" {
			t.Errorf("the first organization is %+v, %v", o, err)
		}
		if _, err := os.Stat(serverFilePath(c)); err != nil {
			t.Error(err)
		}
		other, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "is in use by another server") {
			t.Errorf("a second one on the folder starts with %v", err)
		}
		if err := p.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if code := get(t, p, "/readyz"); code != http.StatusServiceUnavailable {
			t.Errorf("after it has run, /readyz is %d", code)
		}
	}
}

func get(t *testing.T, h http.Handler, path string) int {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
	return w.Code
}

// TestNewRefuses checks that errors name the setting.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(c *Config){
		"--public-url is required": func(c *Config) { c.Addr = "" },
		"--sip-addr must be":       func(c *Config) { c.SIPAddr = "pbx" },
		"--port-gateway must be":   func(c *Config) { c.PortGateway = []string{"pigeon"} },
	} {
		c := Defaults()
		change(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
