package enginetest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/callwrighttest"
)

// Recognizer is a recognizer that also streams.
type Recognizer interface {
	conversation.Recognizer
	conversation.Streamer
}

// Vendor describes the client of a vendor's recognizer. All members but Without are required.
type Vendor struct {
	Dialect func() Dialect
	New     func(baseURL string, key callwright.Secret, client *http.Client) (Recognizer, error)
	Address string  // path and query of a session for German with the keywords "Café Zoë" and "Ana", at 8 kHz
	Without []Fault // that the protocol cannot detect
}

// vendorKey is the key of a vendor's client.
const vendorKey = "key-4711"

// RunVendor tests the client of a vendor's recognizer: the suites of recognizers and streamers, faults, the address of sessions and refusals. It
// must not run in parallel with other tests.
func RunVendor(t *testing.T, v Vendor) {
	t.Helper()
	speak := func(text string) ([]int16, int) { return Signs(text), 8000 }
	h := agentstest.RecognizerHarness{
		New:   func(t *testing.T) conversation.Recognizer { return v.start(t, &Engine{}) },
		Speak: func(_ *testing.T, text string) ([]int16, int) { return speak(text) },
	}
	agentstest.RunStreamer(t, func(t *testing.T) conversation.Streamer { return v.start(t, &Engine{}) }, h)
	agentstest.RunRecognizer(t, h)
	RunFaults(t, func(t *testing.T, f Fault, breaks func(int, string) bool) conversation.Streamer {
		return v.start(t, &Engine{Fault: f, Break: breaks})
	}, speak, v.Without...)
	callwrighttest.Sequential(t, "address", v.address)
	callwrighttest.Sequential(t, "refusals", v.refusals)
}

// start serves an engine until the test ends, and returns a client of it.
func (v Vendor) start(t *testing.T, e *Engine) Recognizer {
	t.Helper()
	e.Dialect, e.Key = v.Dialect, vendorKey
	server := e.Serve(t)
	t.Cleanup(func() {
		if invalid := e.Invalid(); len(invalid) > 0 {
			t.Errorf("the service does not know %q", invalid)
		}
	})
	c, err := v.New(server.URL, vendorKey, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// address checks the URL of a session.
func (v Vendor) address(t *testing.T) {
	e := &Engine{}
	h := conversation.Hearing{Rate: 8000, Language: "de-AT", Keywords: []string{"Café Zoë", "", "Ana"}}
	s, err := v.start(t, e).Open(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil || e.URLs()[0].String() != v.Address {
		t.Errorf("%s, %v", e.URLs()[0], err)
	}
}

// refusals checks the errors of sessions that the service refuses, which do not contain the key.
func (v Vendor) refusals(t *testing.T) {
	for status, want := range map[int]callwright.Error{
		400: {Code: callwright.CodeUnavailable, Message: "model"}, 401: {Code: callwright.CodeUnavailable, Message: "refuses the key"},
		402: {Code: callwright.CodeUnavailable, Message: "quota"}, 503: {Code: callwright.CodeUnavailable, Message: "503"},
		429: {Code: callwright.CodeTooManyRequests, Message: "limits", RetryAfter: 7 * time.Second},
	} {
		_, err := v.start(t, &Engine{Status: status}).Open(t.Context(), conversation.Hearing{Rate: 8000})
		got, ok := errors.AsType[*callwright.Error](err)
		if !ok || got.Code != want.Code || !strings.Contains(got.Message, want.Message) || got.RetryAfter != want.RetryAfter || strings.Contains(err.Error(), vendorKey) {
			t.Errorf("%d: error %v", status, err)
		}
	}
	for _, base := range []string{"ftp://host", "wss://", "wss://a:b@host", "host"} {
		if _, err := v.New(base, "", nil); err == nil {
			t.Errorf("%s is accepted", base)
		}
	}
	if c, err := v.New("", vendorKey, nil); err != nil || strings.Contains(fmt.Sprintf("%v %+v", c, c), vendorKey) {
		t.Errorf("%+v, %v", c, err)
	}
}
