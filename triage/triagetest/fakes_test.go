package triagetest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

func TestResolver(t *testing.T) {
	t.Parallel()
	var l triagetest.Resolver
	if found, err := l.Find(t.Context(), "a", []string{"c1"}); err != nil || len(found) != 0 {
		t.Errorf("an empty library has %v, %v", found, err)
	}
	l.Add("a", "c1", triage.Item{Title: "One", Metadata: map[string]any{"n": 1}}, triage.Evidence{
		Lines: []triage.Line{{Agent: true, Text: "Hello"}},
	})
	for range 2 {
		found, err := l.Find(t.Context(), "a", []string{"c1", "c2"})
		if err != nil || len(found) != 1 || found["c1"].Title != "One" || found["c1"].Metadata["n"] != 1 {
			t.Fatalf("found %v, %v", found, err)
		}
		found["c1"].Metadata["n"] = 2
	}
	if e, err := l.Read(t.Context(), "a", "c1"); err != nil || len(e.Lines) != 1 {
		t.Errorf("read %v, %v", e, err)
	}
	if found, err := l.Find(t.Context(), "b", []string{"c1"}); err != nil || len(found) != 0 {
		t.Errorf("another organization finds %v, %v", found, err)
	}
	_, foreign := l.Read(t.Context(), "b", "c1")
	l.Delete("a", "c1")
	_, removed := l.Read(t.Context(), "a", "c1")
	if !errors.Is(foreign, callwright.ErrNotFound) || !errors.Is(removed, callwright.ErrNotFound) {
		t.Errorf("read gave %v and %v, want not found", foreign, removed)
	}
	if l.Finds() != 4 || l.Reads() != 3 {
		t.Errorf("counted %d and %d calls", l.Finds(), l.Reads())
	}
}

func TestAnalyst(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	a := triagetest.Analyst{Plays: []triagetest.Play{
		{Progress: triage.Progress{Next: triage.SessionActive}},
		{Err: callwright.ErrUnavailable},
		{Meanwhile: func(context.Context, triage.Case) { cancel() }, Progress: triage.Progress{Next: triage.SessionComplete}},
	}}
	if p, err := a.Step(ctx, triage.Case{PreviousSteps: 0}); err != nil || p.Next != triage.SessionActive {
		t.Errorf("step 1: %+v, %v", p, err)
	}
	if _, err := a.Step(ctx, triage.Case{PreviousSteps: 1}); !errors.Is(err, callwright.ErrUnavailable) {
		t.Errorf("step 2: %v", err)
	}
	if p, err := a.Step(ctx, triage.Case{PreviousSteps: 2}); !errors.Is(err, context.Canceled) || p.Next != "" {
		t.Errorf("step 3: %+v, %v", p, err)
	}
	if _, err := a.Step(t.Context(), triage.Case{PreviousSteps: 3}); !errors.Is(err, callwright.ErrInternal) {
		t.Errorf("a step that is not written gave %v", err)
	}
	cases := a.Cases()
	for n, c := range cases {
		if c.PreviousSteps != n {
			t.Errorf("case %d is %+v", n, c)
		}
	}
	if len(cases) != 4 || a.Name() != "Analyst" {
		t.Errorf("%s was asked %d times", a.Name(), len(cases))
	}
}

func TestResolverConforms(t *testing.T) {
	t.Parallel()
	r := new(triagetest.Resolver)
	for _, id := range []string{"c1", "c2"} {
		r.Add("a", id, triage.Item{Title: id}, triage.Evidence{Facts: map[string]any{"status": "failed"}})
	}
	triagetest.RunResourceResolver(t, triagetest.ResolverHarness{Resolver: r, Org: "a", Other: "b", IDs: []string{"c1", "c2"}})
}

// asking is an analyst that asks people two questions, and reads no resources.
type asking struct{}

func (asking) Name() string { return "Ann" }

func (asking) Step(ctx context.Context, c triage.Case) (triage.Progress, error) {
	if len(c.Answers) < 2 {
		return triage.Progress{Steps: []triage.Step{{Type: triage.TypeResponse, Detail: "Why?"}}, Next: triage.SessionAwaitingInput}, ctx.Err()
	}
	return triage.Progress{Next: triage.SessionComplete}, ctx.Err()
}

func TestAskingAnalystConforms(t *testing.T) {
	t.Parallel()
	triagetest.RunAnalyst(t, func(*testing.T) triage.Analyst { return asking{} })
}
