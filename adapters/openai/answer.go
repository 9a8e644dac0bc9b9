package openai

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/callwright/callwright/agents/llm"
)

// Answer answers a question by chat completion in the JSON schema mode. Where the service refuses that mode or the
// schema, only the prompt describes the schema: see llm.Question.Prompt.
func (c *Client) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	system, user := q.Prompt(rand.Text())
	body := sdk.ChatCompletionNewParams{
		Model:    c.model(q.Model),
		Messages: []sdk.ChatCompletionMessageParamUnion{sdk.SystemMessage(system), sdk.UserMessage(user)},
	}
	if q.Temperature != nil {
		body.Temperature = param.NewOpt(*q.Temperature)
	}
	if _, known := c.noSchema.Load(body.Model); known || len(q.Schema) == 0 {
		return c.answer(ctx, body)
	}
	strict := body
	strict.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
		Name: schemaName(q.Task), Schema: q.Schema, Strict: param.NewOpt(true),
	}}
	a, err := c.answer(ctx, strict)
	refused, ok := errors.AsType[*sdk.Error](err)
	if !ok || !aboutFormat(refused) {
		return a, err
	}
	a, err = c.answer(ctx, body)
	if err == nil && !strings.Contains(strings.ToLower(refused.Message), "invalid schema") {
		c.noSchema.Store(body.Model, true) // the mode, not this schema
	}
	return a, err
}

// answer sends one request.
func (c *Client) answer(ctx context.Context, body sdk.ChatCompletionNewParams) (llm.Answer, error) {
	completion, err := c.chat.Completions.New(ctx, body)
	if err != nil {
		return llm.Answer{}, failure(err)
	}
	if len(completion.Choices) == 0 {
		return llm.Answer{}, &llm.Failure{Class: llm.ClassTransient, Message: "the service gave no answer"}
	}
	choice := completion.Choices[0]
	if choice.FinishReason == "content_filter" || choice.Message.Refusal != "" {
		return llm.Answer{}, &llm.Failure{Class: llm.ClassPermanent, Message: "the service held the answer back"}
	}
	return llm.Answer{
		JSON: json.RawMessage(choice.Message.Content), Model: completion.Model,
		Usage: llm.Usage{Input: int(completion.Usage.PromptTokens), Output: int(completion.Usage.CompletionTokens)},
	}, nil
}

// schemaName returns the name that the service requires of a schema.
func schemaName(task llm.Task) string {
	if task == "" {
		return "answer"
	}
	return string(task)
}

// aboutFormat reports whether a service has refused the form of the answer that was asked for. Servers say it in many
// ways, some without a reason; a request that is wrong in another way is refused a second time.
func aboutFormat(err *sdk.Error) bool {
	return (err.StatusCode == http.StatusBadRequest || err.StatusCode == http.StatusUnprocessableEntity) &&
		failure(err).Class == llm.ClassPermanent
}
