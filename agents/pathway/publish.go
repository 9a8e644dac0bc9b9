package pathway

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright"
)

// Publication is a version that is to be used.
type Publication struct {
	Number      int
	Environment Environment // empty: Production
	OnPass      bool        // to production when its tests have passed, which are begun if need be
}

// Published says what came of a publication.
type Published struct {
	Published bool   // false: the version waits for its tests
	Batch     string // of the tests that were decisive or are waited for; empty: none are required
}

// errOvertaken ends a publication that found another one in its place.
var errOvertaken = errors.New("pathway: another version was published meanwhile")

// taskSettle is Settle as durable work, about the pathway of its key.
const taskSettle = "pathway.settle"

// Publish puts a version to use. To production it goes only when the gate is open: CodePromotionGateFailed names the
// batch of tests that has it closed. With OnPass a version whose tests run, or have not begun, is promoted when they
// have passed: see Settle. It takes the place of whatever was on its way to production before.
//
// Of two that publish at once one gets CodeConflict, unless both want the same. The gate is asked before the transaction
// that publishes, because nothing bounds the time that it takes; only to begin tests it is asked in the transaction, so
// that the tests and the promotion that waits for them are there together or not at all.
func (s *Service) Publish(ctx context.Context, org callwright.OrgID, id string, b Publication) (Published, error) {
	b.Environment = cmp.Or(b.Environment, Production)
	if b.Environment != Production && b.Environment != Staging {
		return Published{}, callwright.InField("environment", errEnvironment)
	}
	if b.Number == 0 {
		return Published{}, callwright.Errorf(callwright.CodeInvalidState, "the draft can't be published: save it as a version")
	}
	v, before, err := s.Version(ctx, org, id, b.Number)
	if err != nil {
		return Published{}, err
	}
	verdict := Verdict{State: GateOpen}
	if b.Environment == Production {
		if verdict, err = s.ask(ctx, v, false); err != nil {
			return Published{}, err
		}
	}
	if verdict.State != GateOpen && !b.OnPass {
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
		return Published{}, callwright.Errorf(callwright.CodeConflict, "another version was published at the same time")
	case err != nil:
		return Published{}, err
	}
	return Published{Published: verdict.State == GateOpen, Batch: verdict.Batch}, nil
}

// place puts a version where the verdict allows it, or has it wait for its tests, which are begun if need be. The tests
// may end before what waits for them is there to be settled, so that is tried once more behind the transaction.
func (s *Service) place(ctx context.Context, p *Pathway, v Version, b Publication, verdict Verdict) (Verdict, error) {
	if _, err := s.version(ctx, *p, v.Number); err != nil {
		return verdict, err // it was archived meanwhile
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
	case !p.waits(v.Number, verdict.Batch):
		p.Promotion = &Promotion{Number: v.Number, Batch: verdict.Batch, RequestedAt: s.cfg.Clock.Now()}
		return verdict, s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskSettle, Key: p.ID, Org: p.Org})
	}
	return verdict, nil
}

// overtaken says whether something else was published, or set on its way, since a publication began.
func overtaken(before, now Pathway, b Publication) bool {
	other := func(then, now int) bool { return now != then && now != 0 && now != b.Number }
	if b.Environment == Staging {
		return other(before.Staging, now.Staging)
	}
	return other(before.Production, now.Production) || other(before.promoted(), now.promoted())
}

// ask asks the gate about a version.
func (s *Service) ask(ctx context.Context, v Version, start bool) (Verdict, error) {
	if s.cfg.Gate == nil {
		return Verdict{State: GateOpen}, nil
	}
	return s.cfg.Gate.Check(ctx, v.Org, Candidate{Pathway: v.Pathway, Number: v.Number, Hash: v.Hash, Start: start})
}

// refused says why a version can't go to production.
func refused(number int, v Verdict) error {
	why := cmp.Or(v.Reason, "a test that it must pass has not passed")
	if v.State == GateRunning {
		why = cmp.Or(v.Reason, "its tests still run")
	}
	if v.Batch != "" {
		why += fmt.Sprintf(" (batch %s)", v.Batch)
	}
	return callwright.Errorf(callwright.CodePromotionGateFailed, "version %d can't go to production: %s", number, why)
}

// settle is Settle as durable work.
func (s *Service) settle(ctx context.Context, t callwright.Task, _ int) error {
	return s.Settle(ctx, t.Org, t.Key)
}

// Settle is told that tests of a pathway have ended: it asks the gate about the version that waits for them, and
// publishes it or gives it up. It may run twice, and while somebody publishes: what is not waiting any more stays as it
// is, and so does a version whose tests still run.
func (s *Service) Settle(ctx context.Context, org callwright.OrgID, id string) error {
	p, err := s.cfg.Store.Pathway(ctx, org, id)
	if err != nil || p.Promotion == nil {
		return ignoreAbsent(err)
	}
	waiting := *p.Promotion
	v, err := s.cfg.Store.Version(ctx, org, id, waiting.Number)
	if err != nil {
		return ignoreAbsent(err)
	}
	verdict, err := s.ask(ctx, v, false)
	if err != nil || verdict.State == GateRunning {
		return err
	}
	return ignoreAbsent(s.together(ctx, org, id, func(ctx context.Context, p *Pathway) error {
		if !p.waits(waiting.Number, waiting.Batch) {
			return nil
		}
		p.Promotion = nil
		if verdict.State == GateOpen {
			p.Production = v.Number
			return nil
		}
		s.cfg.Logger.InfoContext(ctx, "a version does not go to production", "pathway", id, "version", v.Number,
			"batch", verdict.Batch, "reason", verdict.Reason)
		return nil
	}))
}

// ignoreAbsent takes what is gone for what needs nothing more.
func ignoreAbsent(err error) error {
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	return err
}
