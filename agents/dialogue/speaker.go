package dialogue

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/tool"
	"github.com/callwright/callwright/speech/tts"
)

// Speaker speaks the replies of a model and calls its tools. It has no constructor and no state of its own.
type Speaker struct {
	Model    llm.Model      // required
	Tools    *tool.Set      // tools that the model may call; may be nil
	Requests request.Client // sends the requests of Tools, with their Place in the reply; required if Tools is set

	callwright.Runtime
}

// Reply describes an answer, except for its words.
type Reply struct {
	Action    llm.Action
	Usage     llm.Usage
	Requests  []request.Log  // requests of the tools in the order of the calls
	Variables map[string]any // variables that the tools have set; nil if none
}

// The limits of tool calls in one turn.
const (
	maxRounds = 4 // number of rounds of calls, after which the model must speak
	maxCalls  = 8 // number of calls per round; further calls are ignored
)

// Reply speaks the model's answer, sentence by sentence. The tools of a round are called concurrently, while their speeches are spoken. The
// model then continues with the tools' answers, for at most 4 rounds of 8 calls. Reply sets r.Messages and r.Tools. The templates of tools
// may use the variables.
//
// If the model fails before its first words, it is asked once more, if llm.Again allows it. An answer without words, action and tool call is
// such a failure, unless the model has spoken in an earlier round. Reply returns the error of the model or of ctx, or ClassInvalid if the
// model calls tools in every round and says nothing. Even then, the Talk and the Reply contain all earlier words and calls. A stopped answer
// is not an error.
//
// Reply calls the tools of an early turn only after Answer.Certain has returned true. It says the speeches of the first round before.
func (s Speaker) Reply(ctx context.Context, a *Answer, r llm.ReplyRequest, variables map[string]any) (Reply, error) {
	s.Runtime = s.WithDefaults()
	ctx = request.WithBudget(ctx)
	var out Reply
	spoke := false
	for round := range maxRounds + 1 {
		r.Tools = nil
		if round < maxRounds {
			r.Tools = s.Tools.Definitions()
		}
		before := a.said.Len()
		calls, err := s.try(ctx, a, r, &out)
		if errors.Is(err, errEmpty) && spoke {
			err = nil
		}
		spoke = spoke || a.said.Len() > before
		if err != nil || a.stopped || len(calls) == 0 {
			return out, err
		}
		if round < maxRounds {
			s.call(ctx, a, calls[:min(len(calls), maxCalls)], r, variables, &out)
		}
		if ctx.Err() != nil || a.stopped {
			return out, ctx.Err()
		}
		r.Arriving = false
	}
	if !spoke {
		return out, &llm.Failure{Class: llm.ClassInvalid, Message: "the model calls tools and says nothing"}
	}
	s.Logger.WarnContext(ctx, "model exceeded the rounds of tools in one turn")
	return out, nil
}

// try streams a reply. If the reply fails before its first words and llm.Again allows it, try streams the reply once more.
func (s Speaker) try(ctx context.Context, a *Answer, r llm.ReplyRequest, out *Reply) ([]llm.ToolCall, error) {
	spoken := a.said.Len()
	calls, err := s.stream(ctx, a, r, out)
	if wait, again := llm.Again(err); again && ctx.Err() == nil && a.said.Len() == spoken && !a.stopped {
		s.Logger.WarnContext(ctx, "model failed, trying again", "error", err)
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		calls, err = s.stream(ctx, a, r, out)
	}
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return calls, err
}

// errEmpty is the failure of a model that returns an empty answer.
var errEmpty = &llm.Failure{Class: llm.ClassTransient, Message: "the model's answer is empty"}

// stream emits a reply of the model, and returns its tool calls. Only the action of the turn's last reply counts, because the model then
// has the answers of its tools.
func (s Speaker) stream(ctx context.Context, a *Answer, r llm.ReplyRequest, out *Reply) ([]llm.ToolCall, error) {
	var chunks tts.Chunker
	var calls []llm.ToolCall
	var action llm.Action
	r.Messages = slices.Clone(a.talk.Messages)
	spoken := a.said.Len()
	for part, err := range s.Model.Reply(ctx, r) {
		if err != nil {
			return nil, err
		}
		if len(part.Expect) > 0 {
			a.Step(conversation.Expect{Phrases: part.Expect})
		}
		for _, chunk := range chunks.Write(part.Text) {
			a.say(chunk)
		}
		if part.Action != "" {
			action = part.Action
		}
		if part.Call != nil {
			calls = append(calls, *part.Call)
		}
		if part.Usage != nil {
			out.Usage = out.Usage.Add(*part.Usage)
		}
		if a.stopped || a.full {
			return nil, nil
		}
	}
	for _, chunk := range chunks.Flush() {
		a.say(chunk)
	}
	out.Action = action
	if len(calls) == 0 && action == "" && a.said.Len() == spoken && !a.stopped && !a.full {
		return nil, errEmpty
	}
	return calls, nil
}

// call calls tools, speaks their speeches meanwhile, and adds the calls and their answers to the talk. It also adds calls that the end of
// ctx has interrupted, so that the model learns of them. While the turn is not certain, it speaks the speeches first, so that they can be
// synthesized.
func (s Speaker) call(
	ctx context.Context, a *Answer, calls []llm.ToolCall, r llm.ReplyRequest, variables map[string]any, out *Reply,
) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	known := maps.Clone(variables)
	if known == nil {
		known = map[string]any{}
	}
	maps.Copy(known, out.Variables)
	early := a.Commit != nil
	if early {
		s.speeches(ctx, a, calls, known)
		if !a.Certain() {
			return
		}
	}
	results := make([]tool.Result, len(calls))
	var wait sync.WaitGroup
	for i, c := range calls {
		requests := request.At(s.Requests, "", len(out.Requests)+i)
		wait.Go(func() { results[i] = s.Tools.Call(ctx, requests, r.Org, c, known) })
	}
	if !early {
		s.speeches(ctx, a, calls, known)
	}
	if a.stopped {
		cancel()
	}
	wait.Wait()
	answers := make([]llm.Message, len(calls))
	for i, result := range results {
		answers[i] = llm.Message{Role: llm.RoleTool, Text: result.Text, Call: calls[i].ID}
		out.Requests = append(out.Requests, result.Log)
		if out.Variables == nil && len(result.Log.Variables) > 0 {
			out.Variables = map[string]any{}
		}
		maps.Copy(out.Variables, result.Log.Variables)
	}
	a.call(settled(calls), answers)
}

// speeches speaks the different speeches of tool calls.
func (s Speaker) speeches(ctx context.Context, a *Answer, calls []llm.ToolCall, variables map[string]any) {
	var said []string
	for _, c := range calls {
		if speech := s.Tools.Speech(ctx, c, variables); speech != "" && !slices.Contains(said, speech) {
			said = append(said, speech)
			a.Text(speech)
		}
	}
}

// settled returns tool calls in a form that can be stored and sent to a model again: it replaces arguments that are not a JSON object by an
// empty object.
func settled(calls []llm.ToolCall) []llm.ToolCall {
	calls = slices.Clone(calls)
	for i, c := range calls {
		var object map[string]json.RawMessage
		if json.Unmarshal(c.Arguments, &object) != nil || object == nil {
			calls[i].Arguments = json.RawMessage("{}")
		}
	}
	return calls
}
