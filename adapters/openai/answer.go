package openai

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"

	"github.com/callwright/callwright/agents/llm"
)

// Answer answers a question by chat completion, in the JSON schema mode if the question has a schema. If the service refuses that mode or
// the schema, or the model fails in the mode, Answer repeats the request without the mode, and only the prompt describes the schema: see
// llm.Question.Prompt. It does not request a refused mode, or the mode with a refused schema, again.
func (c *Client) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	system, user := q.Prompt(rand.Text())
	body := chatRequest{
		Model: c.config.Model, Messages: []chatMessage{said("system", system), said("user", user)}, Temperature: q.Temperature,
	}
	if !c.refused.allows(q.Schema) {
		return c.answer(ctx, body)
	}
	strict := body
	strict.ResponseFormat = &responseFormat{
		Type: "json_schema", JSONSchema: jsonSchema{Name: schemaName(q.Task), Schema: q.Schema, Strict: true},
	}
	a, err := c.answer(ctx, strict)
	broken, ok := errors.AsType[*serviceError](err)
	if !ok {
		return a, err
	}
	scope := refusedBy(broken)
	if scope == refusedNothing {
		return a, err
	}
	a, err = c.answer(ctx, body)
	if err == nil {
		c.refused.store(scope, q.Schema)
	}
	return a, err
}

// answer sends one request. It returns an *llm.Failure if the request fails, the response contains no answer, or the service withholds the
// answer.
func (c *Client) answer(ctx context.Context, body chatRequest) (llm.Answer, error) {
	completion, err := c.complete(ctx, body)
	if err != nil {
		return llm.Answer{}, failure(err)
	}
	if len(completion.Choices) == 0 {
		return llm.Answer{}, errEmpty
	}
	choice := completion.Choices[0]
	text := withoutThoughts(string(choice.Message.Content))
	switch {
	case choice.FinishReason == "content_filter" || choice.Message.Refusal != "":
		return llm.Answer{}, errWithheld
	case choice.FinishReason == "length":
		return llm.Answer{}, &llm.Failure{Class: llm.ClassInvalid, Message: "the answer was cut off at the maximum length that the service allows"}
	case strings.TrimSpace(text) == "":
		return llm.Answer{}, errEmpty
	}
	return llm.Answer{JSON: json.RawMessage(text), Model: completion.Model, Usage: completion.Usage.counted()}, nil
}

// These failures are answers without words.
var (
	errEmpty    = &llm.Failure{Class: llm.ClassTransient, Message: "the service returned an empty answer"}
	errWithheld = &llm.Failure{Class: llm.ClassPermanent, Message: "the service withheld the answer: its content filter or the model refused the request"}
)

// schemaName returns the name of a question's schema: the task, or "answer" if the task is empty. The service requires a name.
func schemaName(task llm.Task) string {
	if task == "" {
		return "answer"
	}
	return string(task)
}
