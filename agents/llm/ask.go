package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Attempts is the maximum number of answers that Ask requests.
const Attempts = 3

// maxProblem bounds Question.Problem in bytes.
const maxProblem = 500

// Ask asks a question, and decodes the answer into *into. If it fails, *into does not change.
//
// The answer must be one JSON value that fits q.Schema. It may be in one code fence. After an invalid answer, Ask asks again with Problem
// and the next Attempt, at most 3 times in all. After the last invalid answer it returns a *Failure of ClassInvalid. It retries after the
// first failure of the model, if Again allows it, and returns any later failure. A schema that is invalid, or refers to another document,
// causes ClassPermanent.
func Ask(ctx context.Context, m Model, q Question, into any) (Usage, error) {
	schema, err := compile(q.Schema)
	if err != nil {
		return Usage{}, unusable(err)
	}
	return ask(ctx, m, q, func(raw json.RawMessage, value any) error {
		fresh := reflect.New(reflect.TypeOf(into).Elem())
		if err := decode(schema, raw, value, fresh.Interface()); err != nil {
			return err
		}
		reflect.ValueOf(into).Elem().Set(fresh.Elem())
		return nil
	})
}

// AskChecked asks like Ask, for answers that a schema alone cannot check. An answer for which check returns an error is invalid, and the
// model receives that error as the Problem.
func AskChecked[T any](ctx context.Context, m Model, q Question, check func(answer T) error) (T, Usage, error) {
	var answer T
	schema, err := compile(q.Schema)
	if err != nil {
		return answer, Usage{}, unusable(err)
	}
	usage, err := ask(ctx, m, q, func(raw json.RawMessage, value any) error {
		var fresh T
		if err := decode(schema, raw, value, &fresh); err != nil {
			return err
		}
		if err := check(fresh); err != nil {
			return err
		}
		answer = fresh
		return nil
	})
	return answer, usage, err
}

// unusable returns the Failure for a question whose schema does not compile.
func unusable(err error) error {
	return &Failure{Class: ClassPermanent, Message: "the schema of the question is invalid", Cause: err}
}

// decode validates an answer against its schema and decodes it.
func decode(schema *jsonschema.Schema, raw json.RawMessage, value, into any) error {
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("the answer does not fit the schema: %w", err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("the answer cannot be decoded: %w", err)
	}
	return nil
}

// ask asks until the function take accepts the answer, at most Attempts times. It also retries once after a failure of the model, if Again
// allows it.
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
			return usage, &Failure{Class: ClassTransient, Message: "the question was canceled", Cause: ctx.Err()}
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
		if attempt == Attempts {
			return usage, &Failure{Class: ClassInvalid, Message: "the model's answers are invalid", Cause: problem}
		}
		q.Problem, q.Attempt = clip(problem.Error(), maxProblem), q.Attempt+1
	}
}

// pause waits, and reports whether ctx is still valid afterwards.
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
