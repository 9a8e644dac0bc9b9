package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"net/textproto"

	"github.com/callwright/callwright/agents/llm"
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
}

// mostTokens is the maximum token count that a usage may report. It is more than any request needs.
const mostTokens = 1_000_000_000

// counted returns the token counts, limited to between 0 and mostTokens.
func (u usage) counted() llm.Usage {
	return llm.Usage{Input: min(max(u.PromptTokens, 0), mostTokens), Output: min(max(u.CompletionTokens, 0), mostTokens)}
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
	FinishReason word            `json:"finish_reason"`
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
	ID       word            `json:"id"`
	Function functionPart    `json:"function"`
	Extra    json.RawMessage `json:"extra_content"` // must be sent back; Gemini's signature of its thoughts
}

type functionPart struct {
	Name      word      `json:"name"`
	Arguments arguments `json:"arguments"`
}

// speechRequest is the body of a request for speech.
type speechRequest struct {
	Model  string  `json:"model"`
	Input  string  `json:"input"`
	Voice  string  `json:"voice"`
	Format string  `json:"response_format"`
	Speed  float64 `json:"speed,omitempty"` // factor from 0.25 to 4; 0 means 1
}

// postJSON sends body as JSON without HTML escapes: see post.
func (c *Client) postJSON(ctx context.Context, path string, body any) (*http.Response, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return nil, err
	}
	return c.post(ctx, path, "application/json", &text)
}

// post sends a request to a path below the base URL. It returns a *serviceError for a status of 400 or more. Otherwise the caller closes
// the body of the response.
func (c *Client) post(ctx context.Context, path, contentType string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.JoinPath(path).String(), body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", contentType)
	c.authorize(request.Header)
	response, err := c.config.Client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode < http.StatusBadRequest {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxError))
	if err != nil {
		return nil, err
	}
	refused := newServiceError(text)
	refused.status, refused.header = response.StatusCode, response.Header
	c.config.Logger.WarnContext(ctx, "a service refused a request", "path", path, "reason", refused)
	return nil, refused
}

// authorize sets the header with the key.
func (c *Client) authorize(header http.Header) {
	switch key := c.key(); {
	case key == "":
	case c.config.KeyHeader != "":
		header.Set(c.config.KeyHeader, key)
	default:
		header.Set("Authorization", "Bearer "+key)
	}
}

// maxError is the maximum number of bytes that post reads from the body of an error response.
const maxError = 1 << 20

// complete requests a chat completion that is not streamed.
func (c *Client) complete(ctx context.Context, body chatRequest) (completion, error) {
	response, err := c.postChat(ctx, body)
	if err != nil {
		return completion{}, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return completion{}, err
	}
	return parseAnswer(text, "")
}

// stream requests a chat completion as server-sent events, and yields the parsed data of each event. Its last element is an error unless the
// answer ended with "[DONE]" or a finish reason. A service that does not stream answers with one completion, which becomes one chunk. stream
// reads at most maxAnswer bytes.
func (c *Client) stream(ctx context.Context, body chatRequest) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		body.Stream = true
		response, err := c.postChat(ctx, body)
		if err != nil {
			yield(chunk{}, err)
			return
		}
		defer func() { _ = response.Body.Close() }()
		text := bufio.NewReader(io.LimitReader(response.Body, maxAnswer))
		if first, _ := text.Peek(1); string(first) == "{" {
			yield(readWhole(text))
			return
		}
		finished := false
		for e, err := range events(text) {
			if err != nil {
				yield(chunk{}, err)
				return
			}
			if string(e.data) == done {
				return
			}
			piece, err := parseAnswer(e.data, e.name)
			finished = finished || len(piece.Choices) > 0 && piece.Choices[0].FinishReason != ""
			if !yield(piece, err) || err != nil {
				return
			}
		}
		if !finished {
			yield(chunk{}, errCutOff)
		}
	}
}

// errCutOff reports a stream that ended before its answer was complete.
var errCutOff = errors.New("the service cut off the answer before its end")

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

// parseAnswer parses a completion or the data of an event with the given name. It returns a *serviceError if these report an error. Events
// with other names than "error" and "message" may contain anything.
func parseAnswer(text []byte, event string) (completion, error) {
	var answer struct {
		completion
		Error json.RawMessage `json:"error"`
	}
	err := json.Unmarshal(text, &answer)
	foreign := event != "" && event != "message" && event != "error"
	switch {
	case present(answer.Error) || event == "error" || err == nil && len(answer.Choices) == 0 && isError(text):
		return completion{}, newServiceError(text)
	case err != nil && foreign:
		return completion{}, nil
	case err != nil:
		return completion{}, err
	}
	for i, c := range answer.Choices {
		if present(c.Error) {
			return completion{}, newServiceError(text, c.Error)
		}
		if c.FinishReason == "error" {
			return completion{}, newServiceError(nil)
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

// present reports whether a member has a value other than null.
func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

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
	response, err := c.post(ctx, "/audio/transcriptions", w.FormDataContentType(), &form)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return "", err
	}
	return readTranscript(text)
}
