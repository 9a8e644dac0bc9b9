package triage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// errMoved reports that the session changed or was deleted while a step ran. The step writes nothing. Its task runs again immediately,
// because a person may have added information.
var errMoved = &callwright.Error{
	Code: callwright.CodeUnavailable, Message: "the session has changed meanwhile", RetryAfter: time.Millisecond,
}

// analyze is the durable task that runs a step of an analysis. The Analyst's entries, the session and the next task are committed together,
// and only if the session has not changed since the step began. A step that runs twice is therefore written once.
func (s *Service) analyze(ctx context.Context, task callwright.Task, args analyzeArgs, attempt int) error {
	sess, err := s.cfg.Store.Session(ctx, task.Org, args.Issue, args.Session)
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if sess.Analysis == nil || sess.Analysis.Step != args.Step || !sess.Status.Working() {
		return nil // the step is done, or no longer wanted
	}
	left := analysisLife - s.cfg.Clock.Now().Sub(sess.Analysis.Since)
	p, err := s.runStep(ctx, sess, attempt, left)
	if err == nil {
		err = s.storeStep(ctx, sess, p)
	}
	wait, later := callwright.RetryAfter(err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case later:
		return &callwright.Error{Code: callwright.CodeOf(err), Message: callwright.MessageOf(err), RetryAfter: min(wait, left)}
	case attempt < analysisAttempts:
		return err
	}
	s.cfg.Logger.WarnContext(ctx, "an issue is not analyzed", "issue_id", args.Issue, "session_id", args.Session, "error", err)
	return s.storeStep(ctx, sess, failedProgress("The analysis failed: "+whatFailed(err)+"."))
}

// runStep lets the Analyst run a step. It returns errMoved if the session changes meanwhile. If there is no Analyst, or the analysis has
// reached a limit, it returns a progress that ends the analysis.
func (s *Service) runStep(ctx context.Context, sess Session, attempt int, left time.Duration) (Progress, error) {
	switch {
	case s.cfg.Analyst == nil:
		return failedProgress("This server no longer analyzes issues."), nil
	case left <= 0:
		return failedProgress(fmt.Sprintf("The analysis took longer than %.0f minutes.", analysisLife.Minutes())), nil
	case sess.Analysis.Step >= maxAnalysisSteps:
		return failedProgress(fmt.Sprintf("The analysis needed more than %d steps.", maxAnalysisSteps)), nil
	case attempt > analysisAttempts: // the last attempt died without reporting an error
		return failedProgress("The analysis was interrupted several times."), nil
	}
	c, err := s.caseOf(ctx, sess, attempt)
	if err != nil {
		return Progress{}, err
	}
	watched, moved := context.WithCancelCause(ctx)
	watched, stop := context.WithTimeout(watched, analysisPatience)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer moved(nil)
	defer stop()
	watching.Go(func() { s.watchSession(watched, sess, moved) })
	p, err := s.cfg.Analyst.Step(watched, c)
	if cause := context.Cause(watched); errors.Is(cause, errMoved) {
		return Progress{}, cause
	}
	if err == nil {
		err = p.Check()
	}
	return p, err
}

// whatFailed returns the part of an error that users may see, with the field of the invalid step.
func whatFailed(err error) string {
	if e, ok := errors.AsType[*callwright.Error](err); ok {
		return e.Error()
	}
	return callwright.MessageOf(err)
}

// failedProgress returns a progress that ends an analysis with an error entry.
func failedProgress(why string) Progress {
	return Progress{Steps: []Step{{Type: TypeError, Detail: why}}, Next: SessionError}
}

// watchSession polls the session of a running step until ctx ends. If the session was changed or deleted on any node, it cancels the step
// with errMoved.
func (s *Service) watchSession(ctx context.Context, seen Session, moved context.CancelCauseFunc) {
	ticker := time.NewTicker(analysisWatched)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		sess, err := s.cfg.Store.Session(ctx, seen.Org, seen.IssueID, seen.ID)
		if err == nil && sess.Revision != seen.Revision || errors.Is(err, callwright.ErrNotFound) {
			moved(errMoved)
			return
		}
	}
}

// caseOf assembles the input of the Analyst. It returns errMoved if the issue was deleted. Case.Read returns CodeNotFound for a resource
// that is not attached, and CodeNotImplemented for a type without a resolver.
func (s *Service) caseOf(ctx context.Context, sess Session, attempt int) (Case, error) {
	issue, err := s.cfg.Store.Issue(ctx, sess.Org, sess.IssueID)
	if errors.Is(err, callwright.ErrNotFound) {
		return Case{}, errMoved
	}
	if err != nil {
		return Case{}, err
	}
	resources, err := s.cfg.Store.ResourcesOf(ctx, sess.Org, sess.IssueID)
	if err != nil {
		return Case{}, err
	}
	flags, err := s.cfg.Store.FlagsOf(ctx, sess.Org, sess.IssueID)
	if err != nil {
		return Case{}, err
	}
	a := sess.Analysis
	return Case{
		Org: sess.Org, Issue: issue, Resources: resources, Flags: flags,
		Prompt: a.Prompt, Answers: a.Answers, PreviousSteps: a.Step, State: a.State, Attempt: attempt,
		Read: func(ctx context.Context, r Resource) (Evidence, error) {
			attached := slices.ContainsFunc(resources, func(a Resource) bool { return a.Type == r.Type && a.ResourceID == r.ResourceID })
			if !attached {
				return Evidence{}, callwright.NotFound("resource")
			}
			resolver := s.cfg.Resolvers[r.Type]
			if resolver == nil {
				return Evidence{}, callwright.Errorf(callwright.CodeNotImplemented, "this server resolves no resources of type %s", r.Type)
			}
			return resolver.Read(ctx, sess.Org, r.ResourceID)
		},
	}, nil
}

// Check returns CodeInternal for a progress that cannot be stored. Such a progress is an error of the Analyst.
func (p Progress) Check() error {
	said := []EntryType{TypeThought, TypeAction, TypeResponse, TypeArtifact, TypeError}
	var why string
	switch {
	case slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Status != "" || !slices.Contains(said, s.Type) }):
		why = fmt.Sprintf("the Status of its steps must be empty, and their Type must be one of %q", said)
	case !slices.Contains([]SessionStatus{SessionActive, SessionAwaitingInput, SessionComplete, SessionError}, p.Next):
		why = fmt.Sprintf("its Next must be active, awaiting_input, complete or error, not %q", p.Next)
	case p.Next == SessionAwaitingInput && (len(p.Steps) == 0 || p.Steps[len(p.Steps)-1].Type != TypeResponse):
		why = fmt.Sprintf("with the Next %s, its last step must be a %s", p.Next, TypeResponse)
	case len(p.State) > maxAnalysisState || p.State != nil && !json.Valid(p.State):
		why = fmt.Sprintf("its State must be JSON of at most %d bytes", maxAnalysisState)
	default:
		return nil
	}
	return callwright.ErrInternal.Because(fmt.Errorf("the progress of an analyst cannot be stored: %s", why))
}

// storeStep writes the progress of a step and queues the next one. It returns errMoved if the session has changed or was deleted.
func (s *Service) storeStep(ctx context.Context, seen Session, p Progress) error {
	_, _, err := s.change(ctx, seen.Org, seen.Agent(), seen.IssueID, func(ctx context.Context, c *change) error {
		sess, err := s.cfg.Store.Session(ctx, seen.Org, seen.IssueID, seen.ID)
		if err != nil {
			return err
		}
		if sess.Revision != seen.Revision {
			return errMoved
		}
		a := *sess.Analysis
		a.Step, a.State = a.Step+1, p.State
		sess.Analysis = &a
		if err := s.advance(ctx, c, &sess, c.by, p.steps()...); err != nil || p.Next != SessionActive {
			return err
		}
		return s.queueAnalysis(ctx, sess)
	})
	if errors.Is(err, callwright.ErrNotFound) { // the issue was deleted
		return errMoved
	}
	return err
}

// steps returns the steps to write for a progress. If the session ends or waits for people, the last step sets the session's state.
func (p Progress) steps() []Step {
	steps := slices.Clone(p.Steps)
	switch {
	case p.Next.Ended():
		steps = append(steps, Step{Type: TypeSessionStopped, Status: p.Next})
	case p.Next == SessionAwaitingInput:
		steps[len(steps)-1].Status = p.Next
	}
	return steps
}
