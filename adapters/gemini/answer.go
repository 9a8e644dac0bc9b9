package gemini

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
)

// Answer answers a question by one request, in the JSON schema mode if the question has a schema: see chat.Refusals.
func (c *Client) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	system, user := q.Prompt(rand.Text())
	body := c.newRequest(q.Task, q.Temperature, system)
	body.Contents = []content{{"user", []part{{Text: user}}}}
	return c.refused.Answer(q.Schema, func(strict bool) (llm.Answer, error) {
		body := body
		if strict {
			body.Config.MediaType, body.Config.Schema = "application/json", q.Schema
		}
		return c.answer(ctx, body)
	})
}

// answer sends a request, and further ones if the service demands them. It returns an *llm.Failure if a request fails, the responses
// contain no answer, or the service withholds the answer.
func (c *Client) answer(ctx context.Context, body request) (llm.Answer, error) {
	var text strings.Builder
	for range mostRequests {
		a, err := c.ask(ctx, body)
		if err != nil {
			return llm.Answer{}, err
		}
		for _, p := range a.Candidates[0].Content.Parts {
			if !p.Thought {
				text.WriteString(p.Text)
			}
		}
		if body.Continue = a.Candidates[0].next(); body.Continue != "" {
			continue
		}
		answer := chat.WithoutThoughts(text.String())
		if strings.TrimSpace(answer) == "" {
			return llm.Answer{}, chat.ErrEmpty
		}
		return llm.Answer{JSON: json.RawMessage(answer), Model: a.Model, Usage: a.Usage.counted()}, nil
	}
	return llm.Answer{}, chat.ErrTooShort
}

// ask sends one request. It returns an answer with at least one candidate, or an *llm.Failure.
func (c *Client) ask(ctx context.Context, body request) (answer, error) {
	response, err := c.post(ctx, whole, body)
	if err != nil {
		return answer{}, chat.Failure(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, chat.MaxAnswer))
	if err != nil {
		return answer{}, chat.Failure(err)
	}
	a, err := parse(raw)
	switch {
	case err != nil:
		return answer{}, chat.Failure(err)
	case a.Feedback.BlockReason != "" || len(a.Candidates) > 0 && slices.Contains(withheld, a.Candidates[0].FinishReason):
		return answer{}, chat.ErrWithheld
	case len(a.Candidates) == 0:
		return answer{}, chat.ErrEmpty
	case a.Candidates[0].FinishReason == "MAX_TOKENS":
		return answer{}, chat.ErrTooShort
	}
	return a, nil
}
