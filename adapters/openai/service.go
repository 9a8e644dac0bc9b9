package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"

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
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function functionCall `json:"function"`
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
	Model   string `json:"model"`
	Usage   usage  `json:"usage"`
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
	} `json:"choices"`
}

// chunk is the data of one event in a streamed response.
type chunk struct {
	Usage   usage `json:"usage"`
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Delta        struct {
			Content   string `json:"content"`
			ToolCalls []struct {
				Index    int64        `json:"index"`
				ID       string       `json:"id"`
				Function functionCall `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
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
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.config.BaseURL, "/")+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", contentType)
	if key := c.key(); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
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
	return nil, newServiceError(response, text)
}

// maxError is the maximum number of bytes that post reads from the body of an error response.
const maxError = 1 << 20

// serviceError is an error that the service reports. Error does not include the service's message, which can quote the prompt or the key.
type serviceError struct {
	status      int
	retryAfter  string // the Retry-After header
	code, param string
	message     string
}

// Error returns a text that contains only the HTTP status.
func (e *serviceError) Error() string {
	return fmt.Sprintf("the service answered with the status %d", e.status)
}

func newServiceError(response *http.Response, body []byte) *serviceError {
	e := &serviceError{status: response.StatusCode, retryAfter: response.Header.Get("Retry-After")}
	var envelope struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(body, &envelope)
	var detail map[string]any // a map, because servers differ in the types of the members
	if json.Unmarshal(envelope.Error, &detail) != nil {
		_ = json.Unmarshal(envelope.Error, &e.message) // some servers send only a string
		return e
	}
	e.code, _ = detail["code"].(string)
	e.param, _ = detail["param"].(string)
	e.message, _ = detail["message"].(string)
	return e
}

// streamError is an error event that the service sends within a stream.
type streamError struct{ event []byte }

// Error returns a fixed text without the event, which can quote the prompt.
func (*streamError) Error() string {
	return "the service reported an error in the middle of its answer"
}

// complete requests a chat completion that is not streamed.
func (c *Client) complete(ctx context.Context, body chatRequest) (completion, error) {
	var answer completion
	response, err := c.postJSON(ctx, "/chat/completions", body)
	if err != nil {
		return answer, err
	}
	defer func() { _ = response.Body.Close() }()
	return answer, json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&answer)
}

// stream requests a chat completion as server-sent events, and yields the parsed data of each event until "[DONE]". It reads at most
// maxAnswer bytes.
func (c *Client) stream(ctx context.Context, body chatRequest) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		body.Stream = true
		response, err := c.postJSON(ctx, "/chat/completions", body)
		if err != nil {
			yield(chunk{}, err)
			return
		}
		defer func() { _ = response.Body.Close() }()
		lines := bufio.NewScanner(io.LimitReader(response.Body, maxAnswer))
		lines.Buffer(nil, maxAnswer)
		var data []byte
		for lines.Scan() {
			line := lines.Bytes()
			if more, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(append(data, bytes.TrimPrefix(more, []byte(" "))...), '\n')
			}
			if len(line) > 0 || len(data) == 0 {
				continue
			}
			if bytes.HasPrefix(data, []byte("[DONE]")) {
				return
			}
			piece, err := readChunk(data)
			if !yield(piece, err) || err != nil {
				return
			}
			data = data[:0]
		}
		if err := lines.Err(); err != nil {
			yield(chunk{}, err)
		}
	}
}

// readChunk parses the data of an event. It returns a *streamError if the event reports an error.
func readChunk(data []byte) (chunk, error) {
	var piece struct {
		chunk
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &piece); err != nil {
		return chunk{}, err
	}
	if len(piece.Error) > 0 && string(piece.Error) != "null" {
		return chunk{}, &streamError{bytes.Clone(data)}
	}
	return piece.chunk, nil
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
	response, err := c.post(ctx, "/audio/transcriptions", w.FormDataContentType(), &form)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Text string `json:"text"`
	}
	return answer.Text, json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&answer)
}
