package gemini_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright/adapters/gemini"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

const key = "AIza-test-4711"

// fake is a service that refuses requests as Google's does, and otherwise returns the same reply to every conversation.
type fake struct {
	answer func(w http.ResponseWriter) // sends the answer; if nil, the fake sends a greeting, or a value that fits the schema

	mu      sync.Mutex
	request map[string]any // the last request
	raw     string         // the same before parsing
	url     string         // of the last request
}

// start serves the fake until the test ends, and returns a client of it.
func (f *fake) start(t *testing.T) *gemini.Client {
	t.Helper()
	return f.startModel(t, "")
}

// startModel serves the fake until the test ends, and returns a client of it that asks a model.
func (f *fake) startModel(t *testing.T, model string) *gemini.Client {
	t.Helper()
	return client(t, gemini.Config{BaseURL: f.serve(t), APIKey: key, Model: model})
}

// serve serves the fake until the test ends, and returns its address.
func (f *fake) serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(f.generate))
	t.Cleanup(server.Close)
	return server.URL
}

func client(t *testing.T, config gemini.Config) *gemini.Client {
	t.Helper()
	c, err := gemini.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (f *fake) generate(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var request map[string]any
	_ = json.Unmarshal(raw, &request)
	f.mu.Lock()
	f.raw, f.request, f.url = string(raw), request, r.URL.String()
	f.mu.Unlock()
	config, _ := request["generationConfig"].(map[string]any)
	schema, _ := config["responseJsonSchema"].(map[string]any)
	_, method, _ := strings.Cut(r.URL.Path, ":")
	switch problem := check(request); {
	case r.Method != http.MethodPost || !address.MatchString(r.URL.Path):
		refuse(w, http.StatusNotFound, "NOT_FOUND", "Not Found")
	case r.Header.Get("X-Goog-Api-Key") != key:
		refuse(w, http.StatusBadRequest, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
	case problem != "":
		refuse(w, http.StatusBadRequest, "INVALID_ARGUMENT", problem)
	case f.answer != nil:
		f.answer(w)
	case method == "streamGenerateContent" && r.URL.Query().Get("alt") == "sse":
		greet(w)
	case method == "generateContent":
		whole(w, enginetest.Fit(schema))
	default:
		refuse(w, http.StatusNotFound, "NOT_FOUND", "unknown method "+method)
	}
}

// address matches the paths of methods, at the version that we use and at the one that Google's client uses.
var address = regexp.MustCompile(`^/v1(beta)?/models/[^/]+:`)

// check returns the error of a request that the service refuses, or "".
func check(r map[string]any) string {
	contents, _ := r["contents"].([]any)
	if len(contents) == 0 {
		return "* GenerateContentRequest.contents: contents is not specified"
	}
	var open []any // names of the calls in the content before
	last := ""
	for i, c := range contents {
		content, _ := c.(map[string]any)
		parts, _ := content["parts"].([]any)
		role, _ := content["role"].(string)
		if last == role || i == 0 && role != "user" || len(parts) == 0 {
			return fmt.Sprintf("contents[%d]: ensure that contents begin with a user turn and that roles alternate", i)
		}
		last = role
		var calls, responses []any
		for j, p := range parts {
			part, _ := p.(map[string]any)
			call, _ := part["functionCall"].(map[string]any)
			response, _ := part["functionResponse"].(map[string]any)
			switch {
			case len(part) == 0:
				return fmt.Sprintf("contents[%d].parts[%d]: contents.parts must not be empty: required oneof field 'data' must have one initialized field", i, j)
			case call != nil:
				if _, ok := call["args"].(map[string]any); !ok {
					return "functionCall.args: must be an object"
				}
				calls = append(calls, call["name"])
			case response != nil:
				if _, ok := response["response"].(map[string]any); !ok {
					return "functionResponse.response: must be an object"
				}
				responses = append(responses, response["name"])
			}
		}
		if fmt.Sprint(responses) != fmt.Sprint(open) {
			return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
		}
		open = calls
	}
	if last != "user" {
		return "Please ensure that single turn requests end with a user role."
	}
	return ""
}

// answerJSON writes a status and a JSON body.
func answerJSON(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

// refuse writes an error in the service's format.
func refuse(w http.ResponseWriter, status int, name, message string) {
	answerJSON(w, status, map[string]any{"error": map[string]any{"code": status, "message": message, "status": name}})
}

// candidate returns an answer with parts and a finish reason, which may be empty.
func candidate(parts, reason string) string {
	if reason != "" {
		reason = `,"finishReason":"` + reason + `"`
	}
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + reason + `,"index":0}],` +
		`"usageMetadata":{"promptTokenCount":21,"candidatesTokenCount":3,"thoughtsTokenCount":1,"totalTokenCount":25},"modelVersion":"m-1","responseId":"r"}`
}

func words(text string) string { return fmt.Sprintf(`{"text":%q}`, text) }

func call(name string) string { return `{"functionCall":{"name":"` + name + `","args":{}}}` }

// whole writes an answer that is not streamed.
func whole(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_, _ = io.WriteString(w, candidate(words(text), "STOP"))
}

// events writes each string as an event, with the line ends of the service, and flushes after each.
func events(w http.ResponseWriter, data ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, d := range data {
		_, _ = fmt.Fprintf(w, "data: %s\r\n\r\n", d)
		_ = http.NewResponseController(w).Flush()
	}
}

func greet(w http.ResponseWriter) {
	events(w, candidate(words("Good "), ""), candidate(words("morning."), "STOP"))
}
