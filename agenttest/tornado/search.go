package tornado

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
)

// Search iterates until the session reaches an end state, and returns its progress. It returns an error if SearchConfig is incomplete or
// invalid, or if ctx ends first. After ctx has ended, a new call repeats the search, provided that the ports return the same results for
// the same names. If Cancelled returns true or the Deadline has passed when ctx ends, Search reports the matching end state instead of an
// error.
func Search(ctx context.Context, c SearchConfig) (Progress, error) {
	if err := c.check(); err != nil {
		return Progress{}, err
	}
	s := &search{
		cfg: c, Progress: Progress{State: Running, Phase: Baseline, Base: c.Base, Best: c.Base},
		found: map[string]*analysis.Analysis{}, tried: map[string]int{},
	}
	err := s.run(ctx)
	end, reached := errors.AsType[*ending](err)
	if !reached { // a port's call may have failed because the session is over
		end, reached = errors.AsType[*ending](s.interrupted())
	}
	switch {
	case !reached && ctx.Err() != nil:
		return s.Progress, ctx.Err()
	case !reached:
		end = s.failure(ctx, err)
	}
	s.State, s.Stop, s.Detail = end.state, end.reason, end.detail
	if n := len(s.Iterations); n > 0 && s.Iterations[n-1].Completed.IsZero() {
		s.Iterations[n-1].Completed, s.Iterations[n-1].Outcome = c.Clock.Now(), Unfinished
	}
	if number, err := c.Versions.Production(context.WithoutCancel(ctx)); err == nil {
		s.BaseMoved = number != s.production
	}
	s.tell()
	return s.Progress, nil
}

// ending is the error that carries the end state of a session and its reason.
type ending struct {
	state  State
	reason StopReason
	detail string
}

func (e *ending) Error() string { return string(e.reason) }

// search is the state of a running Search.
type search struct {
	Progress

	cfg        SearchConfig
	production int
	document   graph.Document // document of the version Best
	best       results
	rejected   []Rejection
	found      map[string]*analysis.Analysis // by id of the run; nil if the analysis was invalid
	tried      map[string]int                // number of plans that changed the faulty node without success, by scenario and failure mode
	failing    [][]string                    // failing scenarios of each candidate rejected since the last acceptance
	lost       int                           // consecutive iterations without an acceptance
	idle       int                           // consecutive iterations without a new plan
	broken     int                           // consecutive iterations in which most runs were in error
}

// run tests the base version, and then iterates until it returns an error: an *ending, or the error of a port.
func (s *search) run(ctx context.Context) (err error) {
	if s.production, err = s.cfg.Versions.Production(ctx); err != nil {
		return err
	}
	if s.document, err = s.cfg.Versions.Document(ctx, s.Base); err != nil {
		return err
	}
	s.begin()
	if s.best, err = s.test(ctx, s.Base, ids(s.cfg.Scenarios), 1); err != nil {
		return err
	}
	if err := s.measured(); err != nil {
		return err
	}
	s.storePassed()
	s.end(IsBaseline, "")
	for {
		if err := s.over(); err != nil {
			return err
		}
		s.begin()
		if err := s.iterate(ctx); err != nil {
			return err
		}
	}
}

// begin appends a new iteration to the progress.
func (s *search) begin() {
	s.Iterations = append(s.Iterations, Iteration{Number: len(s.Iterations), Started: s.cfg.Clock.Now()})
	s.tell()
}

// now returns the newest iteration.
func (s *search) now() *Iteration { return &s.Iterations[len(s.Iterations)-1] }

// end stores the outcome of the newest iteration and the time of its end.
func (s *search) end(o Outcome, reason string) {
	it := s.now()
	it.Outcome, it.Reason, it.Completed = o, reason, s.cfg.Clock.Now()
	s.tell()
}

// enter reports a new phase, and returns an *ending if the session is canceled or past its deadline.
func (s *search) enter(p Phase) error {
	s.Phase = p
	s.tell()
	return s.interrupted()
}

func (s *search) tell() {
	if s.cfg.Observe != nil {
		out := s.Progress
		out.Iterations = slices.Clone(s.Iterations)
		s.cfg.Observe(out)
	}
}

// storePassed copies the passing and failing scenarios of the best version to the progress and to the newest iteration.
func (s *search) storePassed() {
	s.Passed, s.Failed = s.best.split(s.cfg.Scenarios, nil)
	it := s.now()
	it.Version, it.Passed, it.Failed = s.Best, s.Passed, s.Failed
}

// interrupted returns an *ending if the session is canceled or past its deadline, or else nil.
func (s *search) interrupted() error {
	switch {
	case s.cfg.Cancelled != nil && s.cfg.Cancelled():
		return &ending{Cancelled, StopCancelled, ""}
	case !s.cfg.Deadline.IsZero() && !s.cfg.Clock.Now().Before(s.cfg.Deadline):
		return &ending{TimedOut, StopDeadline, "the deadline passed in the phase " + string(s.Phase)}
	default:
		return nil
	}
}

// over returns an *ending if the session must end between two iterations, or else nil. If several reasons apply, the first in the switch
// counts, so that a success precedes a cancellation.
func (s *search) over() error {
	passed := &ending{AllPassed, StopAllPassed, ""}
	if len(s.Iterations) == 1 {
		passed.reason = StopBaseline
	}
	cancelled := s.cfg.Cancelled != nil && s.cfg.Cancelled()
	fixable := s.fixable()
	switch {
	case len(s.Failed) == 0:
		return passed
	case cancelled:
		return &ending{Cancelled, StopCancelled, ""}
	case s.broken >= 2:
		return &ending{Failed, StopInfrastructure, "more than half of the scenarios have no verdict, twice in a row"}
	case s.interrupted() != nil:
		return s.interrupted()
	case len(fixable) == 0:
		if len(s.Unfixable) == 0 {
			return &ending{Stuck, StopUnfixable, "only held-out scenarios fail: no change is made for them"}
		}
		return &ending{Stuck, StopUnfixable, "no change of the pathway fixes the remaining scenarios"}
	case s.idle >= 2:
		return &ending{Stuck, StopNoPlan, "nothing new was proposed, twice in a row"}
	case oscillates(s.failing):
		return &ending{Stuck, StopOscillation, "the same scenarios fail in turn"}
	case s.lost >= s.cfg.Patience:
		return &ending{Stuck, StopNoProgress, fmt.Sprintf("%d iterations in a row brought no improvement", s.lost)}
	case len(s.Iterations) > s.cfg.Iterations:
		return &ending{CompletedPartial, StopIterations, ""}
	case s.spent():
		return &ending{CompletedPartial, StopBudget, ""}
	default:
		return nil
	}
}

func (s *search) spent() bool { return s.cfg.Spent != nil && s.cfg.Spent() }

// fixable returns the failing scenarios that are neither held out nor unfixable.
func (s *search) fixable() []string {
	var out []string
	for _, sc := range s.cfg.Scenarios {
		if slices.Contains(s.Failed, sc.ID) && !sc.HeldOut && !slices.Contains(s.Unfixable, sc.ID) {
			out = append(out, sc.ID)
		}
	}
	return out
}

// iterate analyzes the failures, asks for a plan, forks a version, tests it and decides on it.
func (s *search) iterate(ctx context.Context) error {
	findings, err := s.analyze(ctx)
	if err != nil || len(findings) == 0 {
		if err == nil {
			s.end(NoPlan, "no failing scenario can be fixed")
		}
		return err
	}
	plan, document, err := s.plan(ctx, findings)
	if err != nil || document == nil {
		return err
	}
	if err := s.enter(Forking); err != nil {
		return err
	}
	version, err := s.cfg.Versions.Fork(ctx, s.Best, s.name("fork"), *document)
	if all, ok := errors.AsType[callwright.FieldErrors](err); ok {
		s.reject(plan, Refused, "it makes the pathway invalid: "+all.Error(), "", nil)
		return nil
	}
	if err != nil {
		return err
	}
	s.now().Version = version
	candidate, reason, err := s.examine(ctx, version)
	if err != nil {
		return err
	}
	if err := s.enter(Deciding); err != nil {
		return err
	}
	it := s.now()
	it.Passed, it.Failed, it.Errors = candidate.measured(s.cfg.Scenarios, s.Passed)
	s.judge(plan, version, *document, candidate, reason)
	return nil
}

// judge accepts or rejects a candidate. A non-empty reason means that examine has rejected it already.
func (s *search) judge(plan Plan, version int, document graph.Document, candidate results, reason string) {
	broken := candidate.broken()
	if 2*broken > len(candidate) {
		s.broken++
	} else {
		s.broken = 0
	}
	switch accept, why, told := better(s.cfg.Scenarios, s.Passed, s.best, candidate); {
	case broken > 0:
		s.reject(plan, Inconclusive, fmt.Sprintf("%d scenarios have no verdict, even after they were run again", broken), "", candidate)
	case reason != "":
		s.reject(plan, Rejected, reason, "", candidate)
	case !accept:
		s.reject(plan, Rejected, why, told, candidate)
	default:
		s.Best, s.document, s.best = version, document, candidate
		s.lost, s.idle, s.failing = 0, 0, nil
		s.Passed, s.Failed = candidate.split(s.cfg.Scenarios, s.Passed)
		s.blame(plan, candidate)
		s.end(Accepted, why)
	}
}

// reject ends an iteration whose plan was not accepted. The Fixer reads told as the reason, or reason if told is empty.
func (s *search) reject(plan Plan, o Outcome, reason, told string, candidate results) {
	s.rejected = append(s.rejected, Rejection{plan, cmp.Or(told, reason)})
	s.lost++
	if o != Refused {
		s.idle = 0
	}
	if candidate != nil && o == Rejected {
		_, failed := candidate.split(s.cfg.Scenarios, s.Passed)
		s.failing = append(s.failing, failed)
		s.blame(plan, candidate)
	}
	s.end(o, reason)
}

// maxTried is the number of plans that may change the faulty node in vain. If the scenario then still fails in the same way, it is
// unfixable.
const maxTried = 2

// blame counts a plan as a failed attempt at each scenario that still fails after the plan changed its faulty node. After maxTried attempts
// at the same failure mode, it marks the scenario as unfixable.
func (s *search) blame(plan Plan, candidate results) {
	for _, id := range s.fixable() {
		t, tested := candidate[id]
		if !tested || t.Failed == 0 || t.Node == "" || !plan.touches(t.Node) {
			continue
		}
		key := id + " " + t.Mode
		if s.tried[key]++; s.tried[key] >= maxTried {
			s.markUnfixable(id)
		}
	}
}

// markUnfixable adds a scenario to the unfixable ones of the session and of the newest iteration.
func (s *search) markUnfixable(id string) {
	s.Unfixable = append(s.Unfixable, id)
	s.now().Unfixable = append(s.now().Unfixable, id)
}

// analyze returns findings on at most maxFindings failing scenarios. It marks a scenario as unfixable instead if its analysis blames the
// test or the structure.
func (s *search) analyze(ctx context.Context) ([]Finding, error) {
	if err := s.enter(Analyzing); err != nil {
		return nil, err
	}
	var findings []Finding
	for _, id := range s.fixable() {
		if len(findings) == maxFindings {
			break
		}
		f := Finding{Scenario: id, Tally: s.best[id]}
		if s.cfg.Analyst != nil && f.Tally.Run != "" {
			a, err := s.analysis(ctx, f.Tally.Run)
			if err != nil {
				return nil, err
			}
			if a != nil && (a.Fault == analysis.OfTest || a.Fault == analysis.OfStructure) {
				s.markUnfixable(id)
				continue
			}
			f.Analysis = a
		}
		findings = append(findings, f)
	}
	return findings, nil
}

// analysis returns the analysis of a run, or nil if the Analyst's answer is invalid. It asks the Analyst once for each run.
func (s *search) analysis(ctx context.Context, run string) (*analysis.Analysis, error) {
	if a, known := s.found[run]; known {
		return a, nil
	}
	a, err := s.cfg.Analyst.Analyze(ctx, run)
	switch {
	case err == nil:
		s.found[run] = &a
	case llm.ClassOf(err) == llm.ClassInvalid:
		s.found[run] = nil
	default:
		return nil, err
	}
	return s.found[run], nil
}

// plan returns a new plan and the changed document. A nil document means that the iteration has ended without a usable plan.
func (s *search) plan(ctx context.Context, findings []Finding) (Plan, *graph.Document, error) {
	if err := s.enter(Planning); err != nil {
		return Plan{}, nil, err
	}
	plan, err := s.cfg.Fixer.Fix(ctx, s.name("plan"), Brief{s.document, findings, s.rejected, s.cfg.Limits, s.now().Number})
	if err != nil && llm.ClassOf(err) != llm.ClassInvalid {
		return Plan{}, nil, err
	}
	known := slices.ContainsFunc(s.rejected, func(r Rejection) bool { return r.Plan.Hash() == plan.Hash() })
	if err != nil || plan.edits() == 0 || known {
		s.idle++
		s.lost++
		reason := "nothing was proposed"
		switch {
		case err != nil:
			reason = "no proposed plan follows the rules: " + callwright.Clip(causeOf(err).Error(), maxReason)
		case known:
			reason = "the proposed plan was rejected before"
		}
		s.end(NoPlan, reason)
		return plan, nil, nil
	}
	s.now().Plan = &plan
	document, err := Apply(s.document, plan, s.cfg.Limits)
	if err != nil {
		s.reject(plan, Refused, callwright.MessageOf(err), "", nil)
		return plan, nil, nil
	}
	changes := graph.Diff(s.document, document)
	s.now().Changes = &changes
	return plan, &document, nil
}

// name returns a name for a call of a port. It is unique over all sessions.
func (s *search) name(what string) string {
	return fmt.Sprintf("tornado/%s/%d %s", s.cfg.Session, s.now().Number, what)
}

// failure converts the error of a port to an ending with the matching reason.
func (s *search) failure(ctx context.Context, err error) *ending {
	s.cfg.Logger.ErrorContext(ctx, "a tornado session has failed", "session_id", s.cfg.Session, "phase", s.Phase, "error", err)
	if f, ok := errors.AsType[*llm.Failure](err); ok {
		detail := fmt.Sprintf("%s: %s", s.Phase, err)
		if f.Class == llm.ClassTransient || f.Class == llm.ClassRateLimited {
			return &ending{Failed, StopInfrastructure, detail}
		}
		return &ending{Failed, StopModel, detail}
	}
	switch callwright.CodeOf(err) {
	case callwright.CodeNotFound, callwright.CodeInvalidState, callwright.CodeBadRequest:
		return &ending{Failed, StopPathway, callwright.MessageOf(err)}
	default:
		return &ending{Failed, StopInfrastructure, callwright.MessageOf(err)}
	}
}

// maxReason limits the text of an error in a reason, in bytes.
const maxReason = 500

// causeOf returns the cause of an llm.Failure. Without a cause, or for another error, it returns err.
func causeOf(err error) error {
	if f, ok := errors.AsType[*llm.Failure](err); ok && f.Cause != nil {
		return f.Cause
	}
	return err
}

func ids(scenarios []Scenario) []string {
	out := make([]string, len(scenarios))
	for i, sc := range scenarios {
		out[i] = sc.ID
	}
	return out
}
