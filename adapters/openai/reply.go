package openai

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/callwright/callwright/agents/llm"
)

// maxCalls is the maximum number of tool calls in a reply. Further calls are ignored.
const maxCalls = 16

// Name returns the name of the language model.
func (c *Client) Name() string { return c.config.Model }

// Reply streams a reply by chat completion: the text, then the complete tool calls, then the action and the usage. It ignores calls of
// tools that r does not offer, and actions that r does not permit.
func (c *Client) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var reply reply
		var err error
		for piece, fault := range c.stream(ctx, c.request(r, rand.Text())) {
			if err = fault; err != nil {
				break
			}
			if text := reply.add(&piece); text != "" && !yield(llm.ReplyPart{Text: text}, nil) {
				return
			}
		}
		if err == nil {
			err = reply.check()
		}
		if err != nil {
			f, ok := errors.AsType[*llm.Failure](err)
			if !ok {
				f = failure(err)
			}
			yield(llm.ReplyPart{}, f)
			return
		}
		for _, call := range reply.calls {
			if offers(r.Tools, call.Name) && !yield(llm.ReplyPart{Call: &call}, nil) {
				return
			}
		}
		yield(llm.ReplyPart{Action: reply.action(r), Usage: reply.usage}, nil)
	}
}

// reply collects the tool calls, the usage and the finish reason of a streamed answer.
type reply struct {
	calls    []llm.ToolCall // in the order of arrival
	indexes  []int64        // the service's index of each call
	finished string         // the finish reason, empty until it arrives
	usage    *llm.Usage
}

// add stores the tool calls, usage and finish reason of a chunk, and returns its text.
func (r *reply) add(piece *chunk) string {
	if u := piece.Usage.counted(); u != (llm.Usage{}) {
		r.usage = &u
	}
	if len(piece.Choices) == 0 {
		return ""
	}
	choice := piece.Choices[0]
	for _, part := range choice.Delta.ToolCalls {
		if call := r.call(part.Index, part.ID); call != nil {
			call.Name += part.Function.Name
			call.Arguments = append(call.Arguments, part.Function.Arguments...)
		}
	}
	if choice.FinishReason != "" {
		r.finished = choice.FinishReason
	}
	return choice.Delta.Content
}

// call returns the tool call that a piece continues: the last call with the same index, or a new call. A piece with another id starts a new
// call, because some services send index 0 for every call. Some services send no ids. call returns nil for a new call beyond maxCalls.
func (r *reply) call(index int64, id string) *llm.ToolCall {
	for i := range slices.Backward(r.indexes) {
		if r.indexes[i] == index && (id == "" || id == r.calls[i].ID) {
			return &r.calls[i]
		}
	}
	if len(r.calls) == maxCalls {
		return nil
	}
	if id == "" {
		id = fmt.Sprintf("call_%d", len(r.calls))
	}
	r.indexes = append(r.indexes, index)
	r.calls = append(r.calls, llm.ToolCall{ID: id, Arguments: json.RawMessage{}})
	return &r.calls[len(r.calls)-1]
}

// check returns an error for an answer that the network cut off or the service withheld.
func (r *reply) check() error {
	switch r.finished {
	case "":
		return &llm.Failure{Class: llm.ClassTransient, Message: "the service cut off the answer before its end"}
	case "content_filter":
		return &llm.Failure{Class: llm.ClassPermanent, Message: "the service withheld the answer: its content filter refused the request or the answer"}
	default:
		return nil
	}
}

// action returns the permitted action that the model called. A transfer has priority over the end of the call, which would prevent the
// transfer.
func (r *reply) action(request llm.ReplyRequest) llm.Action {
	switch {
	case request.CanTransfer && r.wants(request, toolTransfer):
		return llm.ActionTransfer
	case request.CanEnd && r.wants(request, toolEnd):
		return llm.ActionEnd
	default:
		return ""
	}
}

func (r *reply) wants(request llm.ReplyRequest, action string) bool {
	return !offers(request.Tools, action) && slices.ContainsFunc(r.calls, func(c llm.ToolCall) bool { return c.Name == action })
}
