package pathway

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright"
)

// Publication describes which version to publish, and where.
type Publication struct {
	Number      int
	Environment Environment // empty means Production
	OnPass      bool        // publishes to production once the version's tests have passed
	Over        *int        // version that the environment must contain now, unless it already contains Number; 0 means none; nil accepts any version
}

// Published is the result of a publication.
type Published struct {
	Published bool   // false if the version waits for its tests
	Batch     string // batch of tests that decided or is running; empty if no tests are required
}

// errOvertaken aborts a publication that a concurrent publication has overtaken, or whose Over does not match the version in the
// environment.
var errOvertaken = errors.New("pathway: another version was published meanwhile")

// taskSettle is the durable task that calls FinishTests. Its key is the pathway's id.
const taskSettle = "pathway.settle"

// Publish publishes a version. A version is published to production only if the gate is open for it. Publish starts tests that have not
// begun. With OnPass, a version whose tests are running waits for them, replaces another waiting version, and is published to production
// when its tests have passed: see FinishTests. If the gate is not open, and OnPass is not set or the tests have failed, Publish returns
// CodePromotionGateFailed, and the error names the batch of tests.
//
// Of two concurrent publications of different versions, one returns CodeConflict. Publish also returns CodeConflict if the environment
// contains neither the version Over nor the version to publish. Publish asks the gate before the transaction, because the answer may take
// any time. Only to start tests, it asks the gate within the transaction, so that the tests and the waiting promotion are committed
// together, and two publications start the tests once.
func (s *Service) Publish(ctx context.Context, org callwright.OrgID, id string, b Publication) (Published, error) {
	b.Environment = cmp.Or(b.Environment, Production)
	if b.Environment != Production && b.Environment != Staging {
		return Published{}, callwright.InField("environment", errEnvironment)
	}
	if b.Number == 0 {
		return Published{}, callwright.Errorf(callwright.CodeInvalidState, "the draft cannot be published: save it as a version first")
	}
	v, before, err := s.withPathway(ctx, org, id, b.Number)
	if err != nil {
		return Published{}, err
	}
	verdict := Verdict{State: GateOpen}
	if b.Environment == Production {
		if verdict, err = s.ask(ctx, v, false); err != nil {
			return Published{}, err
		}
	}
	if verdict.State != GateOpen && !b.OnPass && verdict.Batch != "" {
		return Published{}, refused(v.Number, verdict)
	}
	err = s.together(ctx, org, id, func(ctx context.Context, p *Pathway) (err error) {
		if overtaken(before, *p, b) {
			return errOvertaken
		}
		verdict, err = s.place(ctx, p, v, b, verdict)
		return err
	})
	switch {
	case errors.Is(err, errOvertaken):
		return Published{}, callwright.Errorf(callwright.CodeConflict, "another version was published at the same time: check it, then try again")
	case err != nil:
		return Published{}, err
	case verdict.State != GateOpen && !b.OnPass:
		return Published{}, refused(v.Number, verdict)
	}
	return Published{Published: verdict.State == GateOpen, Batch: verdict.Batch}, nil
}

// place puts a version into its environment, or lets it wait for its tests if OnPass is set. It starts these tests if necessary. Tests may
// finish before the promotion is committed; therefore a task runs FinishTests once after the commit.
func (s *Service) place(ctx context.Context, p *Pathway, v Version, b Publication, verdict Verdict) (Verdict, error) {
	if _, err := s.version(ctx, *p, v.Number); err != nil {
		return verdict, err // the version was archived meanwhile
	}
	if verdict.State != GateOpen {
		var err error
		if verdict, err = s.ask(ctx, v, true); err != nil {
			return verdict, err
		}
	}
	switch {
	case b.Environment == Staging:
		p.Staging = v.Number
	case verdict.State == GateOpen:
		p.Production, p.Promotion = v.Number, nil
	case verdict.State != GateRunning:
		return verdict, refused(v.Number, verdict)
	case b.OnPass && !p.waits(v.Number, verdict.Batch):
		p.Promotion = &Promotion{Number: v.Number, Batch: verdict.Batch, RequestedAt: s.cfg.Clock.Now()}
		return verdict, s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskSettle, Key: p.ID, Org: p.Org})
	}
	return verdict, nil
}

// overtaken reports whether, since a publication began, another version was published or began to wait for its tests, or whether the
// version in the environment is neither Over nor the version to publish.
func overtaken(before, now Pathway, b Publication) bool {
	current := now.Production
	if b.Environment == Staging {
		current = now.Staging
	}
	if b.Over != nil && current != *b.Over && current != b.Number {
		return true
	}
	other := func(then, now int) bool { return now != then && now != 0 && now != b.Number }
	if b.Environment == Staging {
		return other(before.Staging, now.Staging)
	}
	return other(before.Production, now.Production) || other(before.promoted(), now.promoted())
}

// ask asks the gate about a version. Without a gate, it returns GateOpen. If start is true, the gate begins the version's tests if
// necessary.
func (s *Service) ask(ctx context.Context, v Version, start bool) (Verdict, error) {
	if s.cfg.Gate == nil {
		return Verdict{State: GateOpen}, nil
	}
	return s.cfg.Gate.Check(ctx, v.Org, Candidate{Pathway: v.Pathway, Number: v.Number, Hash: v.Hash, Start: start})
}

// refused returns CodePromotionGateFailed for a version for which the gate is not open, with the gate's reason and the batch of tests.
func refused(number int, v Verdict) error {
	why := cmp.Or(v.Reason, "a required test has not passed")
	if v.State == GateRunning {
		why = cmp.Or(v.Reason, "its tests are still running")
	}
	if v.Batch != "" {
		why += fmt.Sprintf(" (batch %s)", v.Batch)
	}
	err := callwright.Errorf(callwright.CodePromotionGateFailed, "version %d cannot go to production: %s", number, why)
	err.Batch = v.Batch
	return err
}

// finishTests runs the task that calls FinishTests.
func (s *Service) finishTests(ctx context.Context, t callwright.Task, _ int) error {
	return s.FinishTests(ctx, t.Org, t.Key)
}

// FinishTests publishes a version that waits for its tests, or discards its promotion, according to the gate. Call it when tests of a
// pathway have ended. It changes nothing if no version waits, or if the tests are still running. It may be called twice, and concurrently
// with Publish.
func (s *Service) FinishTests(ctx context.Context, org callwright.OrgID, id string) error {
	p, err := s.cfg.Store.Pathway(ctx, org, id)
	if err != nil || p.Promotion == nil {
		return callwright.IgnoreNotFound(err)
	}
	waiting := *p.Promotion
	v, err := s.cfg.Store.Version(ctx, org, id, waiting.Number)
	if err != nil {
		return callwright.IgnoreNotFound(err)
	}
	verdict, err := s.ask(ctx, v, false)
	if err != nil || verdict.State == GateRunning {
		return err
	}
	return callwright.IgnoreNotFound(s.together(ctx, org, id, func(ctx context.Context, p *Pathway) error {
		if !p.waits(waiting.Number, waiting.Batch) {
			return nil
		}
		p.Promotion = nil
		if verdict.State == GateOpen {
			p.Production = v.Number
			return nil
		}
		s.cfg.Logger.InfoContext(ctx, "promotion rejected by gate", "pathway", id, "version", v.Number,
			"batch", verdict.Batch, "reason", verdict.Reason)
		return nil
	}))
}
