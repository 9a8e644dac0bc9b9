package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/tool"
)

// call returns a tool call by a model.
func call(name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: "1", Name: name, Arguments: json.RawMessage(arguments)}
}

func TestCall(t *testing.T) {
	t.Parallel()
	s := set(t, booking)
	client := &agentstest.Requests{Answer: agentstest.JSON(`{"id": 9007199254740993, "slot": {"time": "19:00"}, "secret": "x"}`)}
	variables := map[string]any{"restaurant": "a/b", "tenant": "t-1"}
	wanted := call("BookTable", `{"day": "2026-05-04", "seats": 2, "name": "Ada"}`)
	if got := s.Speech(t.Context(), wanted, variables); got != "One moment, I am looking at 2026-05-04, Ada." {
		t.Errorf("the speech is %q", got)
	}
	r := s.Call(t.Context(), client, "org", wanted, variables)
	sent := client.Made()[0]
	if sent.Org != "org" || sent.Method != http.MethodPost || sent.URL != "https://example.com/a%2Fb/bookings?day=2026-05-04&dry=false" || sent.Timeout != 2500*time.Millisecond {
		t.Errorf("sent %+v", sent)
	}
	if want := `{"seats": "2", "who": "Ada", "all": ["{\"day\":\"2026-05-04\",\"name\":\"Ada\",\"seats\":2}"]}`; string(sent.Body) != want {
		t.Errorf("sent %s, want %s", sent.Body, want)
	}
	header := []request.Pair{{Name: "X-Null", Value: ""}, {Name: "X-Retry", Value: "3"}, {Name: "X-Tenant", Value: "t-1"}, {Name: "Content-Type", Value: "application/json"}}
	if !reflect.DeepEqual(sent.Header, header) {
		t.Errorf("sent %v", sent.Header)
	}
	if want := `{"answer":{"at":"19:00","booking":9007199254740993}}`; r.Text != want {
		t.Errorf("the model is told %s, want %s", r.Text, want)
	}
	if want := map[string]any{"at": "19:00", "booking": int64(9007199254740993)}; !reflect.DeepEqual(r.Log.Variables, want) || r.Log.Name != "BookTable" {
		t.Errorf("the log is %+v", r.Log)
	}
}

// TestVariablesWin checks that a model's arguments replace no variable of the conversation, and that arguments that the schema does not
// name become no variables. Under "input", templates see all arguments.
func TestVariablesWin(t *testing.T) {
	t.Parallel()
	s := set(t, minimal("x", `, "method": "POST", "body": "{{customer}} {{note}} {{admin}} {{input.customer}} {{input.admin}}",
		"input_schema": {"properties": {"customer": {}, "note": {}}}`))
	client := &agentstest.Requests{}
	arguments := `{"customer": "evil", "note": "{{customer}}", "admin": "yes", "input": "x"}`
	s.Call(t.Context(), client, "org", call("x", arguments), map[string]any{"customer": "c-1", "input": map[string]any{"admin": "no"}})
	s.Call(t.Context(), client, "org", call("x", arguments), nil)
	for i, want := range []string{"c-1 {{customer}}  evil yes", "evil {{customer}}  evil yes"} {
		if got := string(client.Made()[i].Body); got != want {
			t.Errorf("sent %q, want %q", got, want)
		}
	}
}

// TestRefusals checks that no request is sent if the tool is unknown, or if the arguments are malformed, too long or violate the schema,
// and that the model receives the reason.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := set(t, booking, minimal("free", ""), minimal("none", `, "input_schema": {"additionalProperties": {"type": "null"}}`))
	for _, test := range []struct{ name, arguments, want string }{
		{"other", `{}`, "unknown tool"},
		{"BookTable", ``, "missing property 'day'"},
		{"BookTable", `{}`, "missing property 'day'"},
		{"BookTable", `{"day": "monday"}`, "/day 'monday' does not match"},
		{"BookTable", `{"day": "1", "seats": "two"}`, "/seats got string, want integer"},
		{"BookTable", `{"day": "1", "seats": 0}`, "/seats minimum"},
		{"BookTable", `{"day": "1", "seats": 1e999999999}`, "/seats got string, want integer"},
		{"BookTable", `{"day": 1, "seats": [], "name": {}}`, "; "},
		{"none", `{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7}`, "got number, want null; "},
		{"free", `nonsense`, "must be a JSON object"},
		{"free", `{"a": 1`, "must be a JSON object"},
		{"free", `"text"`, "must be a JSON object"},
		{"free", `null`, "must be a JSON object"},
		{"free", `{} {}`, "must be a JSON object"},
		{"free", `{"a": "` + strings.Repeat("x", 20_000) + `"}`, "at most 16384 bytes"},
	} {
		client := &agentstest.Requests{}
		r := s.Call(t.Context(), client, "org", call(test.name, test.arguments), nil)
		var told struct {
			Error string `json:"error"`
		}
		if err := json.Unmarshal([]byte(r.Text), &told); err != nil || !strings.Contains(told.Error, test.want) {
			t.Errorf("%.60s: the model is told %s, want %q", test.arguments, r.Text, test.want)
		}
		if strings.Count(told.Error, "; ") > 4 {
			t.Errorf("%.60s: the model is told %s", test.arguments, told.Error)
		}
		if len(client.Made()) > 0 || r.Log.Error != told.Error || r.Log.Name != test.name || s.Speech(t.Context(), call(test.name, test.arguments), nil) != "" {
			t.Errorf("%.60s: %+v, sent %+v", test.arguments, r.Log, client.Made())
		}
		if strings.Contains(told.Error, "file:") || strings.Contains(told.Error, "tool:") {
			t.Errorf("%.60s: the model is told %s", test.arguments, told.Error)
		}
	}
}

// TestFailures checks that the model receives the error and the response of a failed call, without the URL.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		response request.Response
		err      error
		want     string
	}{
		"conflict":    {request.Response{Status: 409, Body: []byte(`{"id": 7, "why": "taken"}`)}, nil, `{"error":"the other system answered with status 409","answer":{"id":7,"why":"taken"}}`},
		"no JSON":     {request.Response{Status: 200, Body: []byte(`fine`)}, nil, `{"error":"the answer is not JSON","answer":"fine"}`},
		"nothing":     {request.Response{Status: 204}, nil, `{"error":"the answer is not JSON"}`},
		"unavailable": {request.Response{}, callwright.Errorf(callwright.CodeUnavailable, "no answer within 10s"), `{"error":"no answer within 10s"}`},
		"uncoded":     {request.Response{}, errors.New("dial https://example.com/secret"), `{"error":"internal error"}`},
		"not found":   {request.Response{Status: 200, Body: []byte(`{}`)}, nil, `{"answer":{}}`},
		"long":        {request.Response{Status: 500, Body: []byte(strings.Repeat("x", 5000))}, nil, `{"error":"the other system answered with status 500; the answer is not JSON","answer":"` + strings.Repeat("x", 2048) + `"}`},
	} {
		client := &agentstest.Requests{Answer: func(context.Context, request.Request) (request.Response, error) { return test.response, test.err }}
		s := set(t, minimal("x", `, "response": {"id": "$.id"}`))
		if r := s.Call(t.Context(), client, "org", call("x", "{}"), nil); r.Text != test.want {
			t.Errorf("%s: the model is told %s, want %s", name, r.Text, test.want)
		}
	}
	s := set(t, minimal("x", ""))
	client := &agentstest.Requests{Answer: agentstest.JSON(`{"whole": ["answer"]}`)}
	if r := s.Call(t.Context(), client, "org", call("x", "{}"), nil); r.Text != `{"answer":{"whole":["answer"]}}` {
		t.Errorf("without mappings the model is told %s", r.Text)
	}
}

// TestEmptyBody checks that an empty JSON object is sent as the body only by methods that usually have a body.
func TestEmptyBody(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]string{"": "", "get": "", "DELETE": "", "POST": "{}", "put": "{}"} {
		client := &agentstest.Requests{}
		set(t, minimal("x", fmt.Sprintf(`, "method": %q, "body": {}`, method))).Call(t.Context(), client, "org", call("x", "{}"), nil)
		if got := string(client.Made()[0].Body); got != want {
			t.Errorf("%q sends %q", method, got)
		}
	}
}

func ExampleSet() {
	tools, err := tool.NewSet([]json.RawMessage{[]byte(`{
		"name": "weather", "description": "Tells how the weather will be.",
		"url": "https://weather.example/{{input.city}}", "speech": "Let me look at the weather in {{input.city}}.",
		"input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
		"response": {"sky": "$.today.sky"}
	}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &agentstest.Requests{Answer: agentstest.JSON(`{"today": {"sky": "blue"}}`)}
	wanted := llm.ToolCall{Name: "weather", Arguments: json.RawMessage(`{"city": "New York"}`)}
	fmt.Println(tools.Speech(context.Background(), wanted, nil))
	fmt.Println(tools.Call(context.Background(), client, "org", wanted, nil).Text)
	fmt.Println(client.Made()[0].URL)
	// Output:
	// Let me look at the weather in New York.
	// {"answer":{"sky":"blue"}}
	// https://weather.example/New%20York
}
