package openai

import (
	"context"
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/callwright/callwright/agents/llm"
)

// Answer answers a question by chat completion in the JSON schema mode.
func (c *Client) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	input, err := json.Marshal(map[string]any{
		"messages": q.Messages, "variables": q.Variables, "options": q.Options, "fields": q.Fields, "evidence": q.Evidence,
	})
	if err != nil {
		return llm.Answer{}, &llm.Failure{Class: llm.ClassPermanent, Message: "the question can't be written as JSON", Cause: err}
	}
	body := sdk.ChatCompletionNewParams{
		Model: c.model(q.Model),
		Messages: []sdk.ChatCompletionMessageParamUnion{
			sdk.SystemMessage(q.Instructions), sdk.UserMessage(string(input)),
		},
		ResponseFormat: sdk.ChatCompletionNewParamsResponseFormatUnion{
			OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: string(q.Task), Schema: q.Schema, Strict: param.NewOpt(true),
			}},
		},
	}
	if q.Temperature != nil {
		body.Temperature = param.NewOpt(*q.Temperature)
	}
	completion, err := c.chat.Completions.New(ctx, body)
	if err != nil {
		return llm.Answer{}, failure(err)
	}
	if len(completion.Choices) == 0 {
		return llm.Answer{}, &llm.Failure{Class: llm.ClassTransient, Message: "the service gave no answer"}
	}
	return llm.Answer{
		JSON: json.RawMessage(completion.Choices[0].Message.Content), Model: completion.Model,
		Usage: llm.Usage{Input: int(completion.Usage.PromptTokens), Output: int(completion.Usage.CompletionTokens)},
	}, nil
}
