package anthropic_test

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

// TestWildStreams checks streams as Anthropic's service and servers that imitate it send them.
func TestWildStreams(t *testing.T) {
	t.Parallel()
	const slots = `[find_slots {"day":"Tue"}]`
	tests := map[string]struct {
		text  string
		calls string
		class llm.Class // empty if the stream succeeds
	}{
		"S01.sse": {text: "Hi there"},                                            // pings
		"S02.sse": {text: "Hi"},                                                  // lines end with CR
		"S03.sse": {text: "Hi"},                                                  // a byte order mark
		"S04.sse": {text: "Hi"},                                                  // ends after the stop reason, without an empty line
		"S05.sse": {text: "Hi"},                                                  // no names of events
		"S06.sse": {text: "Hi"},                                                  // no empty lines between events
		"S07.sse": {text: "Hi", class: llm.ClassTransient},                       // overloaded while it answers
		"S08.sse": {class: llm.ClassRateLimited},                                 // an error as the first event
		"S09.sse": {text: "Hi", class: llm.ClassTransient},                       // cut off
		"S10.sse": {text: "Hi"},                                                  // an error after the stop reason
		"S11.sse": {text: "Hi"},                                                  // thoughts
		"S12.sse": {text: "Hi"},                                                  // encrypted thoughts
		"S13.sse": {text: "Let me look.", calls: slots},                          // arguments in pieces
		"S14.sse": {calls: `[find_slots {"day":"Mon"} weather {"city":"Rome"}]`}, // two calls whose pieces alternate
		"S15.sse": {calls: "[weather ]"},                                         // no arguments
		"S16.sse": {calls: slots},                                                // arguments at the start of the block
		"S17.sse": {text: "Hi", class: llm.ClassPermanent},                       // stop reason "refusal"
		"S18.sse": {class: llm.ClassTransient},                                   // thoughts up to the maximum length
		"S19.sse": {class: llm.ClassTransient},                                   // an empty answer
		"S20.sse": {text: "Hi"},                                                  // a server that does not stream
		"S21.sse": {text: "Hi"},                                                  // no starts of blocks
		"S22.sse": {class: llm.ClassTransient},                                   // an error with the status 200
		"S23.sse": {text: "Hi"},                                                  // unknown events, blocks and deltas
		"S24.sse": {text: "Hi", class: llm.ClassTransient},                       // an error of a proxy, no JSON
		"S25.sse": {text: "Hi"},                                                  // comments, data in two lines, an event without data
		"S26.sse": {class: llm.ClassTransient},                                   // a tool that does not exist
		"S27.sse": {class: llm.ClassTooLong},                                     // stop reason "model_context_window_exceeded"
		"S28.sse": {text: "Hi"},                                                  // thoughts in the text
		"S29.sse": {text: "Hi"},                                                  // no message_stop
		"S30.sse": {calls: slots},                                                // thoughts before a call
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
		})
	}
}

// TestThoughtsAreReturned checks that the request after a tool call contains the thoughts before it.
func TestThoughtsAreReturned(t *testing.T) {
	t.Parallel()
	f := wild(t, "S30.sse")
	c, r := f.start(t), llm.ReplyRequest{Tools: []llm.Tool{{Name: "find_slots"}}}
	got, err := agentstest.Collect(t.Context(), c, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Messages = []llm.Message{{Role: llm.RoleCaller, Text: "Hi."}, {Role: llm.RoleAgent, Calls: got.Calls}, {Role: llm.RoleTool, Call: got.Calls[0].ID, Text: "ten"}}
	if _, err := agentstest.Collect(t.Context(), c, r); err != nil {
		t.Fatal(err)
	}
	const want = `[{"signature":"EqQBCgIYAhIM","thinking":"Hm.","type":"thinking"},{"data":"EmwKAhgBEgy3","type":"redacted_thinking"},{"type":"tool_use",`
	if !strings.Contains(f.raw, want) {
		t.Errorf("the request is %s", f.raw)
	}
}

// TestWildRefusals checks the class and the wait of error responses.
func TestWildRefusals(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]llm.Failure{
		"R01.http": {Class: llm.ClassRateLimited, RetryAfter: 30 * time.Second},
		"R02.http": {Class: llm.ClassTransient}, // 529
		"R03.http": {Class: llm.ClassTooLong},
		"R04.http": {Class: llm.ClassTooLong}, // a page
		"R05.http": {Class: llm.ClassQuota},
		"R06.http": {Class: llm.ClassPermanent},
		"R07.http": {Class: llm.ClassRateLimited, RetryAfter: 30 * time.Second}, // a date
		"R08.http": {Class: llm.ClassTransient},                                 // a page
		"R14.http": {Class: llm.ClassPermanent},
		"R15.http": {Class: llm.ClassTooLong},
		"R16.http": {Class: llm.ClassQuota},
		"R17.http": {Class: llm.ClassRateLimited, RetryAfter: 1500 * time.Millisecond}, // another envelope
		"R18.http": {Class: llm.ClassRateLimited},                                      // members at the top
		"R21.http": {Class: llm.ClassTransient},                                        // an error with the status 200
		"R22.http": {Class: llm.ClassInvalid},                                          // cut off at the maximum length
		"R23.http": {Class: llm.ClassPermanent},                                        // a refusal
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
	for name, tt := range map[string]struct{ has, later string }{
		"R09.http": {`"temperature":`, ""},
		"R10.http": {`"thinking":{"type":"disabled"}`, `"output_config":{"effort":"low"}`},
		"R19.http": {`"cache_control":`, ""},
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
			c := f.start(t)
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

// TestEffort checks that a model without a setting for effort is not asked for less, but for its schema.
func TestEffort(t *testing.T) {
	t.Parallel()
	f := &fake{}
	f.answer = func(w http.ResponseWriter) {
		switch {
		case strings.Contains(f.raw, `"thinking":`):
			enginetest.Wild(t, w, "R10.http")
		case strings.Contains(f.raw, `"effort":`):
			enginetest.Wild(t, w, "R20.http")
		default:
			whole(w, `{"a":1}`)
		}
	}
	if a, err := f.start(t).Answer(t.Context(), llm.Question{Task: llm.TaskRoute, Schema: json.RawMessage(`{"type":"object"}`)}); err != nil || string(a.JSON) != `{"a":1}` {
		t.Errorf("answer %s, %v", a.JSON, err)
	}
	if !strings.Contains(f.raw, `"output_config":{"format":`) {
		t.Errorf("the request is %s", f.raw)
	}
}

// TestRefusedSchemas checks what is asked again after a refusal in the JSON schema mode, and what is remembered.
func TestRefusedSchemas(t *testing.T) {
	t.Parallel()
	verdict := llm.Question{Task: llm.TaskJudge, Schema: json.RawMessage(`{"type":"object","properties":{"pass":{"type":"boolean"}}}`)}
	other := llm.Question{Task: llm.TaskJudge, Schema: json.RawMessage(`{"type":"object","properties":{"other":{"type":"number"}}}`)}
	for name, others := range map[string]int32{
		"R11.http": 1, // the schema is refused, others are not
		"R12.http": 0, // the mode is refused
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var strict, strictOther atomic.Int32
			f := &fake{}
			f.answer = func(w http.ResponseWriter) {
				switch {
				case !strings.Contains(f.raw, `"output_config":`):
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

// TestFewTokens checks that a model that allows fewer tokens answers.
func TestFewTokens(t *testing.T) {
	t.Parallel()
	f := &fake{}
	f.answer = func(w http.ResponseWriter) {
		if tokens, _ := f.request["max_tokens"].(float64); tokens > 4096 {
			enginetest.Wild(t, w, "R13.http")
			return
		}
		whole(w, `1`)
	}
	if a, err := f.start(t).Answer(t.Context(), llm.Question{Task: llm.TaskFix}); err != nil || string(a.JSON) != `1` {
		t.Errorf("answer %s, %v", a.JSON, err)
	}
}
