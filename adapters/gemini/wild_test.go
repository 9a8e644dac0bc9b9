package gemini_test

import (
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

// asking returns a client of a fake that calls answer with each request. The client asks a model, or the default one if model is empty.
func asking(t *testing.T, model string, answer func(w http.ResponseWriter, request string)) llm.Model {
	f := &fake{}
	f.answer = func(w http.ResponseWriter) { answer(w, f.raw) }
	return f.startModel(t, model)
}

// TestWildStreams checks streams as Google's services and servers that imitate them send them.
func TestWildStreams(t *testing.T) {
	t.Parallel()
	const slots = `[find_slots {"day":"Tue"}]`
	enginetest.RunStreams(t, map[string]enginetest.Stream{
		"S01.sse": {Text: "Hi there"},                                            // lines end with CR LF
		"S02.sse": {Text: "Hi"},                                                  // lines end with CR
		"S03.sse": {Text: "Hi"},                                                  // a byte order mark
		"S04.sse": {Text: "Hi there"},                                            // no empty line at the end
		"S05.sse": {Text: "Hi there"},                                            // an array: alt=sse was ignored
		"S06.sse": {Text: "Hi"},                                                  // no empty lines between events
		"S07.sse": {Text: "Hi", Class: llm.ClassTransient},                       // overloaded while it answers
		"S08.sse": {Class: llm.ClassRateLimited},                                 // an error as the first event
		"S09.sse": {Text: "Hi", Class: llm.ClassTransient},                       // cut off
		"S10.sse": {Text: "Hi"},                                                  // an error of a proxy after the finish reason
		"S11.sse": {Text: "Hi"},                                                  // thoughts
		"S12.sse": {Calls: slots},                                                // a signature
		"S13.sse": {Calls: `[find_slots {"day":"Mon"} weather {"city":"Rome"}]`}, // two calls with ids
		"S14.sse": {Calls: "[weather {}]"},                                       // no arguments
		"S15.sse": {Text: "Hi", Class: llm.ClassPermanent},                       // SAFETY after words
		"S16.sse": {Class: llm.ClassPermanent},                                   // the prompt is blocked
		"S17.sse": {Class: llm.ClassTransient},                                   // MALFORMED_FUNCTION_CALL
		"S18.sse": {Class: llm.ClassTransient},                                   // thoughts up to the maximum length
		"S19.sse": {Class: llm.ClassTransient},                                   // no parts
		"S20.sse": {Text: "Hi"},                                                  // a server that does not stream
		"S21.sse": {Text: "Hi"},                                                  // comments and other fields and events
		"S22.sse": {Text: "Hi"},                                                  // a signature in an empty text
		"S23.sse": {Text: "Hi", Class: llm.ClassPermanent},                       // RECITATION
		"S24.sse": {Text: "Hi"},                                                  // counts of tokens after the finish reason
		"S25.sse": {Class: llm.ClassTransient},                                   // an array with an error
		"S26.sse": {Class: llm.ClassTransient},                                   // a tool that does not exist
		"S27.sse": {Class: llm.ClassTransient},                                   // UNEXPECTED_TOOL_CALL
		"S28.sse": {Text: "Hi"},                                                  // an unknown finish reason
		"S29.sse": {Text: "Hi"},                                                  // two candidates
		"S30.sse": {Text: "Hi"},                                                  // unknown parts
	}, open)
}

// TestUsage checks that counts of tokens that come after the finish reason belong to the reply.
func TestUsage(t *testing.T) {
	t.Parallel()
	got, err := agentstest.Collect(t.Context(), open(t, "S24.sse"), llm.ReplyRequest{})
	if err != nil || got.Usage == nil || *got.Usage != (llm.Usage{Input: 21, Output: 6, Cached: 4}) {
		t.Errorf("usage %+v, %v", got.Usage, err)
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
	enginetest.RunRefusals(t, map[string]llm.Failure{
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
		"R08.http": {Model: "gemini-2.5-pro", Has: `"thinkingBudget":0`, Later: `"thinkingConfig":{"thinkingBudget":128}`},
		"R15.http": {Model: "gemini-3-pro-preview", Has: `"thinkingLevel":"MINIMAL"`, Later: `"thinkingConfig":{"thinkingLevel":"LOW"}`},
		"R16.http": {Model: "gemini-2.0-flash", Has: `"temperature":`, Later: `"generationConfig":{}`},
	}, greet, asking)
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

// TestRefusedSchemas checks what is asked again after a refusal in the JSON schema mode.
func TestRefusedSchemas(t *testing.T) {
	t.Parallel()
	enginetest.RunRefusedSchemas(t, map[string]enginetest.Schemas{
		"R11.http": {Refused: 1, Other: 1}, // the schema is refused
		"R10.http": {Refused: 1},           // the mode is refused
	}, `"responseJsonSchema":`, whole, func(t *testing.T, answer func(http.ResponseWriter, string)) llm.Model {
		return asking(t, "", answer)
	})
}

// TestContinuations checks that an answer that the service sends in parts is one answer.
func TestContinuations(t *testing.T) {
	t.Parallel()
	f := &fake{}
	f.answer = func(w http.ResponseWriter) {
		stream := strings.Contains(f.url, "streamGenerateContent")
		if !strings.Contains(f.raw, `"continuationToken":"VA=="`) {
			first := strings.Replace(candidate(words("1"), "CONTINUATION"), `"index":0`, `"index":0,"continuationToken":"VA=="`, 1)
			if stream {
				events(w, first)
				return
			}
			_, _ = w.Write([]byte(first))
			return
		}
		if stream {
			events(w, candidate(words("2"), "STOP"))
			return
		}
		whole(w, "2")
	}
	c := f.start(t)
	if got, err := agentstest.Collect(t.Context(), c, llm.ReplyRequest{}); err != nil || got.Text != "12" {
		t.Errorf("reply %q, %v", got.Text, err)
	}
	if a, err := c.Answer(t.Context(), llm.Question{}); err != nil || string(a.JSON) != "12" {
		t.Errorf("answer %s, %v", a.JSON, err)
	}
}
