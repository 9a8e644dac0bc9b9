package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

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
		"/docs/start.js":             {"text/javascript; charset=utf-8", "/openapi.yaml"},
	} {
		answer := h.do("GET", target, "", header{"Authorization", ""})
		if answer.Code != 200 || !strings.Contains(answer.Body.String(), want.part) ||
			want.kind != "" && answer.Header().Get("Content-Type") != want.kind {
			t.Errorf("%s: %d %s", target, answer.Code, answer.Header().Get("Content-Type"))
		}
	}
	if answer := h.do("GET", "/docs", ""); answer.Code != 301 || answer.Header().Get("Location") != "/docs/" {
		t.Errorf("/docs: %d %v", answer.Code, answer.Header())
	}
	h.want(404, "GET", "/docs/index.html", "")
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

func TestConfigurationWithoutItsPortsIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := httpapi.New(httpapi.Config{}); err == nil {
		t.Error("an empty configuration was accepted")
	}
}
