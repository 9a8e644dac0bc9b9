package openai

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/callwright/callwright/agents/llm"
)

// Answer answers a question by chat completion, in the JSON schema mode if the question has a schema. If the service refuses that mode or
// the schema, Answer repeats the request without the mode, and only the prompt describes the schema: see llm.Question.Prompt. Later
// questions to a model without the mode do not request the mode again.
func (c *Client) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	system, user := q.Prompt(rand.Text())
	body := chatRequest{
		Model: c.config.Model, Messages: []chatMessage{said("system", system), said("user", user)}, Temperature: q.Temperature,
	}
	if _, known := c.noSchema.Load(body.Model); known || len(q.Schema) == 0 {
		return c.answer(ctx, body)
	}
	strict := body
	strict.ResponseFormat = &responseFormat{
		Type: "json_schema", JSONSchema: jsonSchema{Name: schemaName(q.Task), Schema: q.Schema, Strict: true},
	}
	a, err := c.answer(ctx, strict)
	refused, ok := errors.AsType[*serviceError](err)
	if !ok || !aboutFormat(refused) {
		return a, err
	}
	a, err = c.answer(ctx, body)
	if err == nil && !strings.Contains(strings.ToLower(refused.message), "invalid schema") {
		c.noSchema.Store(body.Model, true) // the service refused the mode, not only this schema
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
		return llm.Answer{}, &llm.Failure{Class: llm.ClassTransient, Message: "the service returned an empty answer"}
	}
	choice := completion.Choices[0]
	if choice.FinishReason == "content_filter" || choice.Message.Refusal != "" {
		return llm.Answer{}, &llm.Failure{Class: llm.ClassPermanent, Message: "the service withheld the answer: its content filter or the model refused the request"}
	}
	return llm.Answer{
		JSON: json.RawMessage(choice.Message.Content), Model: completion.Model,
		Usage: completion.Usage.counted(),
	}, nil
}

// schemaName returns the name of a question's schema: the task, or "answer" if the task is empty. The service requires a name.
func schemaName(task llm.Task) string {
	if task == "" {
		return "answer"
	}
	return string(task)
}

// aboutFormat reports whether a service may have refused the requested answer format. Servers report such a refusal in different ways, some
// without a reason. Answer therefore also repeats a request that is wrong for another reason.
func aboutFormat(err *serviceError) bool {
	return (err.status == http.StatusBadRequest || err.status == http.StatusUnprocessableEntity) &&
		failure(err).Class == llm.ClassPermanent
}
