package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/oas"
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

// bearer is the generated client's source of the key.
type bearer string

func (b bearer) ApiKey(context.Context, oas.OperationName) (oas.ApiKey, error) {
	return oas.ApiKey{APIKey: "Bearer " + string(b)}, nil
}

func TestGeneratedClient(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	server := httptest.NewServer(h)
	defer server.Close()
	client, err := oas.NewClient(server.URL, bearer(h.key), oas.WithClient(server.Client()))
	if err != nil {
		t.Fatal(err)
	}
	created, err := client.CreateCall(t.Context(), &oas.CallCreate{
		PhoneNumber: theirNumber, Task: oas.NewOptString("Talk."),
	}, oas.CreateCallParams{})
	if err != nil {
		t.Fatal(err)
	}
	record, err := client.GetCall(t.Context(), oas.GetCallParams{CallID: created.CallID})
	if err != nil || record.QueueStatus != oas.QueueStatusQueued {
		t.Errorf("record %+v, %v", record, err)
	}
	_, err = client.ListVoices(t.Context())
	var failure *oas.ErrorStatusCodeWithHeaders
	if !errors.As(err, &failure) || failure.StatusCode != http.StatusNotImplemented ||
		failure.Response.Errors[0].ErrorDetail.Error != string(callwright.CodeNotImplemented) {
		t.Errorf("listing voices: %v", err)
	}
}
