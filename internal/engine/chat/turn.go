package chat

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/llm"
)

// Role is the side that a turn belongs to.
type Role int

// The roles of turns.
const (
	User  Role = iota // the other side
	Model             // the model itself
	Tool              // answers to the tool calls of the turn before
)

// Turn is a message of a conversation as models receive it.
type Turn struct {
	Role    Role
	Text    string         // of User and Model; may be empty if there are Calls
	Calls   []llm.ToolCall // of Model; their arguments are JSON objects
	Results []Result       // of Tool, one for each of the Calls before, in their order
}

// Result is the answer to a tool call.
type Result struct {
	Call llm.ToolCall
	Text string
}

// These user messages replace words of the other side that are missing: some models require a user's message before they answer.
const (
	opening  = "(The call has just been answered. You speak first.)"
	arriving = "(The conversation has come to your task. You speak.)"
	silence  = "(The other side says nothing. You speak.)"
	nothing  = "(The other side says nothing.)"
)

// heard returns a text of the other side, or a text in place of a blank one, which services refuse.
func heard(text string) string {
	if strings.TrimSpace(text) == "" {
		return nothing
	}
	return text
}

// Turns returns the conversation of a request in the form that all services accept: it begins with a turn of the User, a Tool turn follows
// each turn with Calls, and no neighbours have the same role, because the chat templates of some models, such as Mistral and Gemma, refuse
// these. The first turn begins with data, unless data is empty.
func Turns(r llm.ReplyRequest, data string) []Turn {
	self := llm.RoleAgent
	if r.Task == llm.TaskCaller {
		self = llm.RoleCaller
	}
	var out turns
	if data != "" {
		out.add(Turn{Text: data})
	}
	first := slices.IndexFunc(r.Messages, func(m llm.Message) bool { return m.Role != llm.RoleTool })
	if first < 0 || r.Messages[first].Role == self {
		out.add(Turn{Text: opening})
	}
	for i, m := range r.Messages {
		switch {
		case m.Role == llm.RoleTool:
		case m.Role != self:
			out.add(Turn{Text: heard(m.Text)})
		default:
			calls, results := answered(m.Calls, r.Messages[i+1:])
			if m.Text != "" || len(calls) > 0 {
				out.add(Turn{Role: Model, Text: m.Text, Calls: calls})
			}
			if len(calls) > 0 {
				out.add(Turn{Role: Tool, Results: results})
			}
		}
	}
	if r.Arriving && len(r.Messages) > 0 {
		out.add(Turn{Text: arriving})
	}
	return out
}

// EndWithUser adds a turn if the last turn is the Model's, because some services continue that turn or refuse the request.
func EndWithUser(all []Turn) []Turn {
	if len(all) > 0 && all[len(all)-1].Role == Model {
		return append(all, Turn{Text: silence})
	}
	return all
}

// answered returns the calls that one of the later messages answers, and their results. Services refuse a tool call without its answer, or
// an answer without its call. Both remain in the conversation when a caller interrupts. Ids are unique only within a message: a later call
// with the same id ends the search.
func answered(calls []llm.ToolCall, later []llm.Message) (some []llm.ToolCall, results []Result) {
	for _, c := range calls {
		if text, ok := resultOf(c.ID, later); ok {
			c.Arguments = json.RawMessage(validArguments(c.Arguments))
			some, results = append(some, c), append(results, Result{c, text})
		}
	}
	return some, results
}

func resultOf(id string, later []llm.Message) (text string, ok bool) {
	for _, m := range later {
		if m.Role == llm.RoleTool && m.Call == id {
			return m.Text, true
		}
		for _, c := range m.Calls {
			if c.ID == id {
				return "", false
			}
		}
	}
	return "", false
}

// validArguments returns the arguments of a tool call, or "{}" if they are no JSON object. Services parse the arguments in the messages of a
// request, and would refuse all later requests of the conversation.
func validArguments(arguments json.RawMessage) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(arguments, &object) != nil || object == nil {
		return "{}"
	}
	return string(arguments)
}

// turns are the turns of a conversation so far.
type turns []Turn

// add appends a turn, or joins it with the last turn if both have the same role.
func (all *turns) add(t Turn) {
	if n := len(*all); n > 0 && t.Role != Tool && (*all)[n-1].Role == t.Role {
		last := &(*all)[n-1]
		last.Calls = t.Calls // of the last turn there are none: a Tool turn would follow
		if last.Text != "" && t.Text != "" {
			last.Text += "\n\n"
		}
		last.Text += t.Text
		return
	}
	*all = append(*all, t)
}
