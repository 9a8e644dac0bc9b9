package gemini_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

// wild returns a fake that answers with a file in testdata/wild.
func wild(t *testing.T, name string) *fake {
	return &fake{answer: func(w http.ResponseWriter) { enginetest.Wild(t, w, name) }}
}

// TestWildStreams checks streams as Google's services and servers that imitate them send them.
func TestWildStreams(t *testing.T) {
	t.Parallel()
	const slots = `[find_slots {"day":"Tue"}]`
	tests := map[string]struct {
		text  string
		calls string
		class llm.Class // empty if the stream succeeds
	}{
		"S01.sse": {text: "Hi there"},                                            // lines end with CR LF
		"S02.sse": {text: "Hi"},                                                  // lines end with CR
		"S03.sse": {text: "Hi"},                                                  // a byte order mark
		"S04.sse": {text: "Hi there"},                                            // no empty line at the end
		"S05.sse": {text: "Hi there"},                                            // an array: alt=sse was ignored
		"S06.sse": {text: "Hi"},                                                  // no empty lines between events
		"S07.sse": {text: "Hi", class: llm.ClassTransient},                       // overloaded while it answers
		"S08.sse": {class: llm.ClassRateLimited},                                 // an error as the first event
		"S09.sse": {text: "Hi", class: llm.ClassTransient},                       // cut off
		"S10.sse": {text: "Hi"},                                                  // an error of a proxy after the finish reason
		"S11.sse": {text: "Hi"},                                                  // thoughts
		"S12.sse": {calls: slots},                                                // a signature
		"S13.sse": {calls: `[find_slots {"day":"Mon"} weather {"city":"Rome"}]`}, // two calls with ids
		"S14.sse": {calls: "[weather {}]"},                                       // no arguments
		"S15.sse": {text: "Hi", class: llm.ClassPermanent},                       // SAFETY after words
		"S16.sse": {class: llm.ClassPermanent},                                   // the prompt is blocked
		"S17.sse": {class: llm.ClassTransient},                                   // MALFORMED_FUNCTION_CALL
		"S18.sse": {class: llm.ClassTransient},                                   // thoughts up to the maximum length
		"S19.sse": {class: llm.ClassTransient},                                   // no parts
		"S20.sse": {text: "Hi"},                                                  // a server that does not stream
		"S21.sse": {text: "Hi"},                                                  // comments and other fields and events
		"S22.sse": {text: "Hi"},                                                  // a signature in an empty text
		"S23.sse": {text: "Hi", class: llm.ClassPermanent},                       // RECITATION
		"S24.sse": {text: "Hi"},                                                  // counts of tokens after the finish reason
		"S25.sse": {class: llm.ClassTransient},                                   // an array with an error
		"S26.sse": {class: llm.ClassTransient},                                   // a tool that does not exist
		"S27.sse": {class: llm.ClassTransient},                                   // UNEXPECTED_TOOL_CALL
		"S28.sse": {text: "Hi"},                                                  // an unknown finish reason
		"S29.sse": {text: "Hi"},                                                  // two candidates
		"S30.sse": {text: "Hi"},                                                  // unknown parts
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := agentstest.Collect(t.Context(), wild(t, name).start(t), llm.ReplyRequest{CanEnd: true, Tools: []llm.Tool{{Name: "find_slots"}, {Name: "weather"}}})
			calls := []string{}
			for _, call := range got.Calls {
				calls = append(calls, fmt.Sprintf("%s %s", call.Name, call.Arguments))
			}
			if got.Text != tt.text || fmt.Sprint(calls) != max(tt.calls, "[]") {
				t.Errorf("reply %q with the calls %v", got.Text, calls)
			}
			if (err != nil) != (tt.class != "") || err != nil && llm.ClassOf(err) != tt.class {
				t.Errorf("error %v", err)
			}
			if err == nil && (got.Usage == nil || got.Usage.Input != 21 || got.Usage.Output != 6) {
				t.Errorf("usage %+v", got.Usage)
			}
		})
	}
}

// TestSignaturesAreReturned checks that the request after tool calls contains their signature and ids.
func TestSignaturesAreReturned(t *testing.T) {
	t.Parallel()
	f := wild(t, "S13.sse")
	c, r := f.start(t), llm.ReplyRequest{Tools: []llm.Tool{{Name: "find_slots"}, {Name: "weather"}}}
	got, err := agentstest.Collect(t.Context(), c, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Messages = []llm.Message{
		{Role: llm.RoleCaller, Text: "Hi."}, {Role: llm.RoleAgent, Calls: got.Calls},
		{Role: llm.RoleTool, Call: got.Calls[0].ID, Text: "ten"}, {Role: llm.RoleTool, Call: got.Calls[1].ID, Text: "sun"},
	}
	if _, err := agentstest.Collect(t.Context(), c, r); err != nil {
		t.Fatal(err)
	}
	const want = `{"functionCall":{"id":"fc_1","name":"find_slots","args":{"day":"Mon"}},"thoughtSignature":"CiQBSg=="},{"functionCall":{"id":"fc_2","name":"weather","args":{"city":"Rome"}}}`
	if !strings.Contains(f.raw, want) || !strings.Contains(f.raw, `"functionResponse":{"id":"fc_2","name":"weather"`) {
		t.Errorf("the request is %s", f.raw)
	}
}

// TestWildRefusals checks the class and the wait of error responses.
func TestWildRefusals(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]llm.Failure{
		"R01.http": {Class: llm.ClassRateLimited, RetryAfter: 45837906927},
		"R02.http": {Class: llm.ClassQuota, RetryAfter: 45 * time.Second}, // of a day
		"R03.http": {Class: llm.ClassTransient},
		"R04.http": {Class: llm.ClassTooLong},
		"R05.http": {Class: llm.ClassPermanent},
		"R06.http": {Class: llm.ClassPermanent},
		"R07.http": {Class: llm.ClassPermanent},
		"R12.http": {Class: llm.ClassTransient},
		"R13.http": {Class: llm.ClassRateLimited, RetryAfter: 7 * time.Second}, // an array
		"R14.http": {Class: llm.ClassTransient},                                // a page
		"R17.http": {Class: llm.ClassInvalid},                                  // cut off at the maximum length
		"R18.http": {Class: llm.ClassPermanent},                                // the prompt is blocked
		"R19.http": {Class: llm.ClassPermanent},                                // SAFETY
		"S25.sse":  {Class: llm.ClassTransient},                                // an array with an error, status 200
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := wild(t, name).start(t).Answer(t.Context(), llm.Question{})
			f, ok := errors.AsType[*llm.Failure](err)
			if !ok || f.Class != want.Class || f.RetryAfter != want.RetryAfter {
				t.Errorf("failure %v", err)
			}
		})
	}
	a, err := wild(t, "A01.http").start(t).Answer(t.Context(), llm.Question{})
	if err != nil || string(a.JSON) != `{"verdict":"pass"}` {
		t.Errorf("answer %s, %v", a.JSON, err)
	}
}

// TestRefusedMembers checks that a member that a model refuses is left out or replaced, immediately and in later requests.
func TestRefusedMembers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ model, has, later string }{
		"R08.http": {"gemini-2.5-pro", `"thinkingBudget":0`, `"thinkingConfig":{"thinkingBudget":128}`},
		"R15.http": {"gemini-3-pro-preview", `"thinkingLevel":"MINIMAL"`, `"thinkingConfig":{"thinkingLevel":"LOW"}`},
		"R16.http": {"gemini-2.0-flash", `"temperature":`, `"generationConfig":{}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refused atomic.Int32
			f := &fake{}
			f.answer = func(w http.ResponseWriter) {
				if strings.Contains(f.raw, tt.has) {
					refused.Add(1)
					enginetest.Wild(t, w, name)
					return
				}
				greet(w)
			}
			c := f.startModel(t, tt.model)
			for range 2 {
				if got, err := agentstest.Collect(t.Context(), c, llm.ReplyRequest{Temperature: new(0.0)}); err != nil || got.Text != "Good morning." {
					t.Errorf("reply %q, %v", got.Text, err)
				}
			}
			if refused.Load() != 1 || !strings.Contains(f.raw, tt.later) {
				t.Errorf("%d refused requests, the last one is %s", refused.Load(), f.raw)
			}
		})
	}
}

// TestNoThinking checks that a model that refuses every setting of its thoughts answers without one.
func TestNoThinking(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"gemini-2.5-flash", "gemini-flash-latest"} {
		f := &fake{}
		f.answer = func(w http.ResponseWriter) {
			if strings.Contains(f.raw, "thinkingConfig") {
				refuse(w, http.StatusBadRequest, "INVALID_ARGUMENT", `Invalid JSON payload received. Unknown name "thinkingConfig" at 'generation_config': Cannot find field.`)
				return
			}
			greet(w)
		}
		if got, err := agentstest.Collect(t.Context(), f.startModel(t, model), llm.ReplyRequest{}); err != nil || got.Text != "Good morning." {
			t.Errorf("%s: reply %q, %v", model, got.Text, err)
		}
	}
}

// TestCallsOfOtherModels checks that a tool call of another model gets a signature if the model demands one, by a refusal or in the stream.
func TestCallsOfOtherModels(t *testing.T) {
	t.Parallel()
	for name, demand := range map[string]func(w http.ResponseWriter){
		"refusal": func(w http.ResponseWriter) { enginetest.Wild(t, w, "R09.http") },
		"stream":  func(w http.ResponseWriter) { events(w, candidate("", "MISSING_THOUGHT_SIGNATURE")) },
	} {
		f := &fake{}
		f.answer = func(w http.ResponseWriter) {
			if !strings.Contains(f.raw, `"thoughtSignature":"skip_thought_signature_validator"`) {
				demand(w)
				return
			}
			greet(w)
		}
		c, r := f.start(t), llm.ReplyRequest{Messages: []llm.Message{
			{Role: llm.RoleCaller, Text: "Hi."}, {Role: llm.RoleAgent, Calls: []llm.ToolCall{{ID: "a", Name: "x"}, {ID: "b", Name: "x"}}},
			{Role: llm.RoleTool, Call: "a"}, {Role: llm.RoleTool, Call: "b"},
		}}
		got, err := agentstest.Collect(t.Context(), c, r)
		if name == "stream" {
			if llm.ClassOf(err) != llm.ClassTransient {
				t.Errorf("%s: %v", name, err)
			}
			got, err = agentstest.Collect(t.Context(), c, r)
		}
		if err != nil || got.Text != "Good morning." || strings.Count(f.raw, "thoughtSignature") != 1 {
			t.Errorf("%s: reply %q, %v: %s", name, got.Text, err, f.raw)
		}
	}
}

// TestRefusedSchemas checks what is asked again after a refusal in the JSON schema mode, and what is remembered.
func TestRefusedSchemas(t *testing.T) {
	t.Parallel()
	verdict := llm.Question{Task: llm.TaskJudge, Schema: json.RawMessage(`{"type":"object","properties":{"pass":{"type":"boolean"}}}`)}
	other := llm.Question{Task: llm.TaskJudge, Schema: json.RawMessage(`{"type":"object","properties":{"other":{"type":"number"}}}`)}
	for name, others := range map[string]int32{
		"R11.http": 1, // the schema is refused, others are not
		"R10.http": 0, // the mode is refused
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var strict, strictOther atomic.Int32
			f := &fake{}
			f.answer = func(w http.ResponseWriter) {
				switch {
				case !strings.Contains(f.raw, `"responseJsonSchema":`):
					whole(w, `{"pass":true}`)
				case strings.Contains(f.raw, `"other"`):
					strictOther.Add(1)
					whole(w, `{"other":1}`)
				default:
					strict.Add(1)
					enginetest.Wild(t, w, name)
				}
			}
			c := f.start(t)
			for range 2 {
				if a, err := c.Answer(t.Context(), verdict); err != nil || string(a.JSON) != `{"pass":true}` {
					t.Errorf("answer %s, %v", a.JSON, err)
				}
			}
			if _, err := c.Answer(t.Context(), other); err != nil {
				t.Error(err)
			}
			if strict.Load() != 1 || strictOther.Load() != others {
				t.Errorf("%d requests with the schema, %d with another one", strict.Load(), strictOther.Load())
			}
		})
	}
}
