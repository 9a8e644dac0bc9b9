package scripted

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/callwright/callwright/agents/llm"
)

// Rule answers questions of a task, especially questions that the stand-in cannot answer by itself: to judge, to analyze, to fix or to
// label.
type Rule struct {
	Task   llm.Task
	About  string // words that the instructions or the evidence of the question must contain; empty matches any
	Said   string // words that a message must contain; empty matches any
	Answer string // JSON
}

// fits reports whether a rule applies to a question.
func (r Rule) fits(q llm.Question) bool {
	if r.Task != q.Task {
		return false
	}
	if about := words(r.About); len(about) > 0 && !contains(words(q.Instructions), about) && !contains(words(string(q.Evidence)), about) {
		return false
	}
	said := r.Said == ""
	for _, m := range q.Messages {
		said = said || contains(words(m.Text), words(r.Said))
	}
	return said
}

// choice is the JSON answer to a question of llm.TaskRoute.
type choice struct {
	Option string `json:"option"`
	Reason string `json:"reason"`
}

// Answer answers by the first rule that fits the question. If no rule fits, it chooses an option for llm.TaskRoute and extracts values for
// llm.TaskExtract. Any other task fails with llm.ClassUnsupported.
func (m Model) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	if err := ended(ctx); err != nil {
		return llm.Answer{}, err
	}
	for _, r := range m.rules {
		if r.fits(q) {
			return llm.Answer{JSON: json.RawMessage(r.Answer), Model: Name}, nil
		}
	}
	var content any
	switch q.Task {
	case llm.TaskRoute:
		id, reason, err := choose(q)
		if err != nil {
			return llm.Answer{}, err
		}
		content = choice{id, reason}
	case llm.TaskExtract:
		content = extract(q)
	default:
		return llm.Answer{}, unsupported(fmt.Sprintf("no rule answers this question of the kind %s: pass a Rule for it to New, or use a language model", q.Task))
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return llm.Answer{}, unsupported("the answer can't be written as JSON")
	}
	return llm.Answer{JSON: raw, Model: Name}, nil
}
