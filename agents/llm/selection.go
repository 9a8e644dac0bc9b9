package llm

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/callwright/callwright"
)

// The names that every deployment knows. Both are the default model, as an empty name is, unless a model has the name.
const (
	Base  = "base"
	Turbo = "turbo"
)

// Named is an optional interface of a Model that has others, which requests choose by ReplyRequest.Model or Question.Model.
type Named interface {
	// Named returns the Model.Name of the others by the names to ask for. It does not change.
	Named() map[string]string
}

// NameOf returns the name of the model that answers requests for a name; known is false if it is the default one for want of
// another.
func NameOf(m Model, asked string) (name string, known bool) {
	if n, ok := m.(Named); ok {
		if name, known = n.Named()[asked]; known {
			return name, true
		}
	}
	return m.Name(), asked == "" || asked == Base || asked == Turbo || asked == m.Name()
}

// CheckName refuses a name that no model has: CodeBadRequest with a field, and the names that there are.
func CheckName(m Model, field, asked string) error {
	if _, known := NameOf(m, asked); known {
		return nil
	}
	names := map[string]bool{Base: true, Turbo: true, m.Name(): true}
	if n, ok := m.(Named); ok {
		for name := range n.Named() {
			names[name] = true
		}
	}
	return callwright.Invalid(field, "must be a model of this server: %s", strings.Join(slices.Sorted(maps.Keys(names)), ", "))
}

// Missing says, for people, that a model was asked for by a name that it does not have: see Selection.
func Missing(asked string) string {
	return fmt.Sprintf("this server has no model %q: its default model answers instead", callwright.Clip(asked, 100))
}

// Selection is a Model that hands each request to the one whose name it asks for.
//
// Requests without a name, and those for one that nobody has, go to the default model: a conversation goes on when a model was taken
// out of the configuration. A judge must not change unnoticed: a question of TaskJudge for an unknown name is ClassPermanent.
type Selection struct {
	Default Model            // required
	Others  map[string]Model // by the names to ask for
}

// Name returns the name of the default model.
func (s Selection) Name() string { return s.Default.Name() }

// Named returns the names of the others.
func (s Selection) Named() map[string]string {
	names := make(map[string]string, len(s.Others))
	for name, m := range s.Others {
		names[name] = m.Name()
	}
	return names
}

// of returns the model for a name.
func (s Selection) of(name string) Model {
	if m := s.Others[name]; m != nil {
		return m
	}
	return s.Default
}

// Repeats reports whether all models repeat their answers.
func (s Selection) Repeats() bool {
	for _, m := range s.Others {
		if !Repeats(m) {
			return false
		}
	}
	return Repeats(s.Default)
}

// Unfollowed returns what the model that a name asks for does not follow.
func (s Selection) Unfollowed(asked, instructions string) string {
	return Unfollowed(s.of(asked), asked, instructions)
}

// Unanswered returns what the model that a name asks for does not answer.
func (s Selection) Unanswered(asked string, task Task) string {
	return Unanswered(s.of(asked), asked, task)
}

// Hints returns the hints of the model that the request asks for, if it has any.
func (s Selection) Hints(r ReplyRequest, options []Option) []string {
	if h, ok := s.of(r.Model).(Hinter); ok {
		return h.Hints(r, options)
	}
	return nil
}

// Reply has the model reply that the request asks for.
func (s Selection) Reply(ctx context.Context, r ReplyRequest) iter.Seq2[ReplyPart, error] {
	return s.of(r.Model).Reply(ctx, r)
}

// Answer has the model answer that the question asks for.
func (s Selection) Answer(ctx context.Context, q Question) (Answer, error) {
	if _, known := NameOf(s, q.Model); !known && q.Task == TaskJudge {
		return Answer{}, &Failure{Class: ClassPermanent, Message: fmt.Sprintf("this server has no model %q", callwright.Clip(q.Model, 100))}
	}
	return s.of(q.Model).Answer(ctx, q)
}
