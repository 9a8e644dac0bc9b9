// Package scripted stands in for a language model where there is none. It is deterministic and makes nothing up: it
// follows the rule lines that it finds in an agent's task, and without any it says that it has noted what the caller
// said, and ends.
//
// A rule line stands on a line of its own, anywhere in the task:
//
//	start: say "Good morning. Would you like to come on Monday or on Tuesday?"
//	when "monday" or "tuesday": say "In the morning or in the afternoon?"
//	when "morning" or "afternoon" after "in the morning or": say "That is noted. Goodbye." and end
//	when "human": say "One moment, please." and transfer
//	otherwise: say "Monday or Tuesday?"
//
// start is what the agent says first if its call has no first sentence. The first rule whose words the caller has said
// answers; words are compared without case and punctuation, and must stand together. A rule with "after" counts only
// when the agent's last answer holds those words, and then before all rules without. otherwise answers what no rule does; the third time in a row, or
// without such a line the second time, the agent takes its leave. "and end" hangs up after the words, "and transfer"
// hands the call to the agent's transfer number. Quotes may be typographic. Everything else in the task is not read.
package scripted

import (
	"context"
	"iter"

	"github.com/callwright/callwright/agents/llm"
)

// Name is what a call's record shows as its model.
const Name = "scripted"

// What the stand-in says of its own.
const (
	greeting  = "Hello, this is an automated assistant. What would you like me to note?"
	noted     = "Thank you. I have noted that. Goodbye."
	unclear   = "Sorry, I did not understand that."
	noFurther = "I am sorry, I can't help with that. Goodbye."
)

// Model is the stand-in.
type Model struct{}

var _ llm.Model = Model{}

// New makes the stand-in. It has no state.
func New() Model { return Model{} }

// Name is "scripted".
func (Model) Name() string { return Name }

// Reply answers by the rules of the task. A rule line that can't be read, a transfer without a number, and a
// conversation in which it is not the agent's turn are llm.ClassUnsupported.
func (Model) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(llm.ReplyPart{}, &llm.Failure{Class: llm.ClassTransient, Message: "the request has ended", Cause: err})
			return
		}
		s, err := parse(r.Instructions)
		if err != nil {
			yield(llm.ReplyPart{}, err)
			return
		}
		line, err := s.reply(r.Messages)
		if err == nil && line.action == llm.ActionTransfer && !r.CanTransfer {
			err = unsupported("a rule transfers the call, and the agent has no transfer number")
		}
		if err != nil {
			yield(llm.ReplyPart{}, err)
			return
		}
		if yield(llm.ReplyPart{Text: line.say, Expect: s.expected(line)}, nil) && line.action != "" {
			yield(llm.ReplyPart{Action: line.action}, nil)
		}
	}
}

// Hints are the phrases of the rules that could answer the agent's last message.
func (Model) Hints(r llm.ReplyRequest, _ []llm.Option) []string {
	s, err := parse(r.Instructions)
	if err != nil {
		return nil // the reply will say so
	}
	return s.expected(line{say: said(r.Messages, len(r.Messages))})
}

// reply is the line that answers the last message.
func (s script) reply(messages []llm.Message) (line, error) {
	n := len(messages)
	switch {
	case n > 0 && messages[n-1].Role != llm.RoleCaller:
		return line{}, unsupported("the last message is the agent's own")
	case said(messages, n) == "":
		return s.start, nil
	case len(s.rules) == 0 && s.otherwise == nil:
		return line{say: noted, action: llm.ActionEnd}, nil
	}
	if l, ok := s.match(messages, n-1); ok {
		return l, nil
	}
	misses := s.misses(messages)
	switch {
	case s.otherwise != nil && misses < 3:
		return *s.otherwise, nil
	case s.otherwise == nil && misses < 2:
		return line{say: unclear}, nil
	default:
		return line{say: noFurther, action: llm.ActionEnd}, nil
	}
}

// said is the agent's last message before the i-th.
func said(messages []llm.Message, i int) string {
	for i--; i >= 0; i-- {
		if messages[i].Role == llm.RoleAgent {
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

// open are the rules that count after the agent's words, those that need these words first.
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

// misses counts the caller's last messages that no rule answered. What was said before the agent's first words was a
// greeting and is none.
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

// expected is what the caller may say after a line: the phrases of the rules that could answer.
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

// Answer says that it can't: whatever is asked for here needs a model.
func (Model) Answer(_ context.Context, q llm.Question) (llm.Answer, error) {
	return llm.Answer{}, unsupported("nobody can answer a question of the kind " + string(q.Task))
}
