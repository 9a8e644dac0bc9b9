package openai

import (
	"context"
	"crypto/rand"
	"iter"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
)

// Name returns the name of the language model.
func (c *Client) Name() string { return c.config.Model }

// Reply streams a reply by chat completion: the text, then the complete tool calls, then the action and the usage. Thoughts of the model are
// no part of the text, and tool calls that the model writes into its text are tool calls. Reply ignores calls of tools that r does not offer,
// and actions that r does not permit, but a reply without anything else is a failure.
func (c *Client) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		reply := chat.Reply{Words: chat.Words{Thinking: c.thinking.Load()}}
		if reply.Stream(c.pieces(ctx, &reply, r), r, yield) {
			c.thinking.Store(reply.Words.Ended)
		}
	}
}

// pieces streams the text of an answer, and adds its tool calls, usage and finish reason to a reply. A refusal of the model is text, too.
func (c *Client) pieces(ctx context.Context, reply *chat.Reply, r llm.ReplyRequest) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for piece, err := range c.stream(ctx, c.request(r, rand.Text())) {
			if !yield(add(reply, &piece), err) {
				return
			}
		}
	}
}

// add adds a chunk to a reply, and returns its text.
func add(reply *chat.Reply, piece *chunk) string {
	if u := piece.Usage.counted(); u != (llm.Usage{}) {
		reply.Usage = &u
	}
	if len(piece.Choices) == 0 {
		return ""
	}
	choice := piece.Choices[0]
	for _, part := range choice.Delta.ToolCalls {
		reply.AddCall(chat.Piece{
			Index: part.Index, ID: string(part.ID), Name: string(part.Function.Name), Arguments: string(part.Function.Arguments), Extra: part.Extra,
		})
	}
	if choice.FinishReason != "" {
		reply.Withheld = choice.FinishReason == "content_filter"
	}
	return string(choice.Delta.Content + choice.Delta.Refusal)
}
