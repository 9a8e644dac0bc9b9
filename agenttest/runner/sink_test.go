package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agenttest/runner"
	"github.com/callwright/callwright/agenttest/scenario"
)

// TestSinkWaits checks that a sink waits for the delay of a mock, and that it reports a timeout immediately instead of waiting for it.
func TestSinkWaits(t *testing.T) {
	t.Parallel()
	const limit = 5 * time.Second
	for name, test := range map[string]struct {
		mock  scenario.WebhookMock
		limit time.Duration
		took  time.Duration
		err   string // empty means a response
	}{
		"at once":       {scenario.WebhookMock{}, limit, 0, ""},
		"a delay":       {scenario.WebhookMock{Delay: 2 * time.Second}, limit, 2 * time.Second, ""},
		"a long delay":  {scenario.WebhookMock{Delay: 30 * time.Second}, limit, 0, "no answer within 5s"},
		"a timeout":     {scenario.WebhookMock{Delay: time.Second, Fault: scenario.Timeout}, limit, 0, "no answer within 5s"},
		"the usual one": {scenario.WebhookMock{Fault: scenario.Timeout}, 0, 0, "no answer within 10s"},
		"the longest":   {scenario.WebhookMock{Delay: 20 * time.Second}, time.Minute, 0, "no answer within 15s"},
		"no connection": {scenario.WebhookMock{Delay: time.Second, Fault: scenario.ConnectionError}, limit, time.Second, "the connection failed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, began := runner.NewSink([]scenario.WebhookMock{test.mock}), time.Now()
			answer, err := s.Do(t.Context(), request.Request{Method: "GET", URL: "https://example.com/", Timeout: test.limit})
			if took := time.Since(began); took != test.took {
				t.Errorf("%s: it took %s, want %s", name, took, test.took)
			}
			if test.err == "" && (err != nil || answer.Status != 200 || string(answer.Body) != "{}") {
				t.Errorf("%s: %+v, error %v", name, answer, err)
			}
			if test.err != "" && (callwright.CodeOf(err) != callwright.CodeUnavailable || !strings.HasPrefix(callwright.MessageOf(err), test.err)) {
				t.Errorf("%s: error %v, want %q", name, err, test.err)
			}
		})
	}
}

func TestSinkEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s, began := runner.NewSink([]scenario.WebhookMock{{URL: "*/late", Fault: scenario.Timeout}, {Delay: 9 * time.Second}}), time.Now()
		if _, err := s.Do(ctx, request.Request{URL: "https://example.com/"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %s", took)
		}
		if len(s.Drain()) != 1 {
			t.Error("the request is not recorded")
		}
		if _, err := s.Do(ctx, request.Request{URL: "https://example.com/late"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error of a timeout is %v", err)
		}
	})
}

// TestSinkRecords checks that recorded requests are bounded, valid JSON, and without credentials.
func TestSinkRecords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 100_000)
	for name, test := range map[string]struct {
		request request.Request
		body    string // the beginning of the body
		url     string
	}{
		"JSON":        {request.Request{Body: []byte(`{"a": 1}`), URL: "https://example.com/a?b=c"}, `{"a": 1}`, "https://example.com/a?b=c"},
		"a form":      {request.Request{Body: []byte("a=1&b=2"), URL: "https://u@example.com/"}, `"a=1`, "https://example.com/"},
		"no text":     {request.Request{Body: []byte("\xff"), URL: "https://example.com/@a"}, `"` + "\uFFFD" + `"`, "https://example.com/@a"},
		"long JSON":   {request.Request{Body: []byte(`"` + long + `"`), URL: "https://example.com/" + long}, `"\"é`, "https://example.com/"},
		"an API key":  {request.Request{URL: "https://example.com/?token=0123456789"}, "", "https://example.com/?token=[redacted]"},
		"no URL":      {request.Request{URL: "::@"}, "", "::@"},
		"its header":  {request.Request{URL: "https://example.com/", Header: []request.Pair{{Name: "Authorization", Value: "secret-1"}}}, "", "https://example.com/"},
		"its cookie":  {request.Request{URL: "https://example.com/", Header: []request.Pair{{Name: "Cookie", Value: "a=secret-1"}}}, "", "https://example.com/"},
		"some bearer": {request.Request{URL: "https://example.com/", Header: []request.Pair{{Name: "X", Value: "Bearer secret-123"}}}, "", "https://example.com/"},
	} {
		s := runner.NewSink(nil)
		if _, err := s.Do(t.Context(), test.request); err != nil {
			t.Fatal(err)
		}
		w := s.Drain()[0]
		if !strings.HasPrefix(string(w.Body), test.body) || !strings.HasPrefix(w.URL, test.url) {
			t.Errorf("%s: it is %s with %.50s", name, w.URL, w.Body)
		}
		if shown := fmt.Sprint(w.URL, w.Header); len(shown) > 10_000 || strings.Contains(shown, "secret-") {
			t.Errorf("%s: it has %d bytes, or shows a secret", name, len(shown))
		}
		if len(w.Body) > 20_000 || len(w.Body) > 0 && !json.Valid(w.Body) {
			t.Errorf("%s: its body has %d bytes, or is no JSON", name, len(w.Body))
		}
	}
	s := runner.NewSink(nil)
	twice := []request.Pair{{Name: "X-A", Value: "1"}, {Name: "X-A", Value: "2"}}
	if _, err := s.Do(t.Context(), request.Request{URL: "https://example.com/", Header: twice}); err != nil {
		t.Fatal(err)
	}
	if got := s.Drain()[0].Header["X-A"]; got != "1, 2" {
		t.Errorf("a header that is there twice is %q", got)
	}
	if len(s.Drain()) != 0 {
		t.Error("it returns requests twice")
	}
}

func TestSinkTogether(t *testing.T) {
	t.Parallel()
	s := runner.NewSink(nil)
	var sending sync.WaitGroup
	for i := range 50 {
		sending.Go(func() { _, _ = s.Do(t.Context(), request.Request{URL: "https://example.com/", Place: i}) })
	}
	sending.Wait()
	if caught := s.Drain(); len(caught) != 50 {
		t.Errorf("it has %d requests", len(caught))
	}
	if err := s.CheckURL("https://10.0.0.1/"); err != nil {
		t.Errorf("it refuses an address to which it sends nothing: %v", err)
	}
}
