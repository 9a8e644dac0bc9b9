package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Limits of asking.
const (
	attempts   = 3   // answers that are looked at before it is given up
	maxProblem = 500 // bytes of what is told about a wrong answer
)

// Ask puts a question with a schema and decodes the answer into what into points to, which stays as it is on a failure.
//
// An answer is one JSON value that fits q.Schema, with at most one code fence around it. Anything else is asked for again,
// with Problem and the next Attempt, twice; then it is a *Failure of ClassInvalid. A failure that may be gone soon (see
// Again) is tried once more. A schema that is none, or that refers to another document, is ClassPermanent.
func Ask(ctx context.Context, m Model, q Question, into any) (Usage, error) {
	schema, err := compile(q.Schema)
	if err != nil {
		return Usage{}, &Failure{Class: ClassPermanent, Message: "the schema of the question can't be used", Cause: err}
	}
	return ask(ctx, m, q, func(raw json.RawMessage, value any) error {
		if err := schema.Validate(value); err != nil {
			return fmt.Errorf("it does not fit the schema: %w", err)
		}
		fresh := reflect.New(reflect.TypeOf(into).Elem())
		if err := json.Unmarshal(raw, fresh.Interface()); err != nil {
			return fmt.Errorf("it can't be read: %w", err)
		}
		reflect.ValueOf(into).Elem().Set(fresh.Elem())
		return nil
	})
}

// ask asks until take takes the answer.
func ask(ctx context.Context, m Model, q Question, take func(raw json.RawMessage, value any) error) (Usage, error) {
	var usage Usage
	patient := true
	for attempt := 1; ; attempt++ {
		answer, err := m.Answer(ctx, q)
		if wait, again := Again(err); again && patient && pause(ctx, wait) {
			patient = false
			answer, err = m.Answer(ctx, q)
		}
		usage = usage.Add(answer.Usage)
		if ctx.Err() != nil && err != nil {
			return usage, &Failure{Class: ClassTransient, Message: "the question was given up", Cause: ctx.Err()}
		}
		if err != nil {
			return usage, err
		}
		raw, value, problem := parse(answer.JSON)
		if problem == nil {
			problem = take(raw, value)
		}
		if problem == nil {
			return usage, nil
		}
		if attempt == attempts {
			return usage, &Failure{Class: ClassInvalid, Message: "the model's answers are not what was asked for", Cause: problem}
		}
		q.Problem, q.Attempt = clip(problem.Error(), maxProblem), q.Attempt+1
	}
}

// pause waits, and says whether the context still lives.
func pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
