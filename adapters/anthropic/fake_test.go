package anthropic_test

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

	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

const key = "sk-ant-test-4711"

// fake is a service that refuses requests as Anthropic does, and otherwise returns the same reply to every conversation.
type fake struct {
	answer func(w http.ResponseWriter) // sends the answer; if nil, the fake sends a greeting, or a value that fits the schema

	mu      sync.Mutex
	request map[string]any // the last request
	raw     string         // the same before parsing
}

// start serves the fake until the test ends, and returns a client of it.
func (f *fake) start(t *testing.T) *anthropic.Client {
	t.Helper()
	return client(t, anthropic.Config{BaseURL: f.serve(t), APIKey: key})
}

// serve serves the fake until the test ends, and returns its address.
func (f *fake) serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(f.messages))
	t.Cleanup(server.Close)
	return server.URL
}

func client(t *testing.T, config anthropic.Config) *anthropic.Client {
	t.Helper()
	c, err := anthropic.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (f *fake) messages(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var request map[string]any
	_ = json.Unmarshal(raw, &request)
	f.mu.Lock()
	f.raw, f.request = string(raw), request
	f.mu.Unlock()
	switch problem := check(request); {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/messages":
		refuse(w, http.StatusNotFound, "not_found_error", "Not Found")
	case r.Header.Get("X-Api-Key") != key && r.Header.Get("Authorization") != "Bearer "+key:
		refuse(w, http.StatusUnauthorized, "authentication_error", "invalid x-api-key")
	case r.Header.Get("Anthropic-Version") != "2023-06-01" && r.Header.Get("Anthropic-Version") != "2026-10-21": // ours, and its client's
		refuse(w, http.StatusBadRequest, "invalid_request_error", "anthropic-version: header is required")
	case problem != "":
		refuse(w, http.StatusBadRequest, "invalid_request_error", problem)
	case f.answer != nil:
		f.answer(w)
	case request["stream"] == true:
		greet(w)
	default:
		config, _ := request["output_config"].(map[string]any)
		format, _ := config["format"].(map[string]any)
		schema, _ := format["schema"].(map[string]any)
		whole(w, enginetest.Fit(schema))
	}
}

// identifier matches the ids of tool calls.
var identifier = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// check returns the error of a request that the service refuses, or "".
func check(r map[string]any) string {
	messages, _ := r["messages"].([]any)
	tokens, _ := r["max_tokens"].(float64)
	temperature, _ := r["temperature"].(float64)
	switch {
	case r["model"] == nil:
		return "model: Field required"
	case tokens < 1:
		return "max_tokens: Field required"
	case temperature > 1:
		return "temperature: range: 0..1"
	case len(messages) == 0:
		return "messages: at least one message is required"
	}
	calls, role := map[any]bool{}, ""
	var open []any // ids of the calls in the message before
	for i, m := range messages {
		message, _ := m.(map[string]any)
		content, _ := message["content"].([]any)
		if before := role; before == message["role"] || i == 0 && message["role"] != "user" || len(content) == 0 {
			return fmt.Sprintf("messages.%d: roles must alternate between \"user\" and \"assistant\", and contents must not be empty", i)
		}
		role, _ = message["role"].(string)
		var results, own []any
		for j, b := range content {
			block, _ := b.(map[string]any)
			text, _ := block["text"].(string)
			id, _ := block["id"].(string)
			switch {
			case block["type"] == "text" && strings.TrimSpace(text) == "":
				return fmt.Sprintf("messages.%d.content.%d: text content blocks must contain non-whitespace text", i, j)
			case block["type"] == "tool_result" && j != len(results):
				return fmt.Sprintf("messages.%d.content.%d: tool_result blocks must stand first", i, j)
			case block["type"] == "tool_result":
				results = append(results, block["tool_use_id"])
			case block["type"] == "tool_use" && (calls[id] || !identifier.MatchString(id)):
				return fmt.Sprintf("messages.%d.content.%d: `tool_use` ids must be unique", i, j)
			case block["type"] == "tool_use":
				if _, ok := block["input"].(map[string]any); !ok {
					return fmt.Sprintf("messages.%d.content.%d.tool_use.input: Input should be a valid dictionary", i, j)
				}
				calls[id], own = true, append(own, id)
			}
		}
		if fmt.Sprint(results) != fmt.Sprint(open) {
			return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %v, %v", i, open, results)
		}
		open = own
	}
	if role != "user" {
		return "This model does not support assistant message prefill. The conversation must end with a user message."
	}
	return ""
}

// answerJSON writes a status and a JSON body.
func answerJSON(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

// refuse writes an error in the service's format.
func refuse(w http.ResponseWriter, status int, kind, message string) {
	answerJSON(w, status, map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}, "request_id": "req_1"})
}

// whole writes a message that is not streamed.
func whole(w http.ResponseWriter, text string) {
	answerJSON(w, http.StatusOK, map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "stop_reason": "end_turn", "stop_sequence": nil,
		"content": []any{map[string]string{"type": "text", "text": text}}, "usage": map[string]int{"input_tokens": 8, "output_tokens": 2},
	})
}

// events writes each string as an event named by its type, and flushes after each.
func events(w http.ResponseWriter, data ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, d := range data {
		var e struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal([]byte(d), &e)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Type, d)
		_ = http.NewResponseController(w).Flush()
	}
}

// The events of an answer.
const (
	start = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":5,"cache_read_input_tokens":4,"output_tokens":1}}}`
	opens = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	ping  = `{"type":"ping"}`
	ends  = `{"type":"content_block_stop","index":0}`
	stops = `{"type":"message_stop"}`
)

func words(text string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, text)
}

func finish(reason string) string {
	return fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":4}}`, reason)
}

func greet(w http.ResponseWriter) {
	events(w, start, opens, ping, words("Good "), words("morning."), ends, finish("end_turn"), stops)
}

// calls returns the events of an answer with words and a tool call without arguments.
func calls(said, name string) []string {
	return []string{
		start, opens, words(said), ends,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"` + name + `","input":{}}}`,
		`{"type":"content_block_stop","index":1}`, finish("tool_use"), stops,
	}
}
