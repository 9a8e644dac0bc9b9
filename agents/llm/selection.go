package llm

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// Base and Turbo are names that every deployment accepts. Like an empty name, both mean the default model, unless a model has the name.
const (
	Base  = "base"
	Turbo = "turbo"
)

// Named is an optional interface of a Model that contains other Models. Requests select them by ReplyRequest.Model or Question.Model.
type Named interface {
	// Named maps the names in requests to the Model.Name of the models that they select. The result is constant.
	Named() map[string]string
}

// NameOf returns the Model.Name of the model that answers requests with the given name. If the name is unknown, known is false and the
// default model answers.
func NameOf(m Model, asked string) (name string, known bool) {
	if n, ok := m.(Named); ok {
		if name, known = n.Named()[asked]; known {
			return name, true
		}
	}
	return m.Name(), asked == "" || asked == Base || asked == Turbo || asked == m.Name()
}

// CheckName returns CodeBadRequest with the field if a model's name is unknown. The error's text lists the known names.
func CheckName(m Model, field, asked string) error {
	if _, known := NameOf(m, asked); known {
		return nil
	}
	return callwright.Invalid(field, "must be a model of this server: %s", strings.Join(Names(m), ", "))
}

// Names returns the names by which requests can select a model of m, in alphabetical order.
func Names(m Model) []string {
	names := map[string]bool{Base: true, Turbo: true, m.Name(): true}
	if n, ok := m.(Named); ok {
		for name := range n.Named() {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Missing returns a human-readable warning that the default model answers requests for an unknown model: see Selection.
func Missing(asked string) string {
	return fmt.Sprintf("this server has no model %q: its default model answers instead", callwright.Clip(asked, 100))
}

// SelectionConfig configures a Selection. Zero fields other than Default mean none or the defaults of a FallbackConfig.
type SelectionConfig struct {
	Default  Model            `required:"always"`
	Others   map[string]Model // further models by their names in requests
	Fallback string           // name in Others of the fallback of Default, for requests without a fallback; empty means none

	Patience time.Duration // see FallbackConfig
	Failures int
	Pause    time.Duration

	callwright.Runtime
}

// Selection is a Model that passes each request to the model that the request names, and to the fallback that the request names if that
// model fails: see Fallback. All requests for a model share the count of its failures.
//
// The default model answers requests without a name or with an unknown name, so that a conversation continues after a model was removed
// from the configuration. A judge, however, must not change unnoticed: a question of TaskJudge with an unknown name causes ClassPermanent.
// An unknown fallback is none.
//
// A Selection without NewSelection has no fallbacks.
type Selection struct {
	Default Model            // required
	Others  map[string]Model // further models by their names in requests

	cfg      FallbackConfig      // without models
	fallback string              // of Default; may be empty
	breakers map[string]*breaker // by name; "" is Default's
}

// NewSelection returns a Selection with fallbacks. It returns an error if Default is missing, or if Fallback is unknown.
func NewSelection(c SelectionConfig) (Selection, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return Selection{}, err
	}
	if c.Fallback != "" && c.Others[c.Fallback] == nil {
		return Selection{}, fmt.Errorf("llm: SelectionConfig.Fallback %q is no name in Others", c.Fallback)
	}
	s := Selection{
		Default: c.Default, Others: c.Others, fallback: c.Fallback, breakers: map[string]*breaker{"": {}},
		cfg: FallbackConfig{Patience: c.Patience, Failures: c.Failures, Pause: c.Pause, Runtime: c.Runtime}.withDefaults(),
	}
	for name := range c.Others {
		s.breakers[name] = &breaker{}
	}
	return s, nil
}

// guarded returns the model that a request names, with the fallback that the request names.
func (s Selection) guarded(asked, fallback string) Model {
	first := s.of(asked)
	if s.breakers == nil {
		return first
	}
	if s.Others[asked] == nil {
		asked = ""
		fallback = cmp.Or(fallback, s.fallback)
	}
	second := s.Others[fallback]
	if second == nil && (fallback == Base || fallback == Turbo || fallback == s.Default.Name()) {
		fallback, second = "", s.Default
	}
	if second == nil || fallback == asked {
		return first
	}
	c := s.cfg
	c.First, c.Second = first, second
	return &Fallback{cfg: c, breaker: s.breakers[asked]}
}

// Name returns the name of the default model.
func (s Selection) Name() string { return s.Default.Name() }

// Named returns the names of the models in Others.
func (s Selection) Named() map[string]string {
	names := make(map[string]string, len(s.Others))
	for name, m := range s.Others {
		names[name] = m.Name()
	}
	return names
}

// of returns the model that a name selects, or the default model for an unknown name.
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

// Unfollowed returns the result of the model that the parameter asked names, or of the default model if the name is unknown.
func (s Selection) Unfollowed(asked, instructions string) string {
	return Unfollowed(s.of(asked), asked, instructions)
}

// Unanswered returns the result of the model that the parameter asked names, or of the default model if the name is unknown.
func (s Selection) Unanswered(asked string, task Task) string {
	return Unanswered(s.of(asked), asked, task)
}

// Unchosen returns the result of the model that the parameter asked names, or of the default model if the name is unknown.
func (s Selection) Unchosen(asked string, o Option, fields []Field) string {
	return Unchosen(s.of(asked), asked, o, fields)
}

// Hints returns the hints of the model that the request names, or of the default model if the name is unknown. It returns nil if that model
// is no Hinter.
func (s Selection) Hints(r ReplyRequest, options []Option) []string {
	if h, ok := s.of(r.Model).(Hinter); ok {
		return h.Hints(r, options)
	}
	return nil
}

// Reply returns the reply of the model that the request names, or of the default model if the name is unknown. If that model fails, it
// returns the reply of the fallback.
func (s Selection) Reply(ctx context.Context, r ReplyRequest) iter.Seq2[ReplyPart, error] {
	return s.guarded(r.Model, r.Fallback).Reply(ctx, r)
}

// Answer returns the answer of the model that the question names, or of the default model if the name is unknown. If that model fails, it
// returns the answer of the fallback, except to a question of TaskJudge. Such a question with an unknown name causes ClassPermanent.
func (s Selection) Answer(ctx context.Context, q Question) (Answer, error) {
	if _, known := NameOf(s, q.Model); !known && q.Task == TaskJudge {
		return Answer{}, &Failure{Class: ClassPermanent, Message: fmt.Sprintf("this server has no model %q", callwright.Clip(q.Model, 100))}
	}
	return s.guarded(q.Model, q.Fallback).Answer(ctx, q)
}
