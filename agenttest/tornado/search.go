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

// Search searches until it has an end state, and returns its progress. An error means that the end of ctx interrupted it: a new
// call repeats the search with the results that its ports return for the same names. The end of ctx is no interruption if Cancelled
// returns true or the Deadline has passed. A missing required field of SearchConfig is an error, too.
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
	if !reached { // the end of the session may have cancelled the call of a port
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

// ending ends a session.
type ending struct {
	state  State
	reason StopReason
	detail string
}

func (e *ending) Error() string { return string(e.reason) }

// search is a session under way.
type search struct {
	Progress

	cfg        SearchConfig
	production int
	document   graph.Document // of Best
	best       results
	rejected   []Rejection
	found      map[string]*analysis.Analysis // by run; nil: none
	tried      map[string]int                // attempts that touched the node at fault, by scenario and failure mode
	failing    [][]string                    // failing sets of the candidates since the last acceptance
	lost       int                           // iterations in a row without an acceptance
	idle       int                           // iterations in a row without a new plan
	broken     int                           // iterations in a row in which most runs were in error
}

// run holds the iterations. Its error is an *ending, or the error of a port.
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

// begin begins an iteration.
func (s *search) begin() {
	s.Iterations = append(s.Iterations, Iteration{Number: len(s.Iterations), Started: s.cfg.Clock.Now()})
	s.tell()
}

// now returns the iteration in progress.
func (s *search) now() *Iteration { return &s.Iterations[len(s.Iterations)-1] }

// end ends an iteration.
func (s *search) end(o Outcome, reason string) {
	it := s.now()
	it.Outcome, it.Reason, it.Completed = o, reason, s.cfg.Clock.Now()
	s.tell()
}

// enter enters a phase, unless the session has to end.
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

// storePassed stores the passing scenarios of the best version.
func (s *search) storePassed() {
	s.Passed, s.Failed = s.best.split(s.cfg.Scenarios, nil)
	it := s.now()
	it.Version, it.Passed, it.Failed = s.Best, s.Passed, s.Failed
}

// interrupted returns the end of a session that has to end between two phases.
func (s *search) interrupted() error {
	switch {
	case s.cfg.Cancelled != nil && s.cfg.Cancelled():
		return &ending{Cancelled, StopCancelled, ""}
	case !s.cfg.Deadline.IsZero() && !s.cfg.Clock.Now().Before(s.cfg.Deadline):
		return &ending{TimedOut, StopDeadline, "it passed in the phase " + string(s.Phase)}
	default:
		return nil
	}
}

// over returns the end of a session that has to end between two iterations, checking reasons in the order of their definitions.
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
			return &ending{Stuck, StopUnfixable, "what fails is held out: no change was made for it"}
		}
		return &ending{Stuck, StopUnfixable, "no change of the pathway mends the scenarios that are left"}
	case s.idle >= 2:
		return &ending{Stuck, StopNoPlan, "nothing new was proposed, twice in a row"}
	case oscillates(s.failing):
		return &ending{Stuck, StopOscillation, "the same scenarios fail in turn"}
	case s.lost >= s.cfg.Patience:
		return &ending{Stuck, StopNoProgress, fmt.Sprintf("%d iterations in a row made nothing better", s.lost)}
	case len(s.Iterations) > s.cfg.Iterations:
		return &ending{CompletedPartial, StopIterations, ""}
	case s.spent():
		return &ending{CompletedPartial, StopBudget, ""}
	default:
		return nil
	}
}

func (s *search) spent() bool { return s.cfg.Spent != nil && s.cfg.Spent() }

// fixable returns the failing scenarios that a Fixer may see and may be able to mend.
func (s *search) fixable() []string {
	var out []string
	for _, sc := range s.cfg.Scenarios {
		if slices.Contains(s.Failed, sc.ID) && !sc.HeldOut && !slices.Contains(s.Unfixable, sc.ID) {
			out = append(out, sc.ID)
		}
	}
	return out
}

// iterate makes one attempt.
func (s *search) iterate(ctx context.Context) error {
	findings, err := s.analyze(ctx)
	if err != nil || len(findings) == 0 {
		if err == nil {
			s.end(NoPlan, "no failing scenario can be mended")
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
		s.reject(plan, Refused, "it makes no pathway: "+all.Error(), "", nil)
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

// judge accepts or rejects a candidate. A reason that is not empty has already rejected it.
func (s *search) judge(plan Plan, version int, document graph.Document, candidate results, reason string) {
	broken := candidate.broken()
	if 2*broken > len(candidate) {
		s.broken++
	} else {
		s.broken = 0
	}
	switch accept, why, told := better(s.cfg.Scenarios, s.Passed, s.best, candidate); {
	case broken > 0:
		s.reject(plan, Inconclusive, fmt.Sprintf("%d scenarios have no verdict, although they were run again", broken), "", candidate)
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

// reject ends an iteration whose plan was not accepted. told is the reason that the Fixer reads; empty: reason.
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

// maxTried is the number of plans that touch the node at fault before a scenario that still fails in the same way is unfixable.
const maxTried = 2

// blame counts the attempts at scenarios that still fail in the same way after a change of the node at fault.
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

// markUnfixable marks a scenario as unfixable.
func (s *search) markUnfixable(id string) {
	s.Unfixable = append(s.Unfixable, id)
	s.now().Unfixable = append(s.now().Unfixable, id)
}

// analyze returns the findings on the first maxFindings failing scenarios.
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

// analysis returns the analysis of a run, or nil if the Analyst gives none. It asks once for each run..
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

// plan returns a new plan and its document, or nil if there is none and the iteration has ended.
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
			reason = "no plan that holds the rules was proposed: " + callwright.Clip(causeOf(err).Error(), maxReason)
		case known:
			reason = "what was proposed was rejected before"
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

// name returns a name for a call, unique over all sessions.
func (s *search) name(what string) string {
	return fmt.Sprintf("tornado/%s/%d %s", s.cfg.Session, s.now().Number, what)
}

// failure converts an error of a port to the end of the session.
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

// maxReason is the maximum length of an error's text in a reason, in bytes.
const maxReason = 500

// causeOf returns the cause of a model's failure, or the failure itself.
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
