package openai

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
)

// Answer answers a question by chat completion, in the JSON schema mode if the question has a schema: see chat.Refusals.
func (c *Client) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	system, user := q.Prompt(rand.Text())
	body := chatRequest{
		Model: c.config.Model, Messages: []chatMessage{said("system", system), said("user", user)}, Temperature: q.Temperature,
	}
	return c.refused.Answer(q.Schema, func(strict bool) (llm.Answer, error) {
		body := body
		if strict {
			body.ResponseFormat = &responseFormat{
				Type: "json_schema", JSONSchema: jsonSchema{Name: schemaName(q.Task), Schema: q.Schema, Strict: true},
			}
		}
		return c.answer(ctx, body)
	})
}

// answer sends one request. It returns an *llm.Failure if the request fails, the response contains no answer, or the service withholds the
// answer.
func (c *Client) answer(ctx context.Context, body chatRequest) (llm.Answer, error) {
	completion, err := c.complete(ctx, body)
	if err != nil {
		return llm.Answer{}, chat.Failure(err)
	}
	if len(completion.Choices) == 0 {
		return llm.Answer{}, chat.ErrEmpty
	}
	choice := completion.Choices[0]
	text := chat.WithoutThoughts(string(choice.Message.Content))
	switch {
	case choice.FinishReason == "content_filter" || choice.Message.Refusal != "":
		return llm.Answer{}, chat.ErrWithheld
	case choice.FinishReason == "length":
		return llm.Answer{}, chat.ErrTooShort
	case strings.TrimSpace(text) == "":
		return llm.Answer{}, chat.ErrEmpty
	}
	return llm.Answer{JSON: json.RawMessage(text), Model: completion.Model, Usage: completion.Usage.counted()}, nil
}

// schemaName returns the name of a question's schema: the task, or "answer" if the task is empty. The service requires a name.
func schemaName(task llm.Task) string {
	if task == "" {
		return "answer"
	}
	return string(task)
}
