package enginetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

// Wild writes the answer of a file in testdata/wild: the body of a stream (.sse), or a status, headers and a body (.http). The answer has a
// fixed Date.
func Wild(t *testing.T, w http.ResponseWriter, name string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "wild", name))
	if err != nil {
		t.Error(err)
		return
	}
	if strings.HasSuffix(name, ".sse") {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(raw)
		return
	}
	head, body, _ := bytes.Cut(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	status, err := strconv.Atoi(strings.Fields(lines[0])[1])
	if err != nil {
		t.Error(err)
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		w.Header().Set(name, value)
	}
	w.Header().Set("Date", "Thu, 26 Nov 2026 11:29:30 GMT")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// Fit returns a JSON object that fits a schema: for each property, the first value of its enum or a constant of its first type.
func Fit(schema map[string]any) string {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		property, _ := p.(map[string]any)
		if enum, ok := property["enum"].([]any); ok {
			out[name] = enum[0]
			continue
		}
		kind := property["type"]
		if list, ok := kind.([]any); ok {
			kind = list[0]
		}
		out[name] = map[any]any{"string": "text", "integer": 5, "number": 0.5, "boolean": true}[kind]
	}
	raw, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// Stream is the expected reply of a model to a stream in testdata/wild.
type Stream struct {
	Text  string
	Calls string    // names and arguments, such as `[find_slots {"day":"Tue"}]`; empty means none
	Class llm.Class // empty if the reply succeeds
}

// RunStreams tests the replies of a model for files in testdata/wild. open returns a model whose service answers with the file.
func RunStreams(t *testing.T, streams map[string]Stream, open func(t *testing.T, name string) llm.Model) {
	t.Helper()
	for name, tt := range streams {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := agentstest.Collect(t.Context(), open(t, name), llm.ReplyRequest{CanEnd: true, Tools: []llm.Tool{{Name: "find_slots"}, {Name: "weather"}}})
			calls := []string{}
			for _, call := range got.Calls {
				calls = append(calls, fmt.Sprintf("%s %s", call.Name, call.Arguments))
			}
			if got.Text != tt.Text || fmt.Sprint(calls) != max(tt.Calls, "[]") {
				t.Errorf("reply %q with the calls %v", got.Text, calls)
			}
			if (err != nil) != (tt.Class != "") || err != nil && llm.ClassOf(err) != tt.Class {
				t.Errorf("error %v", err)
			}
		})
	}
}

// RunRefusals tests the class and the wait of failed answers for files in testdata/wild. open returns a model whose service answers with the
// file.
func RunRefusals(t *testing.T, refusals map[string]llm.Failure, open func(t *testing.T, name string) llm.Model) {
	t.Helper()
	for name, want := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open(t, name).Answer(t.Context(), llm.Question{})
			f, ok := errors.AsType[*llm.Failure](err)
			if !ok || f.Class != want.Class || f.RetryAfter != want.RetryAfter {
				t.Errorf("failure %v, want %v after %v", err, want.Class, want.RetryAfter)
			}
		})
	}
}

// Schemas contains the expected numbers of requests in a service's JSON schema mode after a refusal.
type Schemas struct {
	Refused int32 // with the refused schema, of two questions
	Other   int32 // with another schema, of one question
}

// RunRefusedSchemas tests what a model asks again after a refusal in the JSON schema mode, and what it remembers, for files in
// testdata/wild. Requests in the mode contain mode. whole sends an answer that is not streamed. open returns a model whose service calls
// answer with each request.
func RunRefusedSchemas(
	t *testing.T, files map[string]Schemas, mode string, whole func(w http.ResponseWriter, text string),
	open func(t *testing.T, answer func(w http.ResponseWriter, request string)) llm.Model,
) {
	t.Helper()
	question := func(property string) llm.Question {
		return llm.Question{Task: llm.TaskJudge, Schema: json.RawMessage(`{"type":"object","properties":{"` + property + `":{"type":"boolean"}}}`)}
	}
	for name, want := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refused, other atomic.Int32
			m := open(t, func(w http.ResponseWriter, request string) {
				switch {
				case !strings.Contains(request, mode):
					whole(w, `{"pass":true}`)
				case strings.Contains(request, `"other"`):
					other.Add(1)
					whole(w, `{"other":true}`)
				default:
					refused.Add(1)
					Wild(t, w, name)
				}
			})
			for range 2 {
				if a, err := m.Answer(t.Context(), question("pass")); err != nil || string(a.JSON) != `{"pass":true}` {
					t.Errorf("answer %s, %v", a.JSON, err)
				}
			}
			if _, err := m.Answer(t.Context(), question("other")); err != nil {
				t.Error(err)
			}
			if got := (Schemas{refused.Load(), other.Load()}); got != want {
				t.Errorf("requests %+v, want %+v", got, want)
			}
		})
	}
}

// Member is a member of requests that a service refuses.
type Member struct {
	Model string // name for open
	Has   string // part of a request with the member
	Later string // part of all later requests; may be empty
}

// RunRefusedMembers tests that a model leaves out or replaces a member that its service refuses, immediately and in later requests, for
// files in testdata/wild. greet streams a reply. open returns a model whose service calls answer with each request.
func RunRefusedMembers(
	t *testing.T, files map[string]Member, greet func(w http.ResponseWriter),
	open func(t *testing.T, model string, answer func(w http.ResponseWriter, request string)) llm.Model,
) {
	t.Helper()
	for name, tt := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refused atomic.Int32
			var last atomic.Value
			m := open(t, tt.Model, func(w http.ResponseWriter, request string) {
				last.Store(request)
				if strings.Contains(request, tt.Has) {
					refused.Add(1)
					Wild(t, w, name)
					return
				}
				greet(w)
			})
			for range 2 {
				if got, err := agentstest.Collect(t.Context(), m, llm.ReplyRequest{Temperature: new(0.0)}); err != nil || got.Text == "" {
					t.Errorf("reply %q, %v", got.Text, err)
				}
			}
			if request, _ := last.Load().(string); refused.Load() != 1 || !strings.Contains(request, tt.Later) {
				t.Errorf("%d refused requests, the last one is %s", refused.Load(), request)
			}
		})
	}
}

// RunSecrets tests that neither failures nor a model nor its log contain the key, the prompt or the text of a refusal, and that the log names
// the refused parameter. open returns a model whose service refuses each request with a text that contains the key, and which logs to log.
func RunSecrets(t *testing.T, key, logged string, open func(t *testing.T, log *slog.Logger) llm.Model) {
	t.Helper()
	var log bytes.Buffer
	m := open(t, slog.New(slog.NewTextHandler(&log, nil)))
	_, err := agentstest.Collect(t.Context(), m, llm.ReplyRequest{Instructions: "the secret task"})
	shown := fmt.Sprintf("%v %+v %v %+v %s", err, err, errors.Unwrap(err), m, &log)
	if strings.Contains(shown, key) || strings.Contains(shown, "secret task") {
		t.Errorf("shown: %s", shown)
	}
	if !strings.Contains(log.String(), logged) {
		t.Errorf("the log is %s", &log)
	}
}
