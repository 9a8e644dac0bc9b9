// Package scripted is a stand-in for a language model. It is deterministic and invents nothing: it follows the rule lines
// of the instructions, and fails with llm.ClassUnsupported where they contain no instruction that applies.
//
// A rule line stands on a line of its own, anywhere in the instructions:
//
//	start: say "Good morning. Would you like to come on Monday or on Tuesday?"
//	when "monday" or "tuesday": say "In the morning or in the afternoon?"
//	when "morning" or "afternoon" after "in the morning or": say "That is noted. Goodbye." and end
//	when "human": say "One moment, please." and transfer
//	otherwise: say "Monday or Tuesday?"
//
// start is the agent's first sentence if its call has none. The first rule whose words the caller has said
// answers; words are compared without case and punctuation, and must stand together. A rule with "after" counts only
// when the agent's last answer contains those words, and then before all rules without "after". otherwise answers when no rule does;
// the third time in a row, or without such a line the second time, the agent takes its leave where it may end the call.
// "and end" hangs up after the words, "and transfer" hands the call to the agent's transfer number. Quotes may be
// typographic. A simulated caller follows rule lines likewise, with the roles reversed; without one that fits it hangs up.
//
// Where there are no rule lines, a passage of knowledge is said as it stands. An agent that arrives at its instructions,
// or may not end the conversation, says the quotations that they contain for it (Ask "Which day?"): see prose. Any other agent records
// the caller's words, and ends.
//
// Answer chooses among options by the quotations and comparisons in their labels (see option), finds values by their types (see
// extract), and answers everything else by the rules that New was given.
package scripted

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/callwright/callwright/agents/llm"
)

// Name is the model's name in the records of calls.
const Name = "scripted"

// The stand-in's own sentences.
const (
	greeting  = "Hello, this is an automated assistant. What would you like me to note?"
	noted     = "Thank you. I have noted that. Goodbye."
	unclear   = "Sorry, I did not understand that."
	noFurther = "I am sorry, I can't help with that. Goodbye."
)

// Model is the stand-in. It is an llm.Model and holds no state.
type Model struct{ rules []Rule }

var (
	_ llm.Model      = Model{}
	_ llm.Hinter     = Model{}
	_ llm.Repeatable = Model{}
	_ llm.Limited    = Model{}
)

// New makes the stand-in. The rules answer the questions that it cannot answer by itself.
func New(rules ...Rule) Model { return Model{slices.Clone(rules)} }

// Name returns "scripted".
func (Model) Name() string { return Name }

// Repeats returns true: answers follow from the request and the rules of New alone.
func (Model) Repeats() bool { return true }

// Unfollowed returns advice for instructions without rule lines, or the fault in their rule lines.
func (Model) Unfollowed(_, instructions string) string {
	s, err := parse(instructions)
	if failure, ok := errors.AsType[*llm.Failure](err); ok {
		return failure.Message
	}
	if s.start != nil || s.otherwise != nil || len(s.rules) > 0 {
		return ""
	}
	return "without a language model a free task is not followed: the agent notes one answer and says goodbye. " +
		`What works: rules in the task, one a line, such as when "yes": say "Thank you. Goodbye." and end; or a pathway whose labels quote words, ` +
		"as that of make demo does"
}

// Unanswered returns that questions of a task need a language model, or a rule of New.
func (m Model) Unanswered(_ string, task llm.Task) string {
	switch task {
	case llm.TaskRoute, llm.TaskLabel, llm.TaskExtract:
		return "" // by quoted words
	default:
		if slices.ContainsFunc(m.rules, func(r Rule) bool { return r.Task == task }) {
			return ""
		}
		return "it needs a language model"
	}
}

// Reply answers by the rules of the instructions. A rule line that can't be read, a transfer without a number, an end
// that is not allowed, and a conversation in which it is not the speaker's turn are llm.ClassUnsupported.
func (Model) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		line, s, err := answer(ctx, r)
		if err != nil {
			yield(llm.ReplyPart{}, err)
			return
		}
		part := llm.ReplyPart{Text: line.say, Expect: s.expected(line)}
		if line.say != "" && !yield(part, nil) {
			return
		}
		if line.action != "" {
			yield(llm.ReplyPart{Action: line.action}, nil)
		}
	}
}

// answer returns the line that answers a request, and the script that it is from.
func answer(ctx context.Context, r llm.ReplyRequest) (line, script, error) {
	if err := ended(ctx); err != nil {
		return line{}, script{}, err
	}
	s, err := parse(r.Instructions)
	if err != nil {
		return line{}, s, err
	}
	l, err := s.reply(r)
	switch {
	case err != nil:
	case l.action == llm.ActionTransfer && !r.CanTransfer:
		err = unsupported("a rule transfers the call, and there is no transfer number")
	case l.action == llm.ActionEnd && !r.CanEnd:
		err = unsupported("a rule ends the conversation, which the speaker may not do here")
	}
	return l, s, err
}

// ended returns the failure of a context that has ended.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &llm.Failure{Class: llm.ClassTransient, Message: "the request has ended", Cause: err}
	}
	return nil
}

// Hints returns the phrases of the rules that could answer the agent's last message, and the phrases of the options.
func (Model) Hints(r llm.ReplyRequest, options []llm.Option) []string {
	s, err := parse(r.Instructions)
	if err != nil {
		return nil // the reply will say so
	}
	hints := s.expected(line{say: said(r.Messages, len(r.Messages))})
	for _, o := range options {
		hints = append(hints, hintsOf(o)...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(hints, func(h string) bool {
		twice := seen[h]
		seen[h] = true
		return twice
	})
}

// reply returns the line that answers the last message.
func (s script) reply(r llm.ReplyRequest) (line, error) {
	if r.Task == llm.TaskCaller {
		return s.callerTurn(r)
	}
	n := len(r.Messages)
	turn, begun := n == 0 || r.Messages[n-1].Role == llm.RoleCaller, said(r.Messages, n) != ""
	if turn && begun && !r.Arriving {
		if l, ok := s.match(r.Messages, n-1); ok {
			return l, nil
		}
	}
	switch {
	case len(r.Knowledge) > 0:
		return line{say: r.Knowledge[0]}, nil
	case s.start != nil && (r.Arriving || turn && !begun):
		return *s.start, nil
	case r.Arriving, s.empty() && !r.CanEnd:
		return s.prose()
	case !turn:
		return line{}, unsupported("the last message is the agent's own")
	case !begun:
		return line{say: greeting}, nil
	default:
		return s.noRule(r), nil
	}
}

// empty reports whether there are no rules.
func (s script) empty() bool { return s.start == nil && len(s.rules) == 0 && s.otherwise == nil }

// noRule returns the line for a caller whose words no rule answers. An agent that may not end the conversation never
// loses patience.
func (s script) noRule(r llm.ReplyRequest) line {
	misses := s.misses(r.Messages)
	switch {
	case len(s.rules) == 0 && s.otherwise == nil && r.CanEnd:
		return line{say: noted, action: llm.ActionEnd}
	case s.otherwise != nil && (misses < 3 || !r.CanEnd):
		return *s.otherwise
	case s.otherwise == nil && (misses < 2 || !r.CanEnd):
		return line{say: unclear}
	default:
		return line{say: noFurther, action: llm.ActionEnd}
	}
}

// callerTurn returns the sentence of a simulated caller. For the rules, the simulated caller is the agent.
func (s script) callerTurn(r llm.ReplyRequest) (line, error) {
	if s.empty() {
		return line{}, unsupported("a persona needs rules such as: when \"which day\": say \"Friday.\" and end")
	}
	messages := slices.Clone(r.Messages)
	for i, m := range messages {
		switch m.Role {
		case llm.RoleCaller:
			messages[i].Role = llm.RoleAgent
		case llm.RoleAgent:
			messages[i].Role = llm.RoleCaller
		case llm.RoleTool:
		}
	}
	n := len(messages)
	if n > 0 && messages[n-1].Role != llm.RoleCaller {
		return line{}, unsupported("the last message is the caller's own")
	}
	if s.start != nil && said(messages, n) == "" {
		return *s.start, nil
	}
	if n == 0 {
		return line{}, unsupported("nothing says what the caller says first")
	}
	if l, ok := s.match(messages, n-1); ok {
		return l, nil
	}
	if s.otherwise != nil && s.misses(messages) < 3 {
		return *s.otherwise, nil
	}
	return line{action: llm.ActionEnd}, nil
}

// said returns the agent's last message before the i-th.
func said(messages []llm.Message, i int) string {
	for i--; i >= 0; i-- {
		if messages[i].Role == llm.RoleAgent && messages[i].Text != "" {
			return messages[i].Text
		}
	}
	return ""
}

// match finds the rule that answers the i-th message.
func (s script) match(messages []llm.Message, i int) (line, bool) {
	caller := words(messages[i].Text)
	for _, r := range s.open(said(messages, i)) {
		for _, phrase := range r.phrases {
			if contains(caller, words(phrase)) {
				return r.line, true
			}
		}
	}
	return line{}, false
}

// open returns the rules that apply after the agent's words, rules that need these words first.
func (s script) open(agent string) []rule {
	var special, general []rule
	for _, r := range s.rules {
		switch {
		case r.after == "":
			general = append(general, r)
		case contains(words(agent), words(r.after)):
			special = append(special, r)
		}
	}
	return append(special, general...)
}

// misses counts the caller's last messages that no rule answered. Messages before the agent's first words are a
// greeting and do not count.
func (s script) misses(messages []llm.Message) int {
	n := 0
	for i := len(messages) - 1; i >= 0 && said(messages, i) != ""; i-- {
		if messages[i].Role != llm.RoleCaller {
			continue
		}
		if _, ok := s.match(messages, i); ok {
			break
		}
		n++
	}
	return n
}

// expected returns the phrases with which the caller may answer a line: the phrases of the rules that could apply.
func (s script) expected(after line) []string {
	var out []string
	if after.action != "" {
		return nil
	}
	for _, r := range s.open(after.say) {
		out = append(out, r.phrases...)
	}
	return out
}
