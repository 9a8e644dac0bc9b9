package openai_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

// TestStreams checks the text, tool calls, usage and failure class of recorded streams in testdata.
func TestStreams(t *testing.T) {
	t.Parallel()
	tools := []llm.Tool{{Name: "find_slots"}, {Name: "weather"}}
	tests := map[string]struct {
		text  string
		calls string
		usage llm.Usage
		class llm.Class // empty if the stream succeeds
	}{
		"reply.sse":            {"On Tuesday, at half past ten. Café \"Zoë\"?", "[]", llm.Usage{Input: 152, Output: 14}, ""},
		"tools.sse":            {"Let me look.", `[call_Qr81 find_slots {"day":"Tuesday"} call_Qr82 weather {"city":"Rome"}]`, llm.Usage{Input: 210, Output: 41}, ""},
		"tools-one-index.sse":  {"", `[a find_slots {"day":"Monday"} b find_slots {"day":"Tuesday"}]`, llm.Usage{}, ""},
		"tools-without-id.sse": {"", `[call_0 find_slots {"day":1}]`, llm.Usage{}, ""},
		"cut-off.sse":          {"On Tues", "[]", llm.Usage{}, llm.ClassTransient},
		"cut-in-json.sse":      {"On", "[]", llm.Usage{}, llm.ClassTransient},
		"malformed.sse":        {"On", "[]", llm.Usage{}, llm.ClassTransient},
		"error-event.sse":      {"On", "[]", llm.Usage{}, llm.ClassTransient},
		"too-long-event.sse":   {"", "[]", llm.Usage{}, llm.ClassTooLong},
		"held-back.sse":        {"On", "[]", llm.Usage{}, llm.ClassPermanent},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := agentstest.Collect(t.Context(), (&fake{replay: name}).start(t), llm.ReplyRequest{CanEnd: true, Tools: tools})
			calls := []string{}
			for _, c := range got.Calls {
				calls = append(calls, fmt.Sprintf("%s %s %s", c.ID, c.Name, c.Arguments))
			}
			if got.Text != tt.text || fmt.Sprint(calls) != tt.calls || got.Action != "" {
				t.Errorf("reply %+v with the calls %v", got, calls)
			}
			if got.Usage != nil && *got.Usage != tt.usage || got.Usage == nil && tt.usage != (llm.Usage{}) {
				t.Errorf("usage %v", got.Usage)
			}
			if (err != nil) != (tt.class != "") || err != nil && llm.ClassOf(err) != tt.class {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestRefusals checks the failure class and retry delay for the error responses of several services.
func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status int
		header string // the Retry-After header
		body   string
		class  llm.Class
		wait   time.Duration
	}{
		"rate":               {429, "1.5", `{"error":{"message":"Rate limit reached","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, llm.ClassRateLimited, 1500 * time.Millisecond},
		"rate, no code":      {429, "", `{"error":{"message":"slow down"}}`, llm.ClassRateLimited, 0},
		"rate, a date":       {429, "Wed, 21 Oct 2026 07:28:00 GMT", `{}`, llm.ClassRateLimited, 0},
		"rate, years":        {429, "99999999", `{}`, llm.ClassRateLimited, 0},
		"quota":              {429, "1", `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, llm.ClassQuota, time.Second},
		"too long":           {400, "", `{"error":{"message":"too many","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, llm.ClassTooLong, 0},
		"too long, locally":  {400, "", `{"error":{"message":"This model's maximum context length is 4096 tokens","type":"BadRequestError","param":null,"code":400}}`, llm.ClassTooLong, 0},
		"too long, locally2": {400, "", `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, llm.ClassTooLong, 0},
		"too large":          {413, "", `<html>`, llm.ClassTooLong, 0},
		"no key":             {401, "", `{"error":{"message":"no","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, llm.ClassPermanent, 0},
		"key of another":     {403, "", `{"error":{"message":"no","type":"invalid_request_error"}}`, llm.ClassPermanent, 0},
		"bad request":        {400, "", `{"error":{"message":"unsupported parameter","type":"invalid_request_error"}}`, llm.ClassPermanent, 0},
		"no such model":      {404, "", `{"error":{"message":"The model does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, llm.ClassPermanent, 0},
		"a text alone":       {400, "", `{"error":"the prompt exceeds the context window"}`, llm.ClassTooLong, 0},
		"not a number":       {429, "NaN", `{"error":{"message":"slow down"}}`, llm.ClassRateLimited, 0},
		"overloaded":         {503, "2", `upstream connect error`, llm.ClassTransient, 2 * time.Second},
		"no JSON":            {200, "", `<html>Welcome</html>`, llm.ClassTransient, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := (&fake{chat: func(w http.ResponseWriter) {
				w.Header().Set("Content-Type", "application/json")
				if tt.header != "" {
					w.Header().Set("Retry-After", tt.header)
				}
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}}).start(t)
			_, err := agentstest.Collect(t.Context(), c, llm.ReplyRequest{})
			_, errAnswer := c.Answer(t.Context(), llm.Question{})
			for _, err := range []error{err, errAnswer} {
				f, ok := errors.AsType[*llm.Failure](err)
				if !ok || f.Class != tt.class || f.RetryAfter != tt.wait || f.Message == "" {
					t.Errorf("failure %v after %v", err, f)
				}
				if tt.class == llm.ClassPermanent && f.Message != "the language model refuses the key or the request" {
					t.Errorf("it says %q", f.Message)
				}
			}
		})
	}
}

// FuzzStream checks that Reply terminates for any stream, and that each of its errors is an *llm.Failure.
func FuzzStream(f *testing.F) {
	f.Add("data: " + delta(`"content":"Hi"`, `"stop"`) + "\n\ndata: [DONE]\n\n")
	f.Add("data: {\r\ndata: \"choices\":[]}\r\n\r\n: a comment\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		c := client(t, openai.Config{Client: &http.Client{Transport: bytewise(stream)}})
		_, err := agentstest.Collect(t.Context(), c, llm.ReplyRequest{})
		if _, ok := errors.AsType[*llm.Failure](err); err != nil && !ok {
			t.Errorf("%q fails with %v", stream, err)
		}
	})
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	nobody := client(t, openai.Config{BaseURL: "http://127.0.0.1:1/v1", APIKey: key})
	if _, err := agentstest.Collect(t.Context(), nobody, llm.ReplyRequest{}); llm.ClassOf(err) != llm.ClassTransient || err == nil {
		t.Errorf("nobody there: %v", err)
	}
}

// TestEndless checks that the client cuts off an endless response, whether it contains text, a tool call or an answer.
func TestEndless(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("word ", 10_000)
	endless := func(opening, again string) *openai.Client {
		return (&fake{chat: func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			if strings.HasPrefix(opening, "{") {
				w.Header().Set("Content-Type", "application/json")
			}
			_, err := io.WriteString(w, opening)
			for err == nil {
				_, err = io.WriteString(w, again)
			}
		}}).start(t)
	}
	for name, event := range map[string]string{
		"text": delta(`"content":"`+words+`"`, "null"),
		"call": delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"`+words+`"}}]`, "null"),
	} {
		got, err := agentstest.Collect(t.Context(), endless("", "data: "+event+"\n\n"), llm.ReplyRequest{})
		if llm.ClassOf(err) != llm.ClassTransient || len(got.Text) > 8<<20 {
			t.Errorf("%s: %d bytes, %v", name, len(got.Text), err)
		}
	}
	if _, err := endless(`{"choices":[{"message":{"content":"`, words).Answer(t.Context(), verdict); llm.ClassOf(err) != llm.ClassTransient {
		t.Errorf("an answer: %v", err)
	}
}
