package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"net/textproto"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
)

// The types of request and response bodies contain only the members that this package uses.

// chatRequest is the body of a request for a chat completion.
type chatRequest struct {
	Model          string          `json:"model"`
	Messages       []chatMessage   `json:"messages"`
	Tools          []chatTool      `json:"tools,omitempty"`
	Temperature    *float64        `json:"temperature,omitempty"`
	ResponseFormat *responseFormat `json:"response_format,omitempty"`
	Stream         bool            `json:"stream,omitempty"`
	StreamOptions  *streamOptions  `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// responseFormat requests an answer that fits a JSON schema.
type responseFormat struct {
	Type       string     `json:"type"`
	JSONSchema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

type chatMessage struct {
	Role       string         `json:"role"`
	Content    *string        `json:"content,omitempty"`
	ToolCalls  []chatToolCall `json:"tool_calls,omitempty"`
	ToolCallID string         `json:"tool_call_id,omitempty"`
}

// said returns a message with the given role and text.
func said(role, text string) chatMessage { return chatMessage{Role: role, Content: &text} }

type chatToolCall struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function functionCall    `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"`
}

type functionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters"`
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`

	Details struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// counted returns the token counts, as far as they are plausible.
func (u usage) counted() llm.Usage {
	counted := llm.Usage{Input: chat.Tokens(u.PromptTokens), Output: chat.Tokens(u.CompletionTokens)}
	counted.Cached = min(chat.Tokens(u.Details.Cached), counted.Input)
	return counted
}

// completion is the body of a response that is not streamed.
type completion struct {
	Model   string   `json:"model"`
	Usage   usage    `json:"usage"`
	Choices []choice `json:"choices"`
}

// chunk is the data of one event in a streamed response.
type chunk = completion

// choice is an answer, or a piece of a streamed answer.
type choice struct {
	FinishReason chat.Word       `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`
	Message      message         `json:"message"`
	Delta        message         `json:"delta"` // a piece of Message
}

// message is a message of the model, or a piece of one. Members for thoughts are not here, because nothing reads them.
type message struct {
	Content      content       `json:"content"`
	Refusal      content       `json:"refusal"`
	ToolCalls    []toolCall    `json:"tool_calls"`
	FunctionCall *functionPart `json:"function_call"` // a tool call of older services
}

type toolCall struct {
	Index    int64           `json:"index"`
	ID       chat.Word       `json:"id"`
	Function functionPart    `json:"function"`
	Extra    json.RawMessage `json:"extra_content"` // must be sent back; Gemini's signature of its thoughts
}

type functionPart struct {
	Name      chat.Word      `json:"name"`
	Arguments chat.Arguments `json:"arguments"`
}

// speechRequest is the body of a request for speech.
type speechRequest struct {
	Model  string  `json:"model"`
	Input  string  `json:"input"`
	Voice  string  `json:"voice"`
	Format string  `json:"response_format"`
	Speed  float64 `json:"speed,omitempty"` // factor from 0.25 to 4; 0 means 1
}

// postJSON sends body as JSON to a path below the base URL: see chat.Service.
func (c *Client) postJSON(ctx context.Context, path string, body any) (*http.Response, error) {
	return c.service.PostJSON(ctx, c.service.URL(path), nil, body)
}

// postChat sends a request for a chat completion without the members that the service refuses.
func (c *Client) postChat(ctx context.Context, body chatRequest) (*http.Response, error) {
	return c.refused.Post(body, func(body chatRequest) (*http.Response, error) { return c.postJSON(ctx, "/chat/completions", body) })
}

// complete requests a chat completion that is not streamed.
func (c *Client) complete(ctx context.Context, body chatRequest) (completion, error) {
	response, err := c.postChat(ctx, body)
	if err != nil {
		return completion{}, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, chat.MaxAnswer))
	if err != nil {
		return completion{}, err
	}
	return parseAnswer(text, "")
}

// stream requests a chat completion as server-sent events, and yields the parsed data of each event. Its last element is an error unless the
// answer ended with "[DONE]" or a finish reason. A service that does not stream answers with one completion, which becomes one chunk. stream
// reads at most chat.MaxAnswer bytes.
func (c *Client) stream(ctx context.Context, body chatRequest) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		body.Stream = true
		response, err := c.postChat(ctx, body)
		if err != nil {
			yield(chunk{}, err)
			return
		}
		defer func() { _ = response.Body.Close() }()
		text := bufio.NewReader(io.LimitReader(response.Body, chat.MaxAnswer))
		if first, _ := text.Peek(1); string(first) == "{" {
			yield(readWhole(text))
			return
		}
		finished := false
		for e, err := range chat.Events(text) {
			if err != nil {
				yield(chunk{}, err)
				return
			}
			if string(e.Data) == chat.Done {
				return
			}
			piece, err := parseAnswer(e.Data, e.Name)
			finished = finished || len(piece.Choices) > 0 && piece.Choices[0].FinishReason != ""
			if !yield(piece, err) || err != nil {
				return
			}
		}
		if !finished {
			yield(chunk{}, chat.ErrCutOff)
		}
	}
}

// readWhole reads a completion that is not streamed, and returns it as one chunk.
func readWhole(body io.Reader) (chunk, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return chunk{}, err
	}
	piece, err := parseAnswer(text, "")
	for i := range piece.Choices {
		piece.Choices[i].Delta = piece.Choices[i].Message
	}
	return piece, err
}

// parseAnswer parses a completion or the data of an event with the given name. It returns a *chat.ServiceError if these report an error. Events
// with other names than "error" and "message" may contain anything.
func parseAnswer(text []byte, event string) (completion, error) {
	var answer struct {
		completion
		Error json.RawMessage `json:"error"`
	}
	err := json.Unmarshal(text, &answer)
	foreign := event != "" && event != "message" && event != "error"
	switch {
	case chat.Present(answer.Error) || event == "error" || err == nil && len(answer.Choices) == 0 && chat.IsError(text):
		return completion{}, chat.NewServiceError(text)
	case err != nil && foreign:
		return completion{}, nil
	case err != nil:
		return completion{}, err
	}
	for i, c := range answer.Choices {
		if chat.Present(c.Error) {
			return completion{}, chat.NewServiceError(text, c.Error)
		}
		if c.FinishReason == "error" {
			return completion{}, chat.NewServiceError(nil)
		}
		if c.Message.FunctionCall != nil || c.Delta.FunctionCall != nil {
			answer.Choices[i].Message.older()
			answer.Choices[i].Delta.older()
		}
	}
	return answer.completion, nil
}

// older converts the tool call of an older service.
func (m *message) older() {
	if m.FunctionCall != nil {
		m.ToolCalls = append(m.ToolCalls, toolCall{Function: *m.FunctionCall})
	}
}

// transcription sends a WAV file with form fields and returns the text that the service recognized.
func (c *Client) transcription(ctx context.Context, wav []byte, fields map[string]string) (string, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", `form-data; name="file"; filename="utterance.wav"`)
	header.Set("Content-Type", "audio/wav")
	part, err := w.CreatePart(header)
	if err != nil {
		return "", err
	}
	if _, err := part.Write(wav); err != nil {
		return "", err
	}
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			return "", err
		}
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	response, err := c.service.Post(ctx, c.service.URL("/audio/transcriptions"), nil, w.FormDataContentType(), &form)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, chat.MaxAnswer))
	if err != nil {
		return "", err
	}
	return readTranscript(text)
}
