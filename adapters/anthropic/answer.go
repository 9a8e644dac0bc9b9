package anthropic

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"strings"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
)

// Answer answers a question by one message, in the JSON schema mode if the question has a schema: see chat.Refusals.
func (c *Client) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	system, user := q.Prompt(rand.Text())
	body := c.newRequest(q.Task, q.Temperature, system, "")
	body.System[0].CacheControl = nil // the tag of the data differs in each question
	body.Messages = []message{{"user", words(user)}}
	return c.refused.Answer(q.Schema, func(strict bool) (llm.Answer, error) {
		body := body
		if strict {
			body.OutputConfig = &outputConfig{Format: &format{"json_schema", q.Schema}}
		}
		return c.answer(ctx, body)
	})
}

// answer sends one request. It returns an *llm.Failure if the request fails, the response contains no answer, or the service withholds the
// answer.
func (c *Client) answer(ctx context.Context, body request) (llm.Answer, error) {
	response, err := c.post(ctx, body)
	if err != nil {
		return llm.Answer{}, chat.Failure(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, chat.MaxAnswer))
	if err != nil {
		return llm.Answer{}, chat.Failure(err)
	}
	var got event
	if err := json.Unmarshal(raw, &got); got.Type == "error" || chat.Present(got.Error) || err == nil && chat.IsError(raw) {
		return llm.Answer{}, chat.Failure(chat.NewServiceError(raw))
	} else if err != nil {
		return llm.Answer{}, chat.Failure(err)
	}
	var b strings.Builder
	for _, part := range got.Content {
		if part.Type == "text" {
			b.WriteString(part.Text)
		}
	}
	text := chat.WithoutThoughts(b.String())
	switch {
	case got.StopReason == "refusal":
		return llm.Answer{}, chat.ErrWithheld
	case got.StopReason == "max_tokens":
		return llm.Answer{}, chat.ErrTooShort
	case strings.TrimSpace(text) == "":
		return llm.Answer{}, chat.ErrEmpty
	}
	return llm.Answer{JSON: json.RawMessage(text), Model: got.answer.Model, Usage: got.answer.Usage.counted()}, nil
}
