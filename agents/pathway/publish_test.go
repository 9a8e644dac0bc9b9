package pathway_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// three returns an office, a pathway with three versions, and the versions, indexed by number.
func three(tb testing.TB, change ...func(*pathway.Config)) (*office, pathway.Pathway, []pathway.Version) {
	tb.Helper()
	o := newOffice(tb, change...)
	p := o.create(tb, graph.Document{})
	versions := make([]pathway.Version, 4) // indexed by version number
	for number := 1; number <= 3; number++ {
		versions[number] = o.storeVersion(tb, p.ID, days(strings.Repeat("?", number)))
	}
	return o, p, versions
}

func TestPublishStaging(t *testing.T) {
	t.Parallel()
	o, p, _ := three(t)
	for _, number := range []int{2, 1} { // staging does not ask the gate
		got, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: number, Environment: pathway.Staging})
		if err != nil || !got.Published || got.Batch != "" {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	if got := o.get(t, p.ID); got.Staging != 1 || got.Production != 0 || o.gate.Begun() != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestPublishProduction(t *testing.T) {
	t.Parallel()
	o, p, versions := three(t)
	_, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1})
	wantCode(t, "an untested version", err, callwright.CodePromotionGateFailed, "")
	o.gate.Finish(versions[1], false)
	_, err = o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1})
	wantCode(t, "a failed version", err, callwright.CodePromotionGateFailed, "")
	if !strings.Contains(err.Error(), "batch-1") {
		t.Errorf("%q names no batch", err)
	}
	if got := o.get(t, p.ID); got.Production != 0 || got.Promotion != nil {
		t.Errorf("got %+v", got)
	}
	o.gate.Finish(versions[1], true)
	got, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1, Environment: pathway.Production})
	if err != nil || !got.Published || got.Batch != "batch-1" || o.get(t, p.ID).Production != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestPublishWithoutGate(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(c *pathway.Config) { c.Gate = nil })
	p := o.create(t, graph.Document{})
	o.storeVersion(t, p.ID, days("?"))
	got, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1, OnPass: true})
	if err != nil || !got.Published || o.get(t, p.ID).Production != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestPublishOver checks that a publication with Over succeeds only if the environment has the version Over, or already has the published
// version.
func TestPublishOver(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(c *pathway.Config) { c.Gate = nil })
	p := o.create(t, graph.Document{})
	for range 3 {
		o.storeVersion(t, p.ID, days("?"))
	}
	publish := func(number, over int, env pathway.Environment) error {
		_, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: number, Over: &over, Environment: env})
		return err
	}
	for _, env := range []pathway.Environment{pathway.Production, pathway.Staging} {
		if err := publish(1, 0, env); err != nil {
			t.Errorf("the first version: %v", err)
		}
		if err := publish(2, 1, env); err != nil {
			t.Errorf("over the version that is there: %v", err)
		}
		wantCode(t, "over another one", publish(3, 1, env), callwright.CodeConflict, "")
		if err := publish(2, 1, env); err != nil {
			t.Errorf("once more: %v", err)
		}
	}
	if got := o.get(t, p.ID); got.Production != 2 || got.Staging != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestPublishRefuses(t *testing.T) {
	t.Parallel()
	o, p, _ := three(t)
	for name, test := range map[string]struct {
		org   callwright.OrgID
		b     pathway.Publication
		code  callwright.Code
		field string
	}{
		"the draft":              {"a", pathway.Publication{}, callwright.CodeInvalidState, ""},
		"an absent version":      {"a", pathway.Publication{Number: 9}, callwright.CodeNotFound, ""},
		"another environment":    {"a", pathway.Publication{Number: 1, Environment: "moon"}, callwright.CodeBadRequest, "environment"},
		"another organization's": {"b", pathway.Publication{Number: 1}, callwright.CodeNotFound, ""},
	} {
		_, err := o.Publish(t.Context(), test.org, p.ID, test.b)
		wantCode(t, name, err, test.code, test.field)
	}
}

// TestPublishBeginsTests checks that publishing a version without OnPass starts its tests once, and does not publish the version later.
func TestPublishBeginsTests(t *testing.T) {
	t.Parallel()
	o, p, versions := three(t)
	for range 2 { // a repeated request starts no further tests
		_, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1})
		wantCode(t, "before its tests have passed", err, callwright.CodePromotionGateFailed, "")
		if !strings.Contains(err.Error(), "batch-1") {
			t.Errorf("the error does not name the batch: %v", err)
		}
	}
	if got := o.get(t, p.ID); got.Promotion != nil || got.Production != 0 || o.gate.Begun() != 1 {
		t.Errorf("%d batches, %+v", o.gate.Begun(), got)
	}
	o.gate.Finish(versions[1], true)
	if err := o.FinishTests(t.Context(), "a", p.ID); err != nil || o.get(t, p.ID).Production != 0 {
		t.Errorf("nobody asked for it to be published later: %v", err)
	}
	if got, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1}); err != nil || !got.Published {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestPublishOnPass(t *testing.T) {
	t.Parallel()
	o, p, versions := three(t)
	for range 2 { // a repeated request changes nothing
		got, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1, OnPass: true})
		if err != nil || got.Published || got.Batch != "batch-1" {
			t.Fatalf("got %+v, %v", got, err)
		}
	}
	waiting := o.get(t, p.ID)
	if m := waiting.Promotion; m == nil || m.Number != 1 || m.Batch != "batch-1" || m.RequestedAt.IsZero() || waiting.Production != 0 {
		t.Fatalf("got %+v", waiting)
	}
	_, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1})
	wantCode(t, "while its tests run", err, callwright.CodePromotionGateFailed, "")
	if err := o.FinishTests(t.Context(), "a", p.ID); err != nil || o.get(t, p.ID).Promotion == nil {
		t.Errorf("too early, settling gave %v", err)
	}
	o.gate.Finish(versions[1], true)
	for range 2 {
		if err := o.FinishTests(t.Context(), "a", p.ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := o.get(t, p.ID); got.Production != 1 || got.Promotion != nil || o.gate.Begun() != 1 {
		t.Errorf("got %+v", got)
	}
}

// hasty is a gate whose tests pass immediately, before the promotion can wait for them.
type hasty struct{ *agentstest.Gate }

func (g hasty) Check(ctx context.Context, org callwright.OrgID, c pathway.Candidate) (pathway.Verdict, error) {
	verdict, err := g.Gate.Check(ctx, org, c)
	if c.Start {
		g.Finish(pathway.Version{Org: org, Pathway: c.Pathway, Number: c.Number, Hash: c.Hash}, true)
	}
	return verdict, err
}

func TestSettlesWhatEndedTooEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, p, _ := three(t)
		o.Gate = hasty{o.gate}
		if got, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1, OnPass: true}); err != nil || got.Published {
			t.Fatalf("got %+v, %v", got, err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var working sync.WaitGroup
		working.Go(func() { _ = o.work.Run(ctx) })
		synctest.Wait()
		if got := o.get(t, p.ID); got.Production != 1 || got.Promotion != nil {
			t.Errorf("got %+v", got)
		}
		stop()
		working.Wait()
	})
}

func TestSettleGivesUp(t *testing.T) {
	t.Parallel()
	o, p, versions := three(t)
	if _, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1, OnPass: true}); err != nil {
		t.Fatal(err)
	}
	o.gate.Finish(versions[1], false)
	if err := o.FinishTests(t.Context(), "b", p.ID); err != nil || o.get(t, p.ID).Promotion == nil {
		t.Errorf("another organization settled: %v", err)
	}
	if err := o.FinishTests(t.Context(), "a", p.ID); err != nil {
		t.Fatal(err)
	}
	if got := o.get(t, p.ID); got.Production != 0 || got.Promotion != nil {
		t.Errorf("got %+v", got)
	}
	if _, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1, OnPass: true}); !errors.Is(err, callwright.ErrPromotionGateFailed) {
		t.Errorf("a version whose test has failed gave %v", err)
	}
	for _, id := range []string{p.ID, "absent"} {
		if err := o.FinishTests(t.Context(), "a", id); err != nil {
			t.Errorf("with nothing to settle: %v", err)
		}
	}
}

// downGate is a gate that cannot be reached.
type downGate struct{}

func (downGate) Check(context.Context, callwright.OrgID, pathway.Candidate) (pathway.Verdict, error) {
	return pathway.Verdict{}, callwright.ErrUnavailable
}

func TestGateIsDown(t *testing.T) {
	t.Parallel()
	o, p, _ := three(t)
	if _, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1, OnPass: true}); err != nil {
		t.Fatal(err)
	}
	o.Gate = downGate{}
	_, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 2})
	wantCode(t, "publish", err, callwright.CodeUnavailable, "")
	wantCode(t, "settle", o.FinishTests(t.Context(), "a", p.ID), callwright.CodeUnavailable, "")
	if got := o.get(t, p.ID); got.Production != 0 || got.Promotion == nil {
		t.Errorf("got %+v", got)
	}
}

// asked is a gate whose state a function returns.
type asked func(c pathway.Candidate) pathway.GateState

func (f asked) Check(_ context.Context, _ callwright.OrgID, c pathway.Candidate) (pathway.Verdict, error) {
	return pathway.Verdict{State: f(c), Batch: "b"}, nil
}

// TestArchivedWhileAsked checks that a version which is archived while the gate is asked about it is not published.
func TestArchivedWhileAsked(t *testing.T) {
	t.Parallel()
	o, p, _ := three(t)
	o.Gate = asked(func(c pathway.Candidate) pathway.GateState {
		if err := o.Discard(t.Context(), "a", p.ID, c.Number); err != nil {
			t.Error(err)
		}
		return pathway.GateOpen
	})
	_, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1})
	wantCode(t, "publish", err, callwright.CodeNotFound, "")
	if got := o.get(t, p.ID).Production; got != 0 {
		t.Errorf("%d is in production", got)
	}
}

// TestPublishedWhileSettled checks that a version which is published while the gate is asked about a waiting version stays in production.
func TestPublishedWhileSettled(t *testing.T) {
	t.Parallel()
	o, p, versions := three(t)
	if _, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1, OnPass: true}); err != nil {
		t.Fatal(err)
	}
	o.gate.Finish(versions[2], true)
	o.Gate = asked(func(pathway.Candidate) pathway.GateState {
		o.Gate = o.gate
		if _, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 2}); err != nil {
			t.Error(err)
		}
		return pathway.GateOpen
	})
	if err := o.FinishTests(t.Context(), "a", p.ID); err != nil {
		t.Error(err)
	}
	if got := o.get(t, p.ID); got.Production != 2 || got.Promotion != nil {
		t.Errorf("got %+v", got)
	}
}

// ledger tracks the expected result of publications.
type ledger struct {
	verdicts                     map[int]pathway.GateState // no entry if the test has not run
	archived                     map[int]bool
	production, staging, waiting int
}

func (l *ledger) publish(b pathway.Publication) callwright.Code {
	verdict := l.verdicts[b.Number]
	switch {
	case l.archived[b.Number]:
		return callwright.CodeNotFound
	case b.Environment == pathway.Staging:
		l.staging = b.Number
	case verdict == pathway.GateOpen:
		l.production, l.waiting = b.Number, 0
	case b.OnPass && verdict != pathway.GateClosed:
		l.waiting, l.verdicts[b.Number] = b.Number, pathway.GateRunning
	case verdict == pathway.GateClosed:
		return callwright.CodePromotionGateFailed
	default:
		l.verdicts[b.Number] = pathway.GateRunning
		return callwright.CodePromotionGateFailed
	}
	return ""
}

func (l *ledger) settle() {
	switch l.verdicts[l.waiting] {
	case pathway.GateOpen:
		l.production, l.waiting = l.waiting, 0
	case pathway.GateClosed:
		l.waiting = 0
	default:
	}
}

func (l *ledger) discard(number int) callwright.Code {
	switch number {
	case l.production, l.staging, l.waiting:
		return callwright.CodeInvalidState
	}
	if l.archived[number] {
		return callwright.CodeNotFound
	}
	l.archived[number] = true
	return ""
}

// TestPublishing performs random operations, and checks the service against the ledger.
func TestPublishing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		o, p, versions := three(t)
		l := &ledger{verdicts: map[int]pathway.GateState{}, archived: map[int]bool{}}
		number := rapid.IntRange(1, 3)
		want := func(r *rapid.T, err error, code callwright.Code) {
			if callwright.CodeOf(err) != code {
				r.Fatalf("got %v, want %q", err, code)
			}
		}
		r.Repeat(map[string]func(*rapid.T){
			"publish": func(r *rapid.T) {
				b := pathway.Publication{
					Number:      number.Draw(r, "number"),
					Environment: rapid.SampledFrom([]pathway.Environment{"", pathway.Production, pathway.Staging}).Draw(r, "where"),
					OnPass:      rapid.Bool().Draw(r, "on pass"),
				}
				got, err := o.Publish(t.Context(), "a", p.ID, b)
				want(r, err, l.publish(b))
				if err == nil && got.Published == (b.Environment != pathway.Staging && l.waiting == b.Number) {
					r.Fatalf("got %+v", got)
				}
			},
			"end": func(r *rapid.T) {
				n, passed := number.Draw(r, "number"), rapid.Bool().Draw(r, "passed")
				o.gate.Finish(versions[n], passed)
				if l.verdicts[n] = pathway.GateClosed; passed {
					l.verdicts[n] = pathway.GateOpen
				}
			},
			"settle": func(r *rapid.T) {
				l.settle()
				for range rapid.IntRange(1, 2).Draw(r, "times") {
					want(r, o.FinishTests(t.Context(), "a", p.ID), "")
				}
			},
			"discard": func(r *rapid.T) {
				n := number.Draw(r, "number")
				want(r, o.Discard(t.Context(), "a", p.ID, n), l.discard(n))
			},
			"": func(r *rapid.T) {
				got, waiting := o.get(t, p.ID), 0
				if got.Promotion != nil {
					waiting = got.Promotion.Number
				}
				if got.Production != l.production || got.Staging != l.staging || waiting != l.waiting {
					r.Fatalf("got %d, %d, waiting %d; want %+v", got.Production, got.Staging, waiting, l)
				}
			},
		})
	})
}
