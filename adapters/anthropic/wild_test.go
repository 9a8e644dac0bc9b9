package anthropic_test

import (
	"encoding/json"
	"net/http"
	"strings"
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

// open returns a client of a fake that answers with a file in testdata/wild.
func open(t *testing.T, name string) llm.Model { return wild(t, name).start(t) }

// asking returns a client of a fake that calls answer with each request.
func asking(t *testing.T, answer func(w http.ResponseWriter, request string)) llm.Model {
	f := &fake{}
	f.answer = func(w http.ResponseWriter) { answer(w, f.raw) }
	return f.start(t)
}

// TestWildStreams checks streams as Anthropic's service and servers that imitate it send them.
func TestWildStreams(t *testing.T) {
	t.Parallel()
	const slots = `[find_slots {"day":"Tue"}]`
	enginetest.RunStreams(t, map[string]enginetest.Stream{
		"S01.sse": {Text: "Hi there"},                                            // pings
		"S02.sse": {Text: "Hi"},                                                  // lines end with CR
		"S03.sse": {Text: "Hi"},                                                  // a byte order mark
		"S04.sse": {Text: "Hi"},                                                  // ends after the stop reason, without an empty line
		"S05.sse": {Text: "Hi"},                                                  // no names of events
		"S06.sse": {Text: "Hi"},                                                  // no empty lines between events
		"S07.sse": {Text: "Hi", Class: llm.ClassTransient},                       // overloaded while it answers
		"S08.sse": {Class: llm.ClassRateLimited},                                 // an error as the first event
		"S09.sse": {Text: "Hi", Class: llm.ClassTransient},                       // cut off
		"S10.sse": {Text: "Hi"},                                                  // an error after the stop reason
		"S11.sse": {Text: "Hi"},                                                  // thoughts
		"S12.sse": {Text: "Hi"},                                                  // encrypted thoughts
		"S13.sse": {Text: "Let me look.", Calls: slots},                          // arguments in pieces
		"S14.sse": {Calls: `[find_slots {"day":"Mon"} weather {"city":"Rome"}]`}, // two calls whose pieces alternate
		"S15.sse": {Calls: "[weather ]"},                                         // no arguments
		"S16.sse": {Calls: slots},                                                // arguments at the start of the block
		"S17.sse": {Text: "Hi", Class: llm.ClassPermanent},                       // stop reason "refusal"
		"S18.sse": {Class: llm.ClassTransient},                                   // thoughts up to the maximum length
		"S19.sse": {Class: llm.ClassTransient},                                   // an empty answer
		"S20.sse": {Text: "Hi"},                                                  // a server that does not stream
		"S21.sse": {Text: "Hi"},                                                  // no starts of blocks
		"S22.sse": {Class: llm.ClassTransient},                                   // an error with the status 200
		"S23.sse": {Text: "Hi"},                                                  // unknown events, blocks and deltas
		"S24.sse": {Text: "Hi", Class: llm.ClassTransient},                       // an error of a proxy, no JSON
		"S25.sse": {Text: "Hi"},                                                  // comments, data in two lines, an event without data
		"S26.sse": {Class: llm.ClassTransient},                                   // a tool that does not exist
		"S27.sse": {Class: llm.ClassTooLong},                                     // stop reason "model_context_window_exceeded"
		"S28.sse": {Text: "Hi"},                                                  // thoughts in the text
		"S29.sse": {Text: "Hi"},                                                  // no message_stop
		"S30.sse": {Calls: slots},                                                // thoughts before a call
	}, open)
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
	enginetest.RunRefusals(t, map[string]llm.Failure{
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
	}, open)
	a, err := wild(t, "A01.http").start(t).Answer(t.Context(), llm.Question{})
	if err != nil || string(a.JSON) != `{"verdict":"pass"}` {
		t.Errorf("answer %s, %v", a.JSON, err)
	}
}

// TestRefusedMembers checks which member is left out or replaced after a refusal.
func TestRefusedMembers(t *testing.T) {
	t.Parallel()
	enginetest.RunRefusedMembers(t, map[string]enginetest.Member{
		"R09.http": {Has: `"temperature":`},
		"R10.http": {Has: `"thinking":{"type":"disabled"}`, Later: `"output_config":{"effort":"low"}`},
		"R19.http": {Has: `"cache_control":`},
	}, greet, func(t *testing.T, _ string, answer func(http.ResponseWriter, string)) llm.Model {
		return asking(t, answer)
	})
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

// TestRefusedSchemas checks what is asked again after a refusal in the JSON schema mode.
func TestRefusedSchemas(t *testing.T) {
	t.Parallel()
	enginetest.RunRefusedSchemas(t, map[string]enginetest.Schemas{
		"R11.http": {Refused: 1, Other: 1}, // the schema is refused
		"R12.http": {Refused: 1},           // the mode is refused
	}, `"output_config":`, whole, asking)
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
