package chat

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/llm"
)

// maxCalls is the maximum number of tool calls in a reply. Further calls are ignored.
const maxCalls = 16

// These failures are answers without words.
var (
	ErrEmpty    = &llm.Failure{Class: llm.ClassTransient, Message: "the service returned an empty answer"}
	ErrWithheld = &llm.Failure{Class: llm.ClassPermanent, Message: "the service withheld the answer: its content filter or the model refused the request"}
	ErrTooShort = &llm.Failure{Class: llm.ClassInvalid, Message: "the answer was cut off at the maximum length that the service allows"}
	ErrTooLong  = &llm.Failure{Class: llm.ClassTooLong, Message: "the conversation is too long for the language model"}
	errNoTool   = &llm.Failure{Class: llm.ClassTransient, Message: "the model called a tool that does not exist, or in a form that cannot be read"}
)

// Reply collects the parts of a streamed answer.
type Reply struct {
	Words    Words
	Usage    *llm.Usage // nil until the service reports it
	Withheld bool       // whether the service or the model has refused to answer
	Broken   bool       // whether the service reports a tool call that cannot be read
	Nothing  error      // failure of an answer without words and calls; nil means ErrEmpty

	calls   []llm.ToolCall // in the order of arrival
	indexes []int64        // the service's index of each call
}

// Piece is a piece of a tool call.
type Piece struct {
	Index     int64 // the service's number of the call
	ID, Name  string
	Arguments string
	Extra     json.RawMessage
}

// AddCall adds a piece of a tool call. Some services send the name again in each piece, so that a name replaces the name before.
func (r *Reply) AddCall(p Piece) {
	call := r.call(p)
	if call == nil {
		return
	}
	if p.Name != "" {
		call.Name = p.Name
	}
	if Present(p.Extra) {
		call.Extra = p.Extra
	}
	call.Arguments = append(call.Arguments, p.Arguments...)
}

// Continue adds a piece of the arguments of the last call with an index. It ignores the piece if there is no such call.
func (r *Reply) Continue(index int64, arguments string) {
	for i := range slices.Backward(r.indexes) {
		if r.indexes[i] == index {
			r.calls[i].Arguments = append(r.calls[i].Arguments, arguments...)
			return
		}
	}
}

// call returns the tool call that a piece continues: the last call with the same index, or a new call. A piece with another id starts a new
// call, and so does a piece with a name after a call with complete arguments, because some services send one index for every call, and no
// ids. call returns nil for a new call beyond maxCalls.
func (r *Reply) call(p Piece) *llm.ToolCall {
	for i := range slices.Backward(r.indexes) {
		if r.indexes[i] == p.Index && (p.ID == "" || p.ID == r.calls[i].ID) {
			if p.Name != "" && p.ID == "" && json.Valid(r.calls[i].Arguments) {
				break
			}
			return &r.calls[i]
		}
	}
	if len(r.calls) == maxCalls {
		return nil
	}
	if p.ID == "" {
		p.ID = fmt.Sprintf("call_%d", len(r.calls))
	}
	r.indexes = append(r.indexes, p.Index)
	r.calls = append(r.calls, llm.ToolCall{ID: p.ID, Arguments: json.RawMessage{}})
	return &r.calls[len(r.calls)-1]
}

// finish returns the parts that end a reply after its last words: the calls of tools that the request offers, then the permitted action
// and the usage. A transfer has priority over the end of the call, which would prevent the transfer. finish returns an error for an answer
// that the service withheld, or that would be silence.
func (r *Reply) finish(request llm.ReplyRequest) ([]llm.ReplyPart, error) {
	for _, call := range r.Words.calls {
		call.ID = fmt.Sprintf("call_%d", len(r.calls))
		r.calls = append(r.calls, call)
	}
	var parts []llm.ReplyPart
	var action llm.Action
	for _, call := range r.calls[:min(len(r.calls), maxCalls)] {
		switch call.Name = offered(request, call.Name); {
		case offers(request.Tools, call.Name):
			parts = append(parts, llm.ReplyPart{Call: &call})
		case call.Name == toolTransfer && request.CanTransfer:
			action = llm.ActionTransfer
		case call.Name == toolEnd && request.CanEnd && action == "":
			action = llm.ActionEnd
		}
	}
	if err := r.check(len(parts) > 0 || action != ""); err != nil {
		return nil, err
	}
	return append(parts, llm.ReplyPart{Action: action, Usage: r.Usage}), nil
}

// check returns an error for an answer that the service withheld, or that would be silence. acts reports whether the answer contains a tool
// call or an action that the request permits.
func (r *Reply) check(acts bool) error {
	switch {
	case r.Withheld:
		return ErrWithheld
	case acts || r.Words.begun:
		return nil
	case len(r.calls) > 0 || r.Words.broken || r.Broken:
		return errNoTool
	case r.Nothing != nil:
		return r.Nothing
	default:
		return ErrEmpty
	}
}

// offered returns the name of the tool that a model means: some write a prefix before it, such as "functions.".
func offered(request llm.ReplyRequest, name string) string {
	if i := strings.LastIndexAny(name, ".:/"); i >= 0 && !offers(request.Tools, name) {
		return name[i+1:]
	}
	return name
}

// Stream yields a reply: its words while they arrive, then the parts that finish returns, or a *llm.Failure as the last element. pieces are
// the pieces of the answer's text; they add tool calls and the usage to r while they are read. Stream reports whether the reply is complete.
func (r *Reply) Stream(pieces iter.Seq2[string, error], request llm.ReplyRequest, yield func(llm.ReplyPart, error) bool) bool {
	for piece, err := range pieces {
		if err != nil {
			yield(llm.ReplyPart{}, Failure(err))
			return false
		}
		if text := r.Words.add(piece); text != "" && !yield(llm.ReplyPart{Text: text}, nil) {
			return false
		}
	}
	if text := r.Words.finish(); text != "" && !yield(llm.ReplyPart{Text: text}, nil) {
		return false
	}
	parts, err := r.finish(request)
	if err != nil {
		yield(llm.ReplyPart{}, err)
		return false
	}
	for _, part := range parts {
		if !yield(part, nil) {
			return false
		}
	}
	return true
}
