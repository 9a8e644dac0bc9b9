package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
)

// Set holds the tools of an agent or a node. It is immutable, and safe for concurrent use. A nil Set has no tools.
type Set struct {
	tools       map[string]*Tool
	definitions []llm.Tool
	urls        []string
	variables   []string
}

// MaxTools is the maximum number of tools in a Set.
const MaxTools = 32

// NewSet parses tools, whose names must be unique. It returns a nil Set if raws is empty. The field of an error contains the index of the
// tool, for example "tools[1].url".
func NewSet(raws []json.RawMessage) (*Set, error) {
	if len(raws) == 0 {
		return nil, nil //nolint:nilnil // a nil Set has no tools
	}
	if len(raws) > MaxTools {
		return nil, callwright.Invalid("tools", "must have at most %d tools", MaxTools)
	}
	s := &Set{tools: map[string]*Tool{}}
	total := 0
	for i, raw := range raws {
		at := fmt.Sprintf("tools[%d]", i)
		t, err := Parse(raw)
		if err != nil {
			return nil, within(at, err)
		}
		if s.tools[t.name] != nil {
			return nil, callwright.Invalid(at+".name", "must be unique: another tool has this name")
		}
		if total += t.schema.size; total > maxSetSchemas {
			return nil, callwright.Invalid(at+".input_schema", "must be smaller: all tools together may have at most %d schemas", maxSetSchemas)
		}
		s.tools[t.name] = t
		s.definitions = append(s.definitions, llm.Tool{Name: t.name, Description: t.description, Parameters: t.schema.parameters})
		source := t.call.Source()
		s.urls = append(s.urls, source.URL)
		for _, m := range source.Variables {
			s.variables = append(s.variables, m.Name)
		}
	}
	return s, nil
}

// within prepends a path to the field of a callwright.Error. It returns other errors unchanged.
func within(path string, err error) error {
	fault, ok := errors.AsType[*callwright.Error](err)
	if !ok {
		return err
	}
	return callwright.FieldErrors{fault}.Within(path)[0]
}

// Definitions returns the tools' definitions for a model, in order.
func (s *Set) Definitions() []llm.Tool {
	if s == nil {
		return nil
	}
	return s.definitions
}

// URLs returns the URLs of the tools with unexpanded variables, in the tools' order. request.Client.CheckURL accepts URLs with such
// variables.
func (s *Set) URLs() []string {
	if s == nil {
		return nil
	}
	return s.urls
}

// Variables returns the names of the variables that the tools set from their responses, in the tools' order.
func (s *Set) Variables() []string {
	if s == nil {
		return nil
	}
	return s.variables
}

// Result is the result of Set.Call.
type Result struct {
	Text string // one JSON value for the model, which must treat it as data
	Log  request.Log
}

// Speech returns the words that the agent says during a tool call. It returns "" if Call would refuse the tool call, or if the tool has no
// words for it.
func (s *Set) Speech(ctx context.Context, call llm.ToolCall, variables map[string]any) string {
	t, input, refusal := s.find(ctx, call)
	if refusal != "" {
		return ""
	}
	return t.speech.Render(t.scope(input, variables))
}

// Call calls a tool. It returns no error: the text for the model describes errors, without URLs. Call refuses arguments that violate the
// tool's schema, and then sends no request.
//
// The tool's texts may contain arguments as {{input.name}}, and variables of the conversation as {{name}}. An argument that is a property
// of the schema may also be written as {{name}}, unless a variable has the same name: a caller may manipulate the model, and must not
// replace values that the program sets.
func (s *Set) Call(
	ctx context.Context, client request.Client, org callwright.OrgID, call llm.ToolCall, variables map[string]any,
) Result {
	t, input, refusal := s.find(ctx, call)
	if refusal != "" {
		return Result{Text: answer{Error: refusal}.text(), Log: request.Log{Name: call.Name, Error: refusal}}
	}
	log := t.call.Do(ctx, client, org, t.name, t.scope(input, variables))
	a := answer{Error: log.Error, Answer: log.Body}
	if log.Error == "" && log.Variables != nil {
		a.Answer = request.Encode(log.Variables)
	}
	return Result{Text: a.text(), Log: log}
}

// answer is the JSON form of a tool call's result for the model.
type answer struct {
	Error  string          `json:"error,omitempty"`
	Answer json.RawMessage `json:"answer,omitempty"`
}

func (a answer) text() string { return string(request.Encode(a)) }

// find returns the tool and the arguments of a tool call. If it refuses the tool call, it returns a reason for the model.
func (s *Set) find(ctx context.Context, call llm.ToolCall) (t *Tool, input map[string]any, refusal string) {
	if s != nil {
		t = s.tools[call.Name]
	}
	if t == nil {
		return nil, nil, "unknown tool"
	}
	input, refusal = t.schema.arguments(ctx, call.Arguments)
	return t, input, refusal
}

// scope returns the variables that the tool's texts may contain: input, the arguments named by the schema, and the conversation's
// variables. A variable replaces an argument of the same name.
func (t *Tool) scope(input, variables map[string]any) map[string]any {
	scope := make(map[string]any, len(variables)+len(t.schema.properties)+1)
	for _, name := range t.schema.properties {
		if value, given := input[name]; given {
			scope[name] = value
		}
	}
	maps.Copy(scope, variables)
	scope["input"] = input
	return scope
}
