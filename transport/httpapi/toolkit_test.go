package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/callwright/callwright"
	toolkit "github.com/callwright/callwright/transport/client"
	"github.com/callwright/callwright/transport/oas/callsoas"
	"github.com/callwright/callwright/transport/oas/pathwaysoas"
	"github.com/callwright/callwright/transport/oas/portingoas"
	"github.com/callwright/callwright/transport/oas/sipoas"
	"github.com/callwright/callwright/transport/oas/triageoas"
)

// toolkit returns a client of the library that uses the house's server and a key.
func (h *house) toolkit(key string) *toolkit.Client {
	h.t.Helper()
	server := httptest.NewServer(h)
	h.t.Cleanup(server.Close)
	c := must(toolkit.New(toolkit.Config{BaseURL: server.URL, APIKey: callwright.Secret(key), Retry: toolkit.Retry{Tries: 1}}))
	h.t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestToolkit calls several areas through the client library. It checks that two requests with the same idempotency key place only one
// call.
func TestToolkit(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	c := h.toolkit(h.key)
	body := map[string]string{"phone_number": theirNumber, "task": "Talk."}
	var first, second struct {
		CallID string `json:"call_id"`
	}
	for _, to := range []*struct {
		CallID string `json:"call_id"`
	}{&first, &second} {
		a, err := c.Do(t.Context(), toolkit.Request{Method: http.MethodPost, Path: "/v1/calls", Body: body, IdempotencyKey: "order-4711"})
		if err != nil || a.Decode(to) != nil {
			t.Fatalf("place: %s, %v", a.Body, err)
		}
	}
	if first.CallID == "" || first != second {
		t.Errorf("one key placed %s and %s", first.CallID, second.CallID)
	}
	if record, err := c.Calls().GetCall(t.Context(), callsoas.GetCallParams{CallID: first.CallID}); err != nil || record.CallID != first.CallID {
		t.Errorf("record: %v", err)
	}
	numbers, err := c.SIP().ListSipNumbers(t.Context())
	if err != nil || len(numbers.Data.Numbers) == 0 {
		t.Errorf("numbers: %v", err)
	}
	if _, err := c.Pathways().ListPathways(t.Context(), pathwaysoas.ListPathwaysParams{}); err != nil {
		t.Errorf("pathways: %v", err)
	}
	if _, err := c.Triage().ListIssues(t.Context(), triageoas.ListIssuesParams{}); err != nil {
		t.Errorf("issues: %v", err)
	}
}

// TestToolkitErrors checks that the client library returns a toolkit.Error for every envelope of errors.
func TestToolkitErrors(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := h.toolkit(h.key)
	poor, nobody := h.toolkit(h.poor), h.toolkit("cwk_unknown")
	ctx := t.Context()
	raw := func(c *toolkit.Client, method, path string, body any) func() error {
		return func() error {
			_, err := c.Do(ctx, toolkit.Request{Method: method, Path: path, Body: body})
			return err
		}
	}
	for name, tt := range map[string]struct {
		call   func() error
		status int
		code   string
		field  string
		is     error
	}{
		"A": {func() error {
			return second(c.Porting().GetPortRequest(ctx, portingoas.GetPortRequestParams{ID: "none"}))
		}, 404, "NOT_FOUND", "", callwright.ErrNotFound},
		"B":             {raw(c, "POST", "/v1/calls", map[string]any{"task": "x", "phone_number": theirNumber, "colour": 1}), 400, "BAD_REQUEST", "colour", callwright.ErrBadRequest},
		"B, generated":  {func() error { return second(c.Calls().GetCall(ctx, callsoas.GetCallParams{CallID: "none"})) }, 404, "NOT_FOUND", "", callwright.ErrNotFound},
		"triage":        {raw(c, "GET", "/v1/triage/issues/00000000-0000-4000-8000-000000000000", nil), 404, "not_found", "", callwright.ErrNotFound},
		"no key":        {raw(nobody, "GET", "/v1/voices", nil), 401, "AUTH_FAILURE", "", callwright.ErrAuthFailure},
		"not entitled":  {func() error { return second(poor.SIP().ListSipNumbers(ctx)) }, 403, "FEATURE_NOT_ENABLED", "", callwright.ErrFeatureNotEnabled},
		"no such path":  {raw(c, "GET", "/v1/nothing", nil), 404, "NOT_FOUND", "", callwright.ErrNotFound},
		"wrong method":  {raw(c, "DELETE", "/v1/voices", nil), 405, "METHOD_NOT_ALLOWED", "", callwright.ErrMethodNotAllowed},
		"query":         {func() error { return second(c.SIP().ListSipCalls(ctx, sipoas.ListSipCallsParams{})) }, 400, "BAD_REQUEST", "phone_number", callwright.ErrBadRequest},
		"speech, empty": {func() error { return second(c.Speak(ctx, toolkit.SpeakRequest{})) }, 400, "BAD_REQUEST", "text", callwright.ErrBadRequest},
	} {
		err := tt.call()
		failed, ok := errors.AsType[*toolkit.Error](err)
		if !ok || failed.Status != tt.status || failed.Code != tt.code || failed.Field != tt.field || !errors.Is(err, tt.is) ||
			len(failed.Body) == 0 || failed.RequestID == "" {
			t.Errorf("%s: got %#v (%v)", name, failed, err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.ListVoices(ctx, toolkit.VoiceFilter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
