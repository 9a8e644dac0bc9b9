package openai

import (
	"encoding/json"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
)

// request returns the body of a chat completion request for a reply. nonce is part of the tag that marks the block of data.
func (c *Client) request(r llm.ReplyRequest, nonce string) chatRequest {
	return chatRequest{
		Model: c.config.Model, Messages: messages(r, nonce), Tools: tools(r), Temperature: r.Temperature,
		StreamOptions: &streamOptions{IncludeUsage: true},
	}
}

// messages returns the system message and the messages of the conversation.
func messages(r llm.ReplyRequest, nonce string) []chatMessage {
	out := []chatMessage{said("system", chat.NewInstructions(r, nonce).String())}
	for _, t := range chat.Turns(r, chat.Data(r, nonce)) {
		switch t.Role {
		case chat.User:
			out = append(out, said("user", t.Text))
		case chat.Model:
			out = append(out, ownMessage(t))
		case chat.Tool:
			for _, result := range t.Results {
				answer := said("tool", result.Text)
				answer.ToolCallID = result.Call.ID
				out = append(out, answer)
			}
		}
	}
	return out
}

// ownMessage returns a message with the model's own text and its tool calls.
func ownMessage(t chat.Turn) chatMessage {
	own := chatMessage{Role: "assistant"}
	if t.Text != "" {
		own.Content = &t.Text
	}
	for _, c := range t.Calls {
		own.ToolCalls = append(own.ToolCalls, chatToolCall{
			ID: c.ID, Type: "function", Function: functionCall{Name: c.Name, Arguments: string(c.Arguments)}, Extra: c.Extra,
		})
	}
	return own
}

func tools(r llm.ReplyRequest) []chatTool {
	var out []chatTool
	for _, t := range chat.Tools(r) {
		parameters := map[string]any{"type": "object", "properties": map[string]any{}}
		if len(t.Parameters) > 0 {
			_ = json.Unmarshal(t.Parameters, &parameters) // schemas are checked when a tool is stored; the service refuses invalid ones
		}
		out = append(out, chatTool{
			Type: "function", Function: function{Name: t.Name, Description: t.Description, Parameters: parameters},
		})
	}
	return out
}
