package triagetest

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// RunViews is the conformance suite of triage.Views. newStore returns an empty store and its transactions.
func RunViews(t *testing.T, newStore func(t *testing.T) (triage.Store, callwright.Atomic)) {
	t.Helper()
	run(t, "views", newStore, map[string]func(*testing.T, subject){
		"knows what each viewer has seen": keepsViews,
		"knows nothing of absent issues":  refusesOrphanViews,
		"never goes back":                 neverGoesBack,
		"never goes back at once":         neverGoesBackAtOnce,
		"keeps organizations apart":       keepsViewsApart,
		"rolls back":                      rollsBackViews,
	})
}

func (s subject) see(t *testing.T, viewer, issue string, until time.Time) {
	t.Helper()
	if err := s.MarkSeen(t.Context(), "a", viewer, issue, until); err != nil {
		t.Fatal(err)
	}
}

// wantSeen checks up to which times a viewer has seen the issues i1, i2 and i9.
func (s subject) wantSeen(t *testing.T, org callwright.OrgID, viewer string, want map[string]time.Time) {
	t.Helper()
	got, err := s.Seen(t.Context(), org, viewer, []string{"i1", "i9", "i2", "i1"})
	if err != nil || !maps.EqualFunc(got, want, time.Time.Equal) {
		t.Errorf("%s has seen %v, %v; want %v", viewer, got, err, want)
	}
}

func keepsViews(t *testing.T, s subject) {
	s.wantSeen(t, "a", "u1", nil)
	s.see(t, "u1", "i1", later(1))
	s.see(t, "u1", "i2", later(2))
	s.see(t, "u2", "i2", later(3))
	s.wantSeen(t, "a", "u1", map[string]time.Time{"i1": later(1), "i2": later(2)})
	s.wantSeen(t, "a", "u2", map[string]time.Time{"i2": later(3)})
	s.wantSeen(t, "a", "u3", nil)
	for _, issues := range [][]string{{}, nil, {"i9"}} {
		if got, err := s.Seen(t.Context(), "a", "u1", issues); err != nil || len(got) != 0 {
			t.Errorf("of %v u1 has seen %v, %v", issues, got, err)
		}
	}
	got, err := s.Seen(t.Context(), "a", "u1", []string{"i2"})
	if err != nil || len(got) != 1 || !got["i2"].Equal(later(2)) {
		t.Errorf("of i2 u1 has seen %v, %v", got, err)
	}
}

func refusesOrphanViews(t *testing.T, s subject) {
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"an absent issue": s.MarkSeen(t.Context(), "a", "u1", "i9", at),
		"a foreign issue": s.MarkSeen(t.Context(), "b", "u1", "i1", at),
	})
	s.wantSeen(t, "a", "u1", nil)
	s.wantSeen(t, "b", "u1", nil)
}

func neverGoesBack(t *testing.T, s subject) {
	until := at
	for _, next := range []time.Time{later(1), at, later(1), later(1).Add(time.Microsecond), later(-100), later(3)} {
		s.see(t, "u1", "i1", next)
		if next.After(until) {
			until = next
		}
		s.wantSeen(t, "a", "u1", map[string]time.Time{"i1": until})
	}
}

func neverGoesBackAtOnce(t *testing.T, s subject) {
	var seeing sync.WaitGroup
	for n := range 8 {
		seeing.Go(func() {
			if err := s.MarkSeen(t.Context(), "a", "u1", "i1", later((n*5)%8)); err != nil {
				t.Error(err)
			}
		})
	}
	seeing.Wait()
	s.wantSeen(t, "a", "u1", map[string]time.Time{"i1": later(7)})
}

func keepsViewsApart(t *testing.T, s subject) {
	s.see(t, "u1", "i1", later(1))
	s.wantSeen(t, "b", "u1", nil)
	if err := s.MarkSeen(t.Context(), "b", "u1", "j1", later(9)); err != nil {
		t.Fatal(err)
	}
	s.wantSeen(t, "a", "u1", map[string]time.Time{"i1": later(1)})
}

func rollsBackViews(t *testing.T, s subject) {
	s.see(t, "u1", "i1", at)
	s.rollBack(t, func(ctx context.Context) error {
		if err := s.MarkSeen(ctx, "a", "u1", "i1", later(9)); err != nil {
			return err
		}
		return s.MarkSeen(ctx, "a", "u1", "i2", later(9))
	})
	s.wantSeen(t, "a", "u1", map[string]time.Time{"i1": at})
}
