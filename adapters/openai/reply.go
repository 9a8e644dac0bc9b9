package openai

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/llm"
)

// maxCalls is the maximum number of tool calls in a reply. Further calls are ignored.
const maxCalls = 16

// Name returns the name of the language model.
func (c *Client) Name() string { return c.config.Model }

// Reply streams a reply by chat completion: the text, then the complete tool calls, then the action and the usage. Thoughts of the model are
// no part of the text, and tool calls that the model writes into its text are tool calls. Reply ignores calls of tools that r does not offer,
// and actions that r does not permit, but a reply without anything else is a failure.
func (c *Client) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		reply := reply{words: words{thinking: c.thinking.Load()}}
		for piece, err := range c.stream(ctx, c.request(r, rand.Text())) {
			if err != nil {
				yield(llm.ReplyPart{}, failure(err))
				return
			}
			if text := reply.add(&piece); text != "" && !yield(llm.ReplyPart{Text: text}, nil) {
				return
			}
		}
		if text := reply.words.finish(); text != "" && !yield(llm.ReplyPart{Text: text}, nil) {
			return
		}
		c.thinking.Store(reply.words.ended)
		calls, action := reply.decide(r)
		if err := reply.check(len(calls) > 0 || action != ""); err != nil {
			yield(llm.ReplyPart{}, err)
			return
		}
		for _, call := range calls {
			if !yield(llm.ReplyPart{Call: &call}, nil) {
				return
			}
		}
		yield(llm.ReplyPart{Action: action, Usage: reply.usage}, nil)
	}
}

// reply collects the parts of a streamed answer.
type reply struct {
	words    words
	calls    []llm.ToolCall // in the order of arrival
	indexes  []int64        // the service's index of each call
	finished word           // the finish reason, empty until it arrives
	usage    *llm.Usage
}

// add stores the tool calls, usage and finish reason of a chunk, and returns its words. A refusal of the model is words, too.
func (r *reply) add(piece *chunk) string {
	if u := piece.Usage.counted(); u != (llm.Usage{}) {
		r.usage = &u
	}
	if len(piece.Choices) == 0 {
		return ""
	}
	choice := piece.Choices[0]
	for _, part := range choice.Delta.ToolCalls {
		r.addCall(part)
	}
	if choice.FinishReason != "" {
		r.finished = choice.FinishReason
	}
	return r.words.add(string(choice.Delta.Content + choice.Delta.Refusal))
}

// addCall adds a piece of a tool call. Some services send the name again in each piece, so that a name replaces the name before.
func (r *reply) addCall(part toolCall) {
	call := r.call(part)
	if call == nil {
		return
	}
	if part.Function.Name != "" {
		call.Name = string(part.Function.Name)
	}
	if present(part.Extra) {
		call.Extra = part.Extra
	}
	call.Arguments = append(call.Arguments, part.Function.Arguments...)
}

// call returns the tool call that a piece continues: the last call with the same index, or a new call. A piece with another id starts a new
// call, and so does a piece with a name after a call with complete arguments, because some services send one index for every call, and no
// ids. call returns nil for a new call beyond maxCalls.
func (r *reply) call(part toolCall) *llm.ToolCall {
	id := string(part.ID)
	for i := range slices.Backward(r.indexes) {
		if r.indexes[i] == part.Index && (id == "" || id == r.calls[i].ID) {
			if part.Function.Name != "" && id == "" && json.Valid(r.calls[i].Arguments) {
				break
			}
			return &r.calls[i]
		}
	}
	if len(r.calls) == maxCalls {
		return nil
	}
	if id == "" {
		id = fmt.Sprintf("call_%d", len(r.calls))
	}
	r.indexes = append(r.indexes, part.Index)
	r.calls = append(r.calls, llm.ToolCall{ID: id, Arguments: json.RawMessage{}})
	return &r.calls[len(r.calls)-1]
}

// check returns an error for an answer that the service withheld, or that would be silence. acts reports whether the answer contains a tool
// call or an action that the request permits.
func (r *reply) check(acts bool) error {
	switch {
	case r.finished == "content_filter":
		return errWithheld
	case acts || r.words.begun:
		return nil
	case len(r.calls)+len(r.words.calls) > 0 || r.words.broken:
		return &llm.Failure{Class: llm.ClassTransient, Message: "the model called a tool that does not exist, or in a form that cannot be read"}
	default:
		return errEmpty
	}
}

// decide returns the calls of tools that the request offers, and the permitted action that the model called. A transfer has priority over
// the end of the call, which would prevent the transfer.
func (r *reply) decide(request llm.ReplyRequest) (calls []llm.ToolCall, action llm.Action) {
	for _, call := range r.words.calls {
		call.ID = fmt.Sprintf("call_%d", len(r.calls))
		r.calls = append(r.calls, call)
	}
	for _, call := range r.calls[:min(len(r.calls), maxCalls)] {
		switch call.Name = offered(request, call.Name); {
		case offers(request.Tools, call.Name):
			calls = append(calls, call)
		case call.Name == toolTransfer && request.CanTransfer:
			action = llm.ActionTransfer
		case call.Name == toolEnd && request.CanEnd && action == "":
			action = llm.ActionEnd
		}
	}
	return calls, action
}

// offered returns the name of the tool that a model means: some write a prefix before it, such as "functions.".
func offered(request llm.ReplyRequest, name string) string {
	if i := strings.LastIndexAny(name, ".:/"); i >= 0 && !offers(request.Tools, name) {
		return name[i+1:]
	}
	return name
}
