package assert

import (
	"strconv"

	"github.com/callwright/callwright/agents/llm"
)

// target is the text that an assertion examines: messages of the transcript, or the value of a variable.
type target struct {
	variable string   // empty means the transcript
	role     llm.Role // empty means both
	turn     int      // index of the only message; -1 means any
}

// readTarget reads the members of a target.
func readTarget(f *fields) target {
	const transcript, variable = "transcript", "variable"
	t := target{turn: -1}
	if choice(f, "target", transcript, variable) == variable {
		f.require("variable")
		t.variable = f.word("variable", MaxReference)
		f.forbid("role", "is allowed with the target transcript only")
		f.forbid("turn", "is allowed with the target transcript only")
		return t
	}
	f.forbid("variable", "is allowed with the target variable only")
	if f.has("role") {
		t.role = llm.RoleCaller
		if choice(f, "role", "user", "assistant") == "assistant" {
			t.role = llm.RoleAgent
		}
	}
	return t
}

// has reports whether the target includes the turn with the index i.
func (t target) has(i int, turn *Turn) bool {
	return (t.turn < 0 || t.turn == i) && (t.role == "" || t.role == turn.Role)
}

// size returns the total length of the target's turns in bytes. Each turn counts one extra byte, so that empty turns count too.
func (t target) size(e *Evidence) int {
	size := 0
	for i := range e.Turns {
		if t.has(i, &e.Turns[i]) {
			size += len(e.Turns[i].Text) + 1
		}
	}
	return size
}

// String returns a description of the target, for sentences.
func (t target) String() string {
	switch {
	case t.variable != "":
		return "the variable " + excerpt(t.variable)
	case t.turn >= 0:
		return "message " + strconv.Itoa(t.turn)
	default:
		return t.messages()
	}
}

// messages returns a description of the target's messages, for sentences.
func (t target) messages() string {
	switch t.role {
	case llm.RoleCaller:
		return "the caller's messages"
	case llm.RoleAgent:
		return "the agent's messages"
	default:
		return "the messages"
	}
}

// textOf returns the value of the target's variable as text. If there is none, or if it exceeds the limit, textOf sets the result, and
// known is false.
func (t target) textOf(e *Evidence, r *Result) (text string, known bool) {
	value, known := find(t.variable, e.Variables)
	if !known {
		missing(e, t.variable, r)
		return "", false
	}
	text, isText := textOf(value)
	if !isText || len(text) > MaxTarget {
		r.failf(Error, CodeTooLarge, "The variable %s must have a JSON value of at most %d bytes.", excerpt(t.variable), MaxTarget)
		return "", false
	}
	r.Actual = display(value)
	return text, true
}

// missing sets the failed result of an assertion about a variable that has no value.
func missing(e *Evidence, variable string, r *Result) {
	r.failf(Failed, CodeVariableMissing, "The variable %s has no value.", excerpt(variable))
	r.Node = e.collects(variable)
}

// words reports whether the target's turns are within the limit. If they are not, it sets the result.
func (t target) words(e *Evidence, r *Result) bool {
	if t.size(e) > MaxTarget {
		r.failf(Error, CodeTooLarge, "The texts to examine have more than %d bytes.", MaxTarget)
		return false
	}
	return true
}
