package triagetest

import (
	"context"
	"slices"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// Analyst is a triage.Analyst that plays a script, one Play for each step, and records the cases of the steps. It is safe for concurrent
// use.
type Analyst struct {
	Called string // result of Name; empty means "Analyst"
	Plays  []Play

	mu    sync.Mutex
	cases []triage.Case
}

// Play is the scripted result of one call of Analyst.Step.
type Play struct {
	// Meanwhile, if set, is called before Step returns. It may wait, for example for the end of ctx. If ctx has ended, Step returns the
	// error of ctx.
	Meanwhile func(ctx context.Context, c triage.Case)
	Progress  triage.Progress
	Err       error // returned together with Progress
}

var _ triage.Analyst = (*Analyst)(nil)

// Name returns Called, or "Analyst" if Called is empty.
func (a *Analyst) Name() string {
	if a.Called == "" {
		return "Analyst"
	}
	return a.Called
}

// Step records the case and plays the next of Plays. After the last Play it returns CodeInternal.
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

// Cases returns the cases of all calls of Step so far, in order.
func (a *Analyst) Cases() []triage.Case {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.cases)
}
