package agenttesttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
)

// catches checks that a request without a mock is recorded without credentials and answered with {}.
func catches(t *testing.T, r engine.PathwayRunner) {
	c := begin(t, r, spec())
	c.open()
	got := c.say("slots day=Tuesday")
	if got.Node != "full" || !slices.Equal(got.Visits, []string{"slots", "full"}) || len(got.Webhooks) != 1 {
		t.Fatalf("the turn is %+v", got)
	}
	w := got.Webhooks[0]
	if w.Node+" "+w.Method != "slots POST" || string(w.Body) != `{"day": "Tuesday"}` || w.Turn != 0 || w.Visit != 1 || w.At.IsZero() {
		t.Errorf("the request is %+v", w)
	}
	if want := "https://shop.example.com/slots?api_key=" + callwright.Redacted + "&day=Tuesday"; w.URL != want {
		t.Errorf("the URL is %s, want %s", w.URL, want)
	}
	if w.Header["X-Shop"] != "north" || w.Header["Content-Type"] != "application/json" {
		t.Errorf("the headers are %v", w.Header)
	}
	if shown := fmt.Sprintf("%+v", w); strings.Contains(shown, "0123456789") || strings.Contains(shown, "passphrase") {
		t.Errorf("the request shows a credential: %s", shown)
	}
	if !slices.ContainsFunc(got.Notes, func(n engine.Note) bool { return n.Kind == "tool_call" && n.Node == "slots" }) {
		t.Errorf("the notes are %+v", got.Notes)
	}
	if next := c.say("hm"); len(next.Webhooks) != 0 {
		t.Errorf("the next turn has the requests %+v", next.Webhooks)
	}
}

// mocks checks that the first matching mock answers a request.
func mocks(t *testing.T, r engine.PathwayRunner) {
	free := func(n int) json.RawMessage { return encode(fields{"free": n}) }
	const address = "https://shop.example.com/slots?api_key=0123456789&day=Tuesday"
	for name, test := range map[string]struct {
		mocks []scenario.WebhookMock
		text  string
	}{
		"any":               {[]scenario.WebhookMock{{Body: free(1)}}, "There are 1."},
		"the first":         {[]scenario.WebhookMock{{Body: free(1)}, {Body: free(2)}}, "There are 1."},
		"the node":          {[]scenario.WebhookMock{{Node: "talk", Body: free(1)}, {Node: "slots", Body: free(2)}}, "There are 2."},
		"the method":        {[]scenario.WebhookMock{{Method: "GET", Body: free(1)}, {Method: "post", Body: free(2)}}, "There are 2."},
		"the URL":           {[]scenario.WebhookMock{{URL: address + "s", Body: free(1)}, {URL: address, Body: free(2)}}, "There are 2."},
		"a part of the URL": {[]scenario.WebhookMock{{URL: "https://shop.example.com/slots", Body: free(1)}}, "All is taken."},
		"a pattern":         {[]scenario.WebhookMock{{URL: "*/look*", Body: free(1)}, {URL: "https://*/slots?*", Body: free(2)}}, "There are 2."},
		"all of it":         {[]scenario.WebhookMock{{Node: "slots", Method: "POST", URL: "*", Body: free(3)}}, "There are 3."},
		"a status":          {[]scenario.WebhookMock{{Status: 500, Body: free(4)}}, "There are 4."},
		"no connection":     {[]scenario.WebhookMock{{Fault: scenario.ConnectionError, Body: free(1)}}, "All is taken."},
		"a timeout":         {[]scenario.WebhookMock{{Fault: scenario.Timeout, Body: free(1)}}, "All is taken."},
		"no body":           {[]scenario.WebhookMock{{Status: 204}}, "All is taken."},
	} {
		s := spec()
		s.Webhooks = test.mocks
		c := begin(t, r, s)
		c.open()
		got := c.say("slots day=Tuesday")
		if got.Text != test.text || len(got.Webhooks) != 1 {
			t.Errorf("%s: the turn is %+v, want %q", name, got, test.text)
		}
		wrong := slices.ContainsFunc(got.Notes, func(n engine.Note) bool { return n.Kind == "tool_call" && strings.Contains(n.Text, "failed") })
		if failed := slices.Contains([]string{"a status", "no connection", "a timeout"}, name); wrong != failed {
			t.Errorf("%s: the notes are %+v", name, got.Notes)
		}
	}
}

// catchesTools checks that the recorded requests of concurrent tool calls are in the order of the calls.
func catchesTools(t *testing.T, r engine.PathwayRunner) {
	s := spec()
	s.StartNode = "talk"
	s.Webhooks = []scenario.WebhookMock{{Node: "talk", URL: "*/x", Body: encode(fields{"seen": "x"})}, {Body: encode(fields{"seen": "nothing"})}}
	c := begin(t, r, s)
	c.open()
	got := c.say("look:z+y+x+w+v+u+x")
	var urls []string
	for _, w := range got.Webhooks {
		urls = append(urls, strings.TrimPrefix(w.URL, "https://shop.example.com/look/"))
		if w.Node+" "+w.Method != "talk GET" || w.Visit != 0 || len(w.Body) != 0 {
			t.Errorf("a request is %+v", w)
		}
	}
	if !slices.Equal(urls, []string{"z", "y", "x", "w", "v", "u", "x"}) || got.Variables["seen"] != "x" {
		t.Errorf("the requests are %v, the variables %v", urls, got.Variables)
	}
}
