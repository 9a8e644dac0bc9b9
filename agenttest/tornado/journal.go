package tornado

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/engine"
)

// journal records the calls of a search whose results may vary. It first replays the stored steps: it returns their results, with the times
// at which they were stored, and ignores all reasons to end. So the search reaches its last state again. Then the journal calls the ports
// and stores their results.
//
// A search makes one call at a time, and so does its journal.
type journal struct {
	*Service

	session Session // the session with the progress of the search
	stored  Session // as the store last accepted it
	steps   []Step
	next    int   // index of the step to replay next
	live    bool  // a call was made, so all stored steps have been replayed
	failed  error // error that stops the session at this node, or nil
}

// open reads the journal of a session that this node holds.
func (s *Service) open(ctx context.Context, session Session) (*journal, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	steps, err := s.cfg.Store.Steps(ctx, session.Org, session.ID)
	j := &journal{Service: s, session: session, stored: session, steps: steps}
	j.session.Usage = Usage{} // the replayed steps add it up again
	return j, err
}

// config returns the configuration of the session's search. ctx must be the context of that search.
func (j *journal) config(ctx context.Context) SearchConfig {
	var fixer Fixer = keptFixer{j.cfg.Fixer, j}
	if j.cfg.Fixer == nil {
		fixer = NewFixer(model{j.cfg.Model, j, &j.session.Usage.Fixer}, j.session.Org)
	}
	return SearchConfig{
		Versions: j, Tests: j, Fixer: fixer, Analyst: j,
		Session: j.session.ID, Base: j.session.Base, Scenarios: j.session.Scenarios, Iterations: j.session.Most,
		Deadline: j.session.Deadline, Confirm: j.session.Confirm, Patience: j.session.Patience, Limits: j.session.Limits,
		Spent:     func() bool { return j.session.Usage.Spend.Exhausts(j.session.Budget) },
		Cancelled: func() bool { return j.live && j.cancelled(ctx) },
		Observe:   func(p Progress) { j.observe(ctx, p) },
		Rest:      j.waitBeforeRerun,
		Runtime:   callwright.Runtime{Clock: clock{j, ctx}, Logger: j.cfg.Logger},
	}
}

// firstRest and lastRest are the first and the longest wait before scenarios without a verdict are run again. Each wait is twice the
// previous one.
const (
	firstRest = 10 * time.Second
	lastRest  = time.Minute
)

// waitBeforeRerun waits with exponential backoff before rerun n. It returns immediately if the journal still contains a step to replay.
func (j *journal) waitBeforeRerun(ctx context.Context, n int) error {
	if j.next < len(j.steps) {
		return nil
	}
	j.live = true
	j.cfg.Logger.WarnContext(ctx, "most tests of a tornado session have no verdict: they are run again after a while",
		"session_id", j.session.ID, "org", j.session.Org, "times", n)
	timer := time.NewTimer(min(firstRest<<(n-1), lastRest))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// left returns the rest of the budget. If a limit is used up, the rest is 1, because 0 would mean no limit. A rest of 1 is too little for
// any call.
func (j *journal) left() engine.Limit {
	l, used := j.session.Budget, j.session.Usage.Spend
	if l.Tokens > 0 {
		l.Tokens = max(l.Tokens-used.Tokens, 1)
	}
	if l.Cost > 0 {
		l.Cost = max(l.Cost-used.Cost, 1)
	}
	return l
}

func (j *journal) cancelled(ctx context.Context) bool {
	return j.stored.Cancel || errors.Is(context.Cause(ctx), errCancelled)
}

// clock reports the time of the last replayed step, or the creation of the session before the first step. Once the journal is live, it
// reports the present time.
type clock struct {
	*journal

	ctx context.Context //nolint:containedctx // the search's: its deadline has passed when the timer says so
}

// Now implements callwright.Clock. After the session's timer has fired, it returns at least the deadline.
func (c clock) Now() time.Time {
	switch now := c.cfg.Clock.Now(); {
	case !c.live && c.next == 0:
		return c.session.CreatedAt
	case !c.live:
		return c.steps[c.next-1].At
	case errors.Is(context.Cause(c.ctx), errDeadline) && now.Before(c.session.Deadline):
		return c.session.Deadline
	default:
		return now
	}
}

// observe stores the progress of the session, except in three cases: while steps are replayed, because that progress is already stored;
// after a failure; and at the end, which Service.end stores.
func (j *journal) observe(ctx context.Context, p Progress) {
	j.session.Progress = p
	if !j.live || j.failed != nil || p.State.Ended() {
		return
	}
	session := j.stored
	session.Progress, session.Usage = p.shown(), j.session.Usage
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err := j.cfg.Store.UpdateSession(ctx, session)
	switch {
	case err == nil:
		session.Revision++
		j.stored = session
		j.watchers.Wake(session.ID)
	case errors.Is(err, callwright.ErrConflict), errors.Is(err, callwright.ErrNotFound):
		j.failed = errLost
	default: // the next change stores this progress too
		j.cfg.Logger.WarnContext(ctx, "the progress of a tornado session is not stored", "session_id", session.ID, "org", session.Org, "error", err)
	}
}

// outcome is the stored answer of a step: a value, or the failure of a model.
type outcome[T any] struct {
	Value   T         `json:"value"`
	Class   llm.Class `json:"class,omitempty"`
	Message string    `json:"message,omitempty"`
}

// err returns the stored failure as a *llm.Failure, or nil.
func (o outcome[T]) err() error {
	if o.Class == "" {
		return nil
	}
	return &llm.Failure{Class: o.Class, Message: o.Message}
}

// ended returns errCancelled for a canceled session, or else the error of ctx.
func (j *journal) ended(ctx context.Context) error {
	if j.cancelled(ctx) {
		return errCancelled
	}
	return ctx.Err()
}

// step replays the answer of a call, or makes the call and stores its answer. It stores no errors except an llm.Failure of another class
// than ClassTransient, ClassRateLimited and ClassQuota, unless ctx has ended.
func step[T any](ctx context.Context, j *journal, name string, call func() (T, error)) (T, error) {
	var o outcome[T]
	if j.failed != nil {
		return o.Value, j.failed
	}
	if j.next < len(j.steps) {
		s := j.steps[j.next]
		if err := json.Unmarshal(s.Answer, &o); s.Name != name || err != nil {
			return o.Value, callwright.Errorf(callwright.CodeInternal,
				"the journal of the session does not fit this release of the program: start another session")
		}
		j.steps[j.next].Answer = nil // frees the answer, which may be large
		j.next++
		return o.Value, o.err()
	}
	j.live = true
	value, err := call()
	if err != nil {
		f, ok := errors.AsType[*llm.Failure](err)
		if !ok || f.Class == llm.ClassTransient || f.Class == llm.ClassRateLimited || f.Class == llm.ClassQuota || ctx.Err() != nil {
			return value, err
		}
		o.Class, o.Message = f.Class, f.Message
	}
	o.Value = value
	if problem := j.store(ctx, name, o); problem != nil {
		return value, problem
	}
	return value, err
}

// store appends a step to the journal. It also stores an answer that arrives during an interruption, because the model has charged for it.
// It retries for storeTimeout.
func (j *journal) store(ctx context.Context, name string, answer any) error {
	raw, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	if len(raw) > MaxStep {
		return callwright.Errorf(callwright.CodeInternal, "an answer has more than %d bytes", MaxStep)
	}
	s := Step{Name: name, At: j.cfg.Clock.Now(), Answer: raw}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	for {
		err := j.cfg.Store.AppendStep(ctx, j.session.Org, j.session.ID, j.cfg.Node, len(j.steps), s)
		switch {
		case err == nil:
			j.steps = append(j.steps, Step{Name: s.Name, At: s.At})
			j.next = len(j.steps)
			return nil
		case errors.Is(err, callwright.ErrConflict), errors.Is(err, callwright.ErrNotFound):
			j.failed = errLost
			return j.failed
		}
		select {
		case <-ctx.Done():
			j.failed = err
			return err
		case <-time.After(storeRest):
		}
	}
}

// lasting records an error that is not permanent as the reason to stop the session at this node. Another node then continues from the last
// step. It returns err unchanged.
func (j *journal) lasting(err error) error {
	switch callwright.CodeOf(err) {
	case callwright.CodeBadRequest, callwright.CodeNotFound, callwright.CodeInvalidState:
	default:
		if j.failed == nil && err != nil {
			j.failed = err
		}
	}
	return err
}

// reading returns a context for short calls. It expires after patience, and the end of the session does not cancel it.
func reading(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), patience)
}

// Document implements Versions.
func (j *journal) Document(ctx context.Context, number int) (graph.Document, error) {
	ctx, cancel := reading(ctx)
	defer cancel()
	v, _, err := j.cfg.Pathways.Version(ctx, j.session.Org, j.session.Pathway, number)
	return v.Document, j.lasting(err)
}

// Production implements Versions.
func (j *journal) Production(ctx context.Context) (int, error) {
	return step(ctx, j, "production", func() (int, error) {
		ctx, cancel := reading(ctx)
		defer cancel()
		_, p, err := j.cfg.Pathways.Version(ctx, j.session.Org, j.session.Pathway, 0)
		return p.Production, j.lasting(err)
	})
}

// Fork implements Versions. If an earlier call made the fork, but its step was not stored, Fork finds that version by its name, hash and
// parent, and returns the version's number.
func (j *journal) Fork(ctx context.Context, parent int, name string, d graph.Document) (int, error) {
	g, err := graph.Check(d)
	if err != nil {
		return 0, err
	}
	label, _, _ := strings.Cut(name, " ")
	return step(ctx, j, name, func() (int, error) {
		if err := j.ended(ctx); err != nil {
			return 0, err
		}
		ctx, cancel := reading(ctx)
		defer cancel()
		page, _, err := j.cfg.Pathways.Versions(ctx, j.session.Org, j.session.Pathway, callwright.Keyset{}, 0)
		if err != nil {
			return 0, j.lasting(err)
		}
		for _, v := range page.Items {
			if v.Name == label && v.Hash == g.Hash && v.Parent == parent {
				return v.Number, nil
			}
		}
		v, err := j.cfg.Pathways.Fork(ctx, j.session.Org, j.session.Pathway, parent, label, &d)
		return v.Number, j.lasting(err)
	})
}

// Run implements Tests.
func (j *journal) Run(ctx context.Context, name string, version int, scenarios []string, trials int) (map[string]Tally, error) {
	id := TrialID(j.session.ID, name)
	tried, err := step(ctx, j, name, func() (Tried, error) {
		if err := j.ended(ctx); err != nil {
			return Tried{}, err
		}
		tried, err := j.cfg.Runs.Try(ctx, j.session.Org, Trial{id, j.session.Pathway, version, scenarios, trials, j.left()})
		switch cause := context.Cause(ctx); {
		case err == nil, errors.Is(cause, errStopping):
		case errors.Is(cause, errCancelled), errors.Is(cause, errDeadline):
			j.stop(ctx, id)
		default:
			err = j.lasting(err)
		}
		return tried, err
	})
	u := &j.session.Usage
	u.Runs, u.Spend = u.Runs.Plus(tried.Usage), u.Spend.Plus(tried.Spend)
	return tried.Tallies, err
}

// stop cancels the runs of a trial after the session was canceled or its deadline has passed. If this fails, Service.clear cancels them
// later.
func (j *journal) stop(ctx context.Context, id string) {
	ctx, cancel := reading(ctx)
	defer cancel()
	if err := j.cfg.Runs.StopTrial(ctx, j.session.Org, id); err != nil {
		j.cfg.Logger.WarnContext(ctx, "the runs of a tornado session are not cancelled yet: the cancellation is tried again",
			"session_id", j.session.ID, "org", j.session.Org, "error", err)
	}
}

// TrialID returns the id of the batch or simulation set for an entry of Iteration.Trials. It is derived from the session and the entry, so
// that no trial starts twice.
func TrialID(session, name string) string {
	sum := sha256.Sum256([]byte(session + "\n" + name))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // RFC 9562, section 5.8
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// Analyze implements Analyst.
func (j *journal) Analyze(ctx context.Context, run string) (analysis.Analysis, error) {
	c, err := j.failedRun(ctx, run)
	if err != nil {
		return analysis.Analysis{}, err
	}
	if j.cfg.Analyst == nil {
		return analysis.Analyze(ctx, nil, c)
	}
	return analysis.Analyze(ctx, model{j.cfg.Analyst, j, &j.session.Usage.Analyst}, c)
}

func (j *journal) failedRun(ctx context.Context, run string) (analysis.Case, error) {
	ctx, cancel := reading(ctx)
	defer cancel()
	c, err := j.cfg.Runs.Case(ctx, j.session.Org, run)
	return c, j.lasting(err)
}

// keptFixer is a Fixer whose plans are stored as steps of the journal.
type keptFixer struct {
	Fixer

	journal *journal
}

// Fix implements Fixer.
func (k keptFixer) Fix(ctx context.Context, name string, b Brief) (Plan, error) {
	return step(ctx, k.journal, name, func() (Plan, error) {
		if err := k.journal.ended(ctx); err != nil {
			return Plan{}, err
		}
		return k.Fixer.Fix(ctx, name, b)
	})
}

// model is a language model whose answers are stored as steps of the journal. It adds up their tokens in usage.
type model struct {
	llm.Model

	journal *journal
	usage   *llm.Usage
}

// These constants are the waits of a session for a model that is down or limits its rate. Other users of models do not wait as long.
const (
	modelPatience = 2 * time.Minute
	callTime      = time.Minute // timeout of one call
	modelRest     = time.Second // wait before the second attempt; doubles for each further attempt
	modelMostRest = 30 * time.Second
)

// Answer implements llm.Model.
func (m model) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	a, err := step(ctx, m.journal, string(q.Task), func() (storedAnswer, error) {
		if err := m.journal.ended(ctx); err != nil {
			return storedAnswer{}, err
		}
		a, err := m.ask(ctx, q)
		return storedAnswer{a.JSON, a.Model, a.Usage, a.Cause}, err
	})
	if err == nil {
		u := &m.journal.session.Usage
		*m.usage = m.usage.Add(a.Usage)
		answered := llm.UseOf(m.Model, q.Model, a.Model, a.Cause, a.Usage).Model
		u.Spend = u.Spend.Plus(m.journal.cfg.Pricer.Spend(answered, a.Usage))
	}
	return llm.Answer{JSON: a.Text, Model: a.Model, Usage: a.Usage, Cause: a.Cause}, err
}

// storedAnswer is the stored form of a model's answer. Text holds bytes, because an invalid answer may not be JSON.
type storedAnswer struct {
	Text  []byte    `json:"text"`
	Model string    `json:"model"`
	Usage llm.Usage `json:"usage"`
	Cause llm.Class `json:"cause,omitempty"`
}

// askOnce asks the model. It returns a failure of llm.ClassTransient if there is no answer after callTime.
func (m model) askOnce(ctx context.Context, q llm.Question) (llm.Answer, error) {
	asking, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	a, err := m.Model.Answer(asking, q)
	if err != nil && asking.Err() != nil && ctx.Err() == nil {
		err = &llm.Failure{Class: llm.ClassTransient, Message: fmt.Sprintf("the model has not answered within %s", callTime), Cause: err}
	}
	return a, err
}

// ask asks the model until it answers or fails permanently. After a transient failure or a rate limit, ask retries with exponential backoff
// for at most modelPatience.
func (m model) ask(ctx context.Context, q llm.Question) (llm.Answer, error) {
	giveUp := time.Now().Add(modelPatience)
	for rest := modelRest; ; rest = min(2*rest, modelMostRest) {
		a, err := m.askOnce(ctx, q)
		class := llm.ClassOf(err)
		if err == nil || class != llm.ClassTransient && class != llm.ClassRateLimited || ctx.Err() != nil {
			return a, err
		}
		m.journal.cfg.Logger.WarnContext(ctx, "the model of a tornado session does not answer: it is asked again",
			"session_id", m.journal.session.ID, "org", m.journal.session.Org, "task", q.Task, "error", err)
		wait := rest
		if f, ok := errors.AsType[*llm.Failure](err); ok {
			wait = max(wait, f.RetryAfter)
		}
		if time.Now().Add(wait).After(giveUp) {
			return a, err
		}
		select {
		case <-ctx.Done():
			return a, err
		case <-time.After(wait):
		}
	}
}
