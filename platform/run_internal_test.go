package platform

import (
	"bytes"
	"context"
	"fmt"
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

// TestRun runs the whole platform with the program's own model, speech engine and recognizer, twice on the same data folder. It must leave
// no goroutines behind.
func TestRun(t *testing.T) { //nolint:paralleltest // it counts goroutines
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c := Defaults()
	var log bytes.Buffer
	c.Data, c.SIPAddr, c.RTPPorts = t.TempDir(), "127.0.0.1:0", PortRange{}
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	c.Addr, c.PublicURL = "", "https://acme.example"
	c.Model, c.SpeechEngine, c.Recognizer = &agentstest.Model{Called: "own"}, &speechtest.Engine{}, &agentstest.Recognizer{}
	var told []Info
	for start := range 2 {
		log.Reset()
		if start > 0 {
			c.Ready = func(i Info) { told = append(told, i) }
		}
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
		checkLog(t, log.String(), i, start > 0)
		if code := get(t, p, "/readyz"); code != http.StatusServiceUnavailable {
			t.Errorf("after it has run, /readyz is %d", code)
		}
	}
	if len(told) != 1 || told[0].SIPURI == "" || told[0].RunsOn == nil {
		t.Errorf("Config.Ready was called with %+v", told)
	}
}

// checkLog checks that the log contains the readiness message and the migrations once, and never the new API key. again means a second
// start with Config.Ready: then neither the message nor migrations may be logged.
func checkLog(t *testing.T, log string, i Info, again bool) {
	t.Helper()
	ready := fmt.Sprintf("msg=ready node=%s api_url=%s dashboard_url=%s sip_uri=", Defaults().Node, i.APIURL, i.DashboardURL)
	for text, want := range map[string]int{ready: 1, "api_key_file=" + i.APIKeyFile: 1, `msg="migrated the database"`: 1, " migrations=": 1} {
		if again {
			want = 0
		}
		if got := strings.Count(log, text); got != want {
			t.Errorf("the log has %q %d times, want %d:\n%s", text, got, want, log)
		}
	}
	if i.NewAPIKey != "" && strings.Contains(log, i.NewAPIKey.Reveal()) {
		t.Error("the log shows the new key")
	}
}

func get(t *testing.T, h http.Handler, path string) int {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
	return w.Code
}

// TestNewRefuses checks that the error for an invalid setting names the setting.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(c *Config){
		"--public-url is required": func(c *Config) { c.Addr = "" },
		"--sip-addr must be":       func(c *Config) { c.SIPAddr = "pbx" },
		"--port-gateway must be":   func(c *Config) { c.PortGateway = []string{"pigeon"} },
		"platform.Defaults()":      func(c *Config) { *c = Config{} },
	} {
		c := Defaults()
		change(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
