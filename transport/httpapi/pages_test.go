package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
)

func TestOperationalPages(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *httpapi.Config) {
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("calls_live 0\n")) })
	})
	for target, want := range map[string]struct{ kind, part string }{
		"/healthz":                   {"text/plain; charset=utf-8", "ok\n"},
		"/readyz":                    {"text/plain; charset=utf-8", "ready\n"},
		"/metrics":                   {"", "calls_live 0\n"},
		"/openapi.yaml":              {"application/yaml; charset=utf-8", "openapi: 3.1.0\n"},
		"/docs/":                     {"text/html; charset=utf-8", "swagger-ui-bundle.js"},
		"/docs/swagger-ui-bundle.js": {"text/javascript; charset=utf-8", "SwaggerUIBundle"},
		"/docs/swagger-ui.css":       {"text/css; charset=utf-8", ".swagger-ui"},
		"/docs/start.js":             {"text/javascript; charset=utf-8", `"openapi.yaml"`},
		"/docs/openapi.yaml":         {"application/yaml; charset=utf-8", "openapi: 3.1.0\n"},
	} {
		answer := h.do("GET", target, "", header{"Authorization", ""})
		if !httpapi.Serves(target) || answer.Code != 200 || !strings.Contains(answer.Body.String(), want.part) ||
			want.kind != "" && answer.Header().Get("Content-Type") != want.kind {
			t.Errorf("%s: %d %s", target, answer.Code, answer.Header().Get("Content-Type"))
		}
	}
	if answer := h.do("GET", "/docs", ""); answer.Code != 301 || answer.Header().Get("Location") != "docs/" {
		t.Errorf("/docs: %d %v", answer.Code, answer.Header())
	}
	h.want(404, "GET", "/docs/index.html", "")
}

// TestOperationalPagesAreInTheContract requests each operational page without a key, from a complete server and from a server that is not
// ready and lacks optional pages. The contract must name each answer.
func TestOperationalPagesAreInTheContract(t *testing.T) {
	t.Parallel()
	full := open(t, func(c *httpapi.Config) {
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			_, _ = w.Write([]byte("calls_live 0\n"))
		})
	})
	bare := open(t, func(c *httpapi.Config) {
		c.Reference = nil
		c.Ready = func(context.Context) error { return callwright.ErrUnavailable }
	})
	pages := map[string]bool{}
	document, _ := contract()
	for path, item := range document.Paths.PathItems.FromOldest() {
		if item.Get == nil || !slices.Contains(item.Get.Tags, "Operations") {
			continue
		}
		pages[path] = true
		for _, h := range []*house{full, bare} {
			answer := h.do("GET", path, "", header{"Authorization", ""})
			response := item.Get.Responses.Codes.GetOrZero(strconv.Itoa(answer.Code))
			if response == nil {
				t.Errorf("%s answers %d, which the contract does not name", path, answer.Code)
				continue
			}
			kind, _, _ := strings.Cut(answer.Header().Get("Content-Type"), ";")
			if response.Content != nil && response.Content.GetOrZero(kind) == nil {
				t.Errorf("%s answers %d with the type %q, which the contract does not name", path, answer.Code, kind)
			}
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.yaml", "/docs"} {
		if !pages[path] {
			t.Errorf("the contract lacks %s", path)
		}
	}
}

// TestServedContract checks that /openapi.yaml names the server's public URL, and that /docs/openapi.yaml, which the pages load, refers to
// the URL at which the pages are opened. Both must mark the operations that are not built.
func TestServedContract(t *testing.T) {
	t.Parallel()
	type contract struct {
		Servers []struct{ URL string }
		Paths   map[string]map[string]struct {
			Summary   string
			Responses map[string]struct {
				Ref string `yaml:"$ref"`
			}
		}
	}
	h := open(t)
	for path, want := range map[string]string{"/openapi.yaml": "https://voice.example.com", "/docs/openapi.yaml": ".."} {
		var c contract
		if err := yaml.Unmarshal(h.do("GET", path, "").Body.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if len(c.Servers) != 1 || c.Servers[0].URL != want {
			t.Errorf("%s: servers %v, want %s", path, c.Servers, want)
		}
		for below := range c.Paths {
			if !httpapi.Serves(below) {
				t.Errorf("an API is not given %s", below)
			}
		}
		if len(c.Paths) < 50 {
			t.Errorf("%s: %d paths", path, len(c.Paths))
		}
	}
}

func TestNotReady(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *httpapi.Config) {
		c.Ready = func(context.Context) error { return errors.New("the database at 10.0.0.7 is down") }
	})
	answer := h.do("GET", "/readyz", "")
	if answer.Code != 503 || strings.Contains(answer.Body.String(), "10.0.0.7") || !strings.Contains(h.log.String(), "10.0.0.7") {
		t.Errorf("%d %s; log %s", answer.Code, answer.Body, h.log)
	}
	stopping := open(t, func(c *httpapi.Config) {
		c.Ready = func(context.Context) error {
			return callwright.Errorf(callwright.CodeUnavailable, "the server is stopping")
		}
	})
	if answer := stopping.do("GET", "/readyz", ""); answer.Code != 503 || !strings.Contains(answer.Body.String(), "not ready: the server is stopping") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	if answer := h.do("GET", "/healthz", ""); answer.Code != 200 {
		t.Errorf("a node that is not ready is alive: %d", answer.Code)
	}
}

// TestReadyWithWarnings checks that a server with warnings is ready, and lists the warnings.
func TestReadyWithWarnings(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *httpapi.Config) { c.Warnings = func() []string { return []string{"the certificate expires"} } })
	if answer := h.do("GET", "/readyz", ""); answer.Code != 200 || answer.Body.String() != "ready\nwarning: the certificate expires\n" {
		t.Errorf("%d %q", answer.Code, answer.Body)
	}
}

func TestConfigurationWithoutItsPortsIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := httpapi.New(httpapi.Config{}); err == nil {
		t.Error("an empty configuration was accepted")
	}
}
