package group

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/tornado"
)

// Try starts the runs of a trial, which any node may execute, and waits until they have ended: see tornado.Runs. A run that is an Error or
// canceled, or that was not created because its group was canceled, counts as an error. A passed run without a score counts as 1, a failed
// one as 0. Try waits while the organization has MaxPending runs that have not ended, while too many tests start, and while the database is
// unavailable. It returns CodeConflict if another group has the id.
func (s *Service) Try(ctx context.Context, org callwright.OrgID, t tornado.Trial) (done tornado.Tried, err error) {
	if t.ID == "" || t.Runs < 1 || t.Runs > MaxSimulations {
		return done, callwright.Invalid("", "a trial must have an id and 1 to %d runs of each scenario", MaxSimulations)
	}
	var b Batch
	err = persist(ctx, func(ctx context.Context) (bool, error) {
		b, err = s.startTrial(ctx, org, t)
		return true, err
	})
	if err != nil {
		return done, err
	}
	err = persist(ctx, func(ctx context.Context) (bool, error) {
		b, err = s.cfg.Store.Batch(ctx, org, t.ID)
		return !b.Open(), err
	})
	if err != nil {
		return done, err
	}
	done.Usage, done.Spend = b.Usage, b.Spend
	return done, persist(ctx, func(ctx context.Context) (bool, error) {
		done.Tallies, err = s.tallies(ctx, b)
		return true, err
	})
}

// These constants are the first and the longest pause between two calls of persist's function. The pauses double. An error that states a
// longer pause prevails.
const (
	firstRest = 20 * time.Millisecond
	lastRest  = time.Second
)

// persist calls f until it is done, fails permanently, or ctx is done. It retries CodeTooManyRequests and CodeUnavailable.
func persist(ctx context.Context, f func(ctx context.Context) (done bool, err error)) error {
	for rest := firstRest; ; rest = min(2*rest, lastRest) {
		done, err := f(ctx)
		passes := errors.Is(err, callwright.ErrTooManyRequests) || errors.Is(err, callwright.ErrUnavailable)
		if done && err == nil || err != nil && !passes {
			return err
		}
		wait := rest
		if after, told := callwright.RetryAfter(err); told {
			wait = max(wait, after)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// errStarted aborts the start of a trial that has already been started.
var errStarted = errors.New("the trial has been started")

// startTrial starts the group of a trial, or returns the group if the trial has already been started.
func (s *Service) startTrial(ctx context.Context, org callwright.OrgID, t tornado.Trial) (Batch, error) {
	if b, err := s.startedTrial(ctx, org, t); !errors.Is(err, callwright.ErrNotFound) {
		return b, err
	}
	asked := Batch{ID: t.ID, Org: org, Kind: OneEach, Trigger: ByTornado, Simulations: t.Runs, Budget: t.Budget}
	if t.Runs > 1 {
		asked.Kind = Simulations
	}
	b, _, err := s.startGroup(ctx, asked, t.Scenarios, &t.Version, false, func(ctx context.Context, b *Batch) error {
		if b.Pathway != t.Pathway || b.Pathway == "" {
			return callwright.InField("scenario_ids", callwright.NotFound("scenario of the pathway"))
		}
		_, err := s.cfg.Store.Batch(ctx, org, t.ID)
		if err == nil {
			return errStarted
		}
		return callwright.IgnoreNotFound(err)
	})
	if errors.Is(err, errStarted) {
		return s.startedTrial(ctx, org, t)
	}
	return b, err
}

// startedTrial returns the group of a trial. It returns CodeNotFound if the trial has not been started, and CodeConflict if another group
// has its id.
func (s *Service) startedTrial(ctx context.Context, org callwright.OrgID, t tornado.Trial) (Batch, error) {
	b, err := s.cfg.Store.Batch(ctx, org, t.ID)
	if err != nil {
		return b, err
	}
	same := b.experiment() && b.Pathway == t.Pathway && b.Version == t.Version && b.Simulations == t.Runs &&
		slices.EqualFunc(b.Scenarios, t.Scenarios, func(p run.Subject, id string) bool { return p.Scenario == id })
	if !same {
		return b, callwright.Errorf(callwright.CodeConflict, "another group of runs has the id of the trial")
	}
	return b, nil
}

// tallies returns the tallies of an ended group, by scenario.
func (s *Service) tallies(ctx context.Context, b Batch) (map[string]tornado.Tally, error) {
	tallies := make(map[string]tornado.Tally, len(b.Scenarios))
	err := s.eachEnded(ctx, b, func(r run.Run) { tallies[r.Scenario] = tallied(tallies[r.Scenario], r) })
	if err != nil {
		return nil, err
	}
	for _, part := range b.Scenarios {
		t := tallies[part.Scenario]
		scored := t.Passed + t.Failed
		if scored > 0 {
			t.Score /= float64(scored)
		}
		t.Errors = b.Simulations - scored
		tallies[part.Scenario] = t
	}
	return tallies, nil
}

// tallied returns the tally with a run added. Its Score is the sum of the scores.
func tallied(t tornado.Tally, r run.Run) tornado.Tally {
	score := 0.0
	switch r.State {
	case run.Passed:
		t.Passed++
		score = 1
	case run.Failed:
		t.Failed++
		t.Run = r.ID
		if f := r.Result.Failure; f != nil {
			t.Node, t.Mode, t.Reason = f.Node, f.Key(), callwright.Clip(f.Reason, maxReason)
		}
	case run.Error:
		if r.Result.Refused {
			t.Refused++
		}
		return t
	default:
		return t
	}
	if r.Result.Score != nil {
		score = *r.Result.Score
	}
	t.Score += score
	return t
}

// StopTrial cancels the runs of a trial that have not ended: see tornado.Runs.
func (s *Service) StopTrial(ctx context.Context, org callwright.OrgID, id string) error {
	b, err := s.cfg.Store.Batch(ctx, org, id)
	if err != nil || !b.experiment() {
		return callwright.IgnoreNotFound(err)
	}
	err = s.cancelGroup(ctx, org, id, b.Kind)
	if errors.Is(err, run.ErrEnded) {
		return nil
	}
	return callwright.IgnoreNotFound(err)
}
