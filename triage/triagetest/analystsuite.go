package triagetest

import (
	"context"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/triage"
)

// These constants are the limits of an analysis in RunAnalyst.
const (
	mostSteps     = 40
	mostQuestions = 5
)

// RunAnalyst is the conformance suite of triage.Analyst. It analyzes issues with one call, whose evidence is readable, deleted, or without
// a resolver, and an issue without resources. Every analysis must end, with any result, within 40 steps and 5 questions. The suite also
// checks the name, a repeated step, and steps whose context has ended. newAnalyst returns an analyst that shares only its configuration
// with others, because the suite executes each step with a new one.
func RunAnalyst(t *testing.T, newAnalyst func(t *testing.T) triage.Analyst) {
	t.Helper()
	t.Run("has a name", func(t *testing.T) {
		t.Parallel()
		a := newAnalyst(t)
		name := a.Name()
		if strings.TrimSpace(name) == "" || strings.ContainsFunc(name, callwright.Hidden) || newAnalyst(t).Name() != name {
			t.Errorf("its name is %q, then %q", name, newAnalyst(t).Name())
		}
	})
	for name, evidence := range map[string]error{
		"analyzes a call":                nil,
		"copes with a call that is gone": callwright.NotFound("resource"),
		"copes without a resolver":       callwright.ErrNotImplemented,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			analyzes(t, newAnalyst, aCase(evidence))
		})
	}
	t.Run("copes without resources", func(t *testing.T) {
		t.Parallel()
		c := aCase(nil)
		c.Resources = nil
		analyzes(t, newAnalyst, c)
	})
	t.Run("takes a step again", func(t *testing.T) {
		t.Parallel()
		for range 2 { // a crash after the first attempt repeats the step
			takesStep(t, newAnalyst(t), aCase(nil))
		}
	})
	t.Run("ends with its context", func(t *testing.T) {
		t.Parallel()
		endsStep(t, newAnalyst)
	})
}

// aCase returns the case of an issue with one call. Read returns err, or evidence if err is nil.
func aCase(err error) triage.Case {
	return triage.Case{
		Org: "a", Issue: triage.Issue{ID: "i1", Org: "a", Number: 1001, Title: "Nobody is transferred"}, Attempt: 1,
		Resources: []triage.Resource{{ID: "l1", Type: triage.ResourceCall, ResourceID: "c1", Title: "Call to +15550000001"}},
		Read: func(ctx context.Context, _ triage.Resource) (triage.Evidence, error) {
			if err != nil {
				return triage.Evidence{}, err
			}
			return triage.Evidence{
				Facts: map[string]any{"status": "failed", "seconds": 12},
				Lines: []triage.Line{{Agent: true, Text: "Hello."}, {Text: "A human, please."}, {Agent: true, Text: "I can't do that."}},
			}, ctx.Err()
		},
	}
}

// takesStep executes a step, and checks that it succeeds with a valid progress.
func takesStep(t *testing.T, a triage.Analyst, c triage.Case) triage.Progress {
	t.Helper()
	p, err := a.Step(t.Context(), c)
	if err != nil {
		t.Fatalf("step %d: %v", c.PreviousSteps, err)
	}
	if err := p.Check(); err != nil {
		t.Fatalf("step %d: %+v: %v", c.PreviousSteps, p, err)
	}
	return p
}

// analyzes executes the steps of an analysis, each with a new analyst, and checks that the analysis ends within the limits.
func analyzes(t *testing.T, newAnalyst func(t *testing.T) triage.Analyst, c triage.Case) {
	t.Helper()
	for range mostSteps {
		p := takesStep(t, newAnalyst(t), c)
		c.PreviousSteps, c.State = c.PreviousSteps+1, p.State
		switch {
		case p.Next.Ended():
			return
		case p.Next == triage.SessionAwaitingInput && len(c.Answers) == mostQuestions:
			t.Fatalf("it asks more than %d questions", mostQuestions)
		case p.Next == triage.SessionAwaitingInput:
			c.Answers = append(c.Answers, "I don't know.")
		}
	}
	t.Fatalf("it has not ended after %d steps", mostSteps)
}

// endsStep checks that a step whose context has already ended returns soon, with or without an error, and that an analysis does not
// continue for 40 such steps.
func endsStep(t *testing.T, newAnalyst func(t *testing.T) triage.Analyst) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := aCase(nil)
	c.Read = func(context.Context, triage.Resource) (triage.Evidence, error) {
		<-ctx.Done()
		return triage.Evidence{}, ctx.Err()
	}
	for range mostSteps {
		var p triage.Progress
		var err error
		callwrighttest.Soon(t, "a step whose context has ended", func() { p, err = newAnalyst(t).Step(ctx, c) })
		if err != nil || p.Next != triage.SessionActive {
			return
		}
		c.PreviousSteps, c.State = c.PreviousSteps+1, p.State
	}
	t.Errorf("with an ended context it goes on for %d steps", mostSteps)
}
