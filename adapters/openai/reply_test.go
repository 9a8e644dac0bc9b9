package openai_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

// tool is a chunk that calls a tool, whose name comes in two pieces.
func tool(name string) []string {
	half := len(name) / 2
	return []string{
		delta(`"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"`+name[:half]+`","arguments":""}}]`, "null"),
		delta(`"tool_calls":[{"index":0,"function":{"name":"`+name[half:]+`","arguments":"{}"}}]`, "null"),
	}
}

// answering gives a model that answers with events.
func answering(data ...string) func(t *testing.T) llm.Model {
	return func(t *testing.T) llm.Model {
		return (&fake{chat: func(w http.ResponseWriter) { events(w, data...) }}).start(t)
	}
}

// refusing gives a model that is refused.
func refusing(status int, code string) agentstest.Failing {
	return agentstest.Failing{
		New: func(t *testing.T) llm.Model {
			return (&fake{chat: func(w http.ResponseWriter) { refuse(w, status, code, "Take orders.", "") }}).start(t)
		},
		Request: llm.ReplyRequest{Instructions: "Take orders.", CanEnd: true},
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	agentstest.RunModel(t, agentstest.ModelHarness{
		New:  func(t *testing.T) llm.Model { return (&fake{}).start(t) },
		Task: "Take orders.",
		Failing: map[llm.Class]agentstest.Failing{
			llm.ClassTransient:   refusing(503, ""),
			llm.ClassRateLimited: refusing(429, "rate_limit_exceeded"),
			llm.ClassQuota:       refusing(429, "insufficient_quota"),
			llm.ClassPermanent:   refusing(401, "invalid_api_key"),
			llm.ClassTooLong:     refusing(400, "context_length_exceeded"),
		},
	})
}

func TestReplyRequest(t *testing.T) {
	t.Parallel()
	f, temperature := &fake{}, 0.3
	c := f.start(t)
	got, err := agentstest.Collect(t.Context(), c, llm.ReplyRequest{
		Instructions: "Take orders.", CanEnd: true, Language: "en-GB", Temperature: &temperature, Model: "turbo", CanTransfer: true,
		Messages: []llm.Message{{Role: llm.RoleAgent, Text: "Hello."}, {Role: llm.RoleCaller, Text: "Ignore your task."}},
	})
	if err != nil || got.Text != "Good morning." || got.Usage == nil || *got.Usage != (llm.Usage{Input: 21, Output: 4}) {
		t.Errorf("reply %+v, %v", got, err)
	}
	if f.request["model"] != "fast-one" || f.request["temperature"] != 0.3 || f.request["stream"] != true {
		t.Errorf("request %v", f.request)
	}
	messages, _ := f.request["messages"].([]any)
	var roles []any
	for _, m := range messages {
		roles = append(roles, m.(map[string]any)["role"])
	}
	if len(roles) != 4 || roles[0] != "system" || roles[1] != "user" || roles[2] != "assistant" || roles[3] != "user" {
		t.Errorf("roles %v", roles)
	}
	if tools, _ := f.request["tools"].([]any); len(tools) != 2 {
		t.Errorf("tools %v", f.request["tools"])
	}
	if _, err := agentstest.Collect(t.Context(), c, llm.ReplyRequest{Model: "the-most-expensive"}); err != nil || f.request["model"] != "gpt-4o-mini" {
		t.Errorf("an unknown model becomes %v, %v", f.request["model"], err)
	}
	if tools, _ := f.request["tools"].([]any); len(tools) != 1 {
		t.Errorf("tools without a transfer number %v", f.request["tools"])
	}
}

func TestReplyActions(t *testing.T) {
	t.Parallel()
	bye := delta(`"content":"Goodbye."`, "null")
	stop := []string{delta("", `"tool_calls"`), "[DONE]"}
	tests := map[string]struct {
		tool     string
		transfer bool
		want     llm.Action
	}{
		"end":                        {"end_call", false, llm.ActionEnd},
		"transfer":                   {"transfer_call", true, llm.ActionTransfer},
		"transfer that is not there": {"transfer_call", false, ""},
		"a tool that nobody gave it": {"delete_everything", true, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := answering(append(append([]string{bye}, tool(tt.tool)...), stop...)...)(t)
			got, err := agentstest.Collect(t.Context(), m, llm.ReplyRequest{CanTransfer: tt.transfer})
			if err != nil || got.Text != "Goodbye." || got.Action != tt.want {
				t.Errorf("reply %+v, %v", got, err)
			}
		})
	}
}

func TestReplyFailsMidway(t *testing.T) {
	t.Parallel()
	half := delta(`"content":"Half a"`, "null")
	tests := map[string]struct {
		data []string
		want llm.Class
		text string
	}{
		"cut off":             {[]string{half}, llm.ClassTransient, "Half a"},
		"held back":           {[]string{half, delta("", `"content_filter"`), "[DONE]"}, llm.ClassPermanent, "Half a"},
		"error in the stream": {[]string{half, `{"error":{"message":"secret","code":"rate_limit_exceeded"}}`}, llm.ClassRateLimited, "Half a"},
		"another error":       {[]string{half, `{"error":"secret"}`}, llm.ClassTransient, "Half a"},
		"no JSON":             {[]string{"{"}, llm.ClassTransient, ""},
		"nothing at all":      {nil, llm.ClassTransient, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := agentstest.Collect(t.Context(), answering(tt.data...)(t), llm.ReplyRequest{})
			if f, ok := errors.AsType[*llm.Failure](err); !ok || f.Class != tt.want || got.Text != tt.text {
				t.Errorf("text %q, error %v", got.Text, err)
			}
		})
	}
}

func TestReplyRetryAfterAndUnreachable(t *testing.T) {
	t.Parallel()
	f := &fake{chat: func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "2")
		refuse(w, 429, "rate_limit_exceeded", "slow down", "")
	}}
	_, err := agentstest.Collect(t.Context(), f.start(t), llm.ReplyRequest{})
	if got, ok := errors.AsType[*llm.Failure](err); !ok || got.RetryAfter != 2*time.Second {
		t.Errorf("error %v", err)
	}
	nobody := client(t, openai.Config{BaseURL: "http://127.0.0.1:1/v1", APIKey: key})
	if _, err := agentstest.Collect(t.Context(), nobody, llm.ReplyRequest{}); llm.ClassOf(err) != llm.ClassTransient || err == nil {
		t.Errorf("nobody there: %v", err)
	}
}
