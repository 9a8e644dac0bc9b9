// Package scripted is a stand-in for a language model. It is deterministic and invents nothing. It follows the rule lines of the
// instructions, and fails with llm.ClassUnsupported if it cannot follow them.
//
// A rule line may be anywhere in the instructions, on a separate line:
//
//	start: say "Good morning. Would you like to come on Monday or on Tuesday?"
//	when "monday" or "tuesday": say "In the morning or in the afternoon?"
//	when "morning" or "afternoon" after "in the morning or": say "That is noted. Goodbye." and end
//	when "human": say "One moment, please." and transfer
//	otherwise: say "Monday or Tuesday?"
//
// The agent says the start line first, unless its call has a first sentence. It then answers by the first rule of which the caller has said
// a phrase. Phrases are compared without case and punctuation, and their words must be consecutive. A rule with "after" applies only if the
// agent's last message contains those words, and has priority over rules without "after".
//
// If no rule applies, the agent says the first passage of the request's knowledge. Without knowledge, it says the otherwise line, or,
// without that, that it did not understand. The third time in a row, or the second time without an otherwise line, it says goodbye and ends
// the call, if it is allowed to. "and end" hangs up after the words. "and transfer" transfers the call to the agent's transfer number.
// Quotation marks may be typographic. A simulated caller follows rule lines with the roles reversed, and hangs up if none applies.
//
// Without rule lines and knowledge, an agent that arrives at its instructions, or that may not end the conversation, says the quotations
// that the instructions ask for, such as Ask "Which day?": see prose. Any other agent records the caller's words and ends the call.
//
// Answer chooses among options by the quotations and comparisons in their labels, descriptions and conditions. It extracts values by the
// types of their fields, and answers all other questions by the rules that New received.
package scripted

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/callwright/callwright/agents/llm"
)

// Name is the model name that the stand-in reports, for example in call records.
const Name = "scripted"

// The sentences that the stand-in says without a rule.
const (
	greeting  = "Hello, this is an automated assistant. What would you like me to note?"
	noted     = "Thank you. I have noted that. Goodbye."
	unclear   = "Sorry, I did not understand that."
	noFurther = "I am sorry, I can't help with that. Goodbye."
)

// Model is the stand-in for a language model. It implements llm.Model and holds no state but its rules.
type Model struct{ rules []Rule }

var (
	_ llm.Model      = Model{}
	_ llm.Hinter     = Model{}
	_ llm.Repeatable = Model{}
	_ llm.Limited    = Model{}
)

// New returns a stand-in. It answers questions by the first rule that fits, before it tries to answer by itself.
func New(rules ...Rule) Model { return Model{slices.Clone(rules)} }

// Name returns the constant Name.
func (Model) Name() string { return Name }

// Repeats returns true, because answers depend only on the request and the rules of New.
func (Model) Repeats() bool { return true }

// Unfollowed returns advice if the instructions contain no rule lines, and the error if a rule line is invalid. It returns an empty text if
// the rule lines are valid.
func (Model) Unfollowed(_, instructions string) string {
	s, err := parse(instructions)
	if failure, ok := errors.AsType[*llm.Failure](err); ok {
		return failure.Message
	}
	if s.start != nil || s.otherwise != nil || len(s.rules) > 0 {
		return ""
	}
	return "without a language model a free task is not followed: the agent notes one answer and says goodbye. " +
		`Write rules into the task, one a line, such as when "yes": say "Thank you. Goodbye." and end; ` +
		"or use a pathway whose labels quote the caller's words, such as the pathway of make demo"
}

// Unanswered returns an explanation if questions of a task need a language model. It returns an empty text if the stand-in or a rule of New
// answers them.
func (m Model) Unanswered(_ string, task llm.Task) string {
	switch task {
	case llm.TaskRoute, llm.TaskExtract:
		return "" // answered by quotations and by the types of fields
	default:
		if slices.ContainsFunc(m.rules, func(r Rule) bool { return r.Task == task }) {
			return ""
		}
		return "a language model is required"
	}
}

// Reply answers by the rules of the instructions. It fails with llm.ClassUnsupported if it cannot, for example if a rule line is invalid,
// if a rule transfers without a number or ends a conversation that must not end, if the instructions contain no words to say, or if the
// other side must speak next.
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

// answer returns the line that answers a request, and the script that contains it.
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
		err = unsupported(`a rule that ends in "and transfer" requires a transfer number: set one, or change the rule`)
	case l.action == llm.ActionEnd && !r.CanEnd:
		err = unsupported(`a rule must not end in "and end", because the agent may not end this conversation: remove "and end" from the rule`)
	}
	return l, s, err
}

// ended returns a transient failure if ctx has ended.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &llm.Failure{Class: llm.ClassTransient, Message: "the request was canceled or timed out", Cause: err}
	}
	return nil
}

// Hints returns the phrases of the rules that could answer the agent's last message, and the phrases of the options, without duplicates.
func (Model) Hints(r llm.ReplyRequest, options []llm.Option) []string {
	s, err := parse(r.Instructions)
	if err != nil {
		return nil // Reply will return the error
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

// reply returns the line that answers the last message of a request.
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
		return line{}, unsupported("the last message must be from the caller")
	case !begun:
		return line{say: greeting}, nil
	default:
		return s.noRule(r), nil
	}
}

// empty reports whether the script contains no rule lines.
func (s script) empty() bool { return s.start == nil && len(s.rules) == 0 && s.otherwise == nil }

// noRule returns the line for a caller whose words match no rule. If the agent may end the conversation, the line ends it after repeated
// misses, or immediately if the script has neither rules nor a fallback line.
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

// callerTurn returns the line of a simulated caller. It exchanges the roles of the messages, because the rules treat the simulated caller
// as the agent.
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
		return line{}, unsupported("the last message must be from the agent")
	}
	if s.start != nil && said(messages, n) == "" {
		return *s.start, nil
	}
	if n == 0 {
		return line{}, unsupported(`a persona that speaks first needs a rule such as: start: say "Hello."`)
	}
	if l, ok := s.match(messages, n-1); ok {
		return l, nil
	}
	if s.otherwise != nil && s.misses(messages) < 3 {
		return *s.otherwise, nil
	}
	return line{action: llm.ActionEnd}, nil
}

// said returns the text of the agent's last message before the i-th message, or an empty text.
func said(messages []llm.Message, i int) string {
	for i--; i >= 0; i-- {
		if messages[i].Role == llm.RoleAgent && messages[i].Text != "" {
			return messages[i].Text
		}
	}
	return ""
}

// match returns the line of the first rule that answers the i-th message. It returns false if none does.
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

// open returns the rules that apply after the agent's words. Rules with "after" precede the others.
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

// misses returns the number of the caller's last messages in a row that match no rule. It ignores messages before the agent's first words,
// because they are a greeting.
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

// expected returns the phrases of the rules that could apply after a line of the agent. It returns none if the line ends or transfers the
// call.
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
