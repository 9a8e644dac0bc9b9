package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
)

// The types of request bodies contain only the members that this package uses.

// request is the body of a request for a message.
type request struct {
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	System       []text        `json:"system"`
	Messages     []message     `json:"messages"`
	Tools        []tool        `json:"tools,omitempty"`
	Temperature  *float64      `json:"temperature,omitempty"`
	Thinking     *kind         `json:"thinking,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
	Stream       bool          `json:"stream,omitempty"`
}

type kind struct {
	Type string `json:"type"`
}

// outputConfig requests an answer that fits a JSON schema, and how much the model should think.
type outputConfig struct {
	Effort string  `json:"effort,omitempty"`
	Format *format `json:"format,omitempty"`
}

type format struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // of text, toolUse, toolResult, or thoughts as the service has sent them
}

type text struct {
	Type         string `json:"type"`
	Text         string `json:"text"`
	CacheControl *kind  `json:"cache_control,omitempty"` // the service stores what it has read up to here
}

type toolUse struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type toolResult struct {
	Type      string `json:"type"`
	ToolUseID string `json:"tool_use_id"`
	Content   string `json:"content,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// The maximum numbers of tokens of an answer, which each request must state. Models that think spend tokens on their thoughts, too. Models
// that allow fewer tokens for long answers refuse the number, and then get the other one.
const (
	replyTokens = 4096
	longTokens  = 16000
)

// members lists the members of requests that some models refuse. A model that cannot be kept from thinking is asked for little effort.
var members = []chat.Member[request]{
	{Name: "temperature", Meaning: regexp.MustCompile(`temperature`), Omit: func(r *request) bool {
		had := r.Temperature != nil
		r.Temperature = nil
		return had
	}},
	{Name: "thinking", Meaning: regexp.MustCompile(`(?i)thinking`), Omit: func(r *request) bool {
		if r.Thinking == nil {
			return false
		}
		var config outputConfig
		if r.OutputConfig != nil {
			config = *r.OutputConfig
		}
		config.Effort = "low"
		r.Thinking, r.OutputConfig = nil, &config
		return true
	}},
	{Name: "effort", Meaning: regexp.MustCompile(`(?i)effort`), Omit: func(r *request) bool {
		if r.OutputConfig == nil || r.OutputConfig.Effort == "" {
			return false
		}
		format := r.OutputConfig.Format
		if r.OutputConfig = nil; format != nil {
			r.OutputConfig = &outputConfig{Format: format}
		}
		return true
	}},
	{Name: "max_tokens", Meaning: regexp.MustCompile(`max_tokens`), Omit: func(r *request) bool {
		had := r.MaxTokens > replyTokens
		r.MaxTokens = min(r.MaxTokens, replyTokens)
		return had
	}},
	{Name: "cache_control", Meaning: regexp.MustCompile(`cache_control`), Omit: func(r *request) bool {
		had := r.System[0].CacheControl != nil
		r.System[0].CacheControl = nil
		return had
	}},
}

// newRequest returns a request without messages. Its system message consists of a part that the service caches, and of one that changes.
func (c *Client) newRequest(task llm.Task, temperature *float64, system, changing string) request {
	r := request{
		Model: c.model, MaxTokens: longTokens, System: []text{{Type: "text", Text: system, CacheControl: &kind{"ephemeral"}}},
	}
	if changing = strings.TrimSpace(changing); changing != "" {
		r.System = append(r.System, text{Type: "text", Text: changing})
	}
	if temperature != nil {
		r.Temperature = new(min(*temperature, 1)) // the highest one that the service accepts
	}
	if chat.Waits(task) {
		r.MaxTokens, r.Thinking = replyTokens, &kind{"disabled"}
	}
	return r
}

// replyRequest returns the request for a reply. nonce is part of the tag that marks the block of data.
func (c *Client) replyRequest(r llm.ReplyRequest, nonce string) request {
	i := chat.NewInstructions(r, nonce)
	body := c.newRequest(r.Task, r.Temperature, i.Role+i.Task, i.Data)
	body.Messages, body.Stream = messages(chat.EndWithUser(chat.Turns(r, chat.Data(r, nonce)))), true
	for _, t := range chat.Tools(r) {
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		body.Tools = append(body.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: schema})
	}
	return body
}

// messages converts turns. The service demands that ids of tool calls are unique in a conversation and consist of certain characters, so
// that all calls get new ids; that results stand first in the message after their calls; and that no text is blank.
func messages(turns []chat.Turn) []message {
	var out []message
	add := func(role string, content []any) {
		switch n := len(out); {
		case len(content) == 0:
		case n > 0 && out[n-1].Role == role:
			out[n-1].Content = append(out[n-1].Content, content...)
		default:
			out = append(out, message{role, content})
		}
	}
	calls := 0 // number of calls so far
	for _, t := range turns {
		switch t.Role {
		case chat.User:
			add("user", words(t.Text))
		case chat.Model:
			content := append(thoughts(t.Calls), words(t.Text)...)
			for i, call := range t.Calls {
				content = append(content, toolUse{"tool_use", callID(calls + i), call.Name, call.Arguments})
			}
			add("assistant", content)
		case chat.Tool:
			var content []any
			for _, result := range t.Results {
				content = append(content, toolResult{"tool_result", callID(calls), result.Text})
				calls++
			}
			add("user", content)
		}
	}
	return out
}

func callID(number int) string { return fmt.Sprintf("call_%d", number) }

// words returns a block with a text, or none if the text is blank.
func words(s string) []any {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return []any{text{Type: "text", Text: s}}
}

// extra is the form of llm.ToolCall.Extra. The messages of later requests must contain the thoughts that led to a tool call.
type extra struct {
	Anthropic struct {
		Thinking []thought `json:"thinking"`
	} `json:"anthropic"`
}

// thoughts returns the thoughts that stand before tool calls.
func thoughts(calls []llm.ToolCall) []any {
	var out []any
	for _, call := range calls {
		var e extra
		if len(call.Extra) > 0 && json.Unmarshal(call.Extra, &e) == nil {
			for _, t := range e.Anthropic.Thinking {
				out = append(out, t)
			}
		}
	}
	return out
}

// post sends a request without the members that the model refuses: see chat.Refusals.
func (c *Client) post(ctx context.Context, body request) (*http.Response, error) {
	return c.refused.Post(body, func(body request) (*http.Response, error) {
		return c.service.PostJSON(ctx, c.url, http.Header{"Anthropic-Version": {version}}, body)
	})
}
