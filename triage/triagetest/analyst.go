package triagetest

import (
	"context"
	"slices"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// Analyst is a triage.Analyst that plays a script, one Play for each step, and records its cases. It is safe for concurrent use.
type Analyst struct {
	Called string // its name; empty: "Analyst"
	Plays  []Play

	mu    sync.Mutex
	cases []triage.Case
}

// Play is the result of one call of Analyst.Step.
type Play struct {
	// Meanwhile, if set, is called first. It may wait, for example for the end of ctx, which then is the step's error.
	Meanwhile func(ctx context.Context, c triage.Case)
	Progress  triage.Progress
	Err       error // returned instead of the progress
}

var _ triage.Analyst = (*Analyst)(nil)

// Name returns the agent name of its sessions.
func (a *Analyst) Name() string {
	if a.Called == "" {
		return "Analyst"
	}
	return a.Called
}

// Step plays the next of Plays. After the last it returns an error that no test expects.
func (a *Analyst) Step(ctx context.Context, c triage.Case) (triage.Progress, error) {
	a.mu.Lock()
	n := len(a.cases)
	a.cases = append(a.cases, c)
	a.mu.Unlock()
	if n >= len(a.Plays) {
		return triage.Progress{}, callwright.Errorf(callwright.CodeInternal, "step %d of %d is not written", n+1, len(a.Plays))
	}
	play := a.Plays[n]
	if play.Meanwhile != nil {
		play.Meanwhile(ctx, c)
	}
	if err := ctx.Err(); err != nil {
		return triage.Progress{}, err
	}
	return play.Progress, play.Err
}

// Cases returns the cases of all steps so far, in order.
func (a *Analyst) Cases() []triage.Case {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.cases)
}
