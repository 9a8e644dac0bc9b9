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

// The bodies of requests and answers have the members that this package uses, and no others.

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

// responseFormat asks for an answer that fits a schema.
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

// said returns a message of a role.
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

// mostTokens is more than any call has.
const mostTokens = 1_000_000_000

// counted returns the tokens, without impossible counts.
func (u usage) counted() llm.Usage {
	return llm.Usage{Input: min(max(u.PromptTokens, 0), mostTokens), Output: min(max(u.CompletionTokens, 0), mostTokens)}
}

// completion is the answer to a request that is not streamed.
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

// chunk is a piece of an answer that is streamed.
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
	Speed  float64 `json:"speed,omitempty"` // factor, from 0.25 to 4; 0: 1
}

// postJSON sends a body as JSON: see post.
func (c *Client) postJSON(ctx context.Context, path string, body any) (*http.Response, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return nil, err
	}
	return c.post(ctx, path, "application/json", &text)
}

// post sends a request. An answer with the status of a failure is a *serviceError; of any other, the caller closes the body.
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

// maxError bounds the part of a failure's body that is read, in bytes.
const maxError = 1 << 20

// serviceError is a failure that the service reports. Its text has none of the service's own words, which can quote the
// prompt or the key.
type serviceError struct {
	status      int
	retryAfter  string // the header
	code, param string
	message     string
}

// Error returns the status.
func (e *serviceError) Error() string {
	return fmt.Sprintf("the service answered with the status %d", e.status)
}

func newServiceError(response *http.Response, body []byte) *serviceError {
	e := &serviceError{status: response.StatusCode, retryAfter: response.Header.Get("Retry-After")}
	var envelope struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(body, &envelope)
	var detail map[string]any // servers differ in the types of the members
	if json.Unmarshal(envelope.Error, &detail) != nil {
		_ = json.Unmarshal(envelope.Error, &e.message) // some write a text alone
		return e
	}
	e.code, _ = detail["code"].(string)
	e.param, _ = detail["param"].(string)
	e.message, _ = detail["message"].(string)
	return e
}

// streamError is a failure that the service reports in the midst of a stream.
type streamError struct{ event []byte }

// Error states that the failure came in the middle of an answer, without the event.
func (*streamError) Error() string {
	return "the service reported an error in the middle of its answer"
}

// complete asks for a chat completion, whole.
func (c *Client) complete(ctx context.Context, body chatRequest) (completion, error) {
	var answer completion
	response, err := c.postJSON(ctx, "/chat/completions", body)
	if err != nil {
		return answer, err
	}
	defer func() { _ = response.Body.Close() }()
	return answer, json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&answer)
}

// stream asks for a chat completion, piece by piece: server-sent events, whose data is JSON, until "[DONE]".
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

// readChunk reads the data of an event.
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

// transcription asks for the words of a WAV file.
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
