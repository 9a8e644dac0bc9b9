package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
)

// slowReads is a store that counts its reads of many runs, and blocks each of them until the test releases it or the context is done.
type slowReads struct {
	agenttest.Store

	may     chan struct{} // releases one read per value
	reading atomic.Int32
	begun   sync.Map // number of reads, by organization
}

func (s *slowReads) wait(ctx context.Context, of callwright.OrgID) error {
	count, _ := s.begun.LoadOrStore(of, new(atomic.Int32))
	count.(*atomic.Int32).Add(1)
	s.reading.Add(1)
	defer s.reading.Add(-1)
	select {
	case <-s.may:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reads returns the number of reads that an organization has begun.
func (s *slowReads) reads(of callwright.OrgID) int32 {
	count, ok := s.begun.Load(of)
	if !ok {
		return 0
	}
	return count.(*atomic.Int32).Load()
}

func (s *slowReads) FindRuns(ctx context.Context, of callwright.OrgID, f run.Filter) ([]run.Run, error) {
	if err := s.wait(ctx, of); err != nil {
		return nil, err
	}
	return s.Store.FindRuns(ctx, of, f)
}

func (s *slowReads) EachEnded(ctx context.Context, of callwright.OrgID, w run.Window, f func(analytics.Run)) error {
	if err := s.wait(ctx, of); err != nil {
		return err
	}
	return s.Store.EachEnded(ctx, of, w, f)
}

// slowLab returns a lab with a slowReads store.
func slowLab(t *testing.T) (*lab, *slowReads) {
	t.Helper()
	l := newLab(t)
	store := &slowReads{Store: l.cfg.Store, may: make(chan struct{})}
	l.cfg.Store = store
	l.Service = l.another()
	return l, store
}

// keepSet stores a running simulation set of one scenario.
func (l *lab) keepSet(of callwright.OrgID, id string) group.Batch {
	l.t.Helper()
	b := group.Batch{
		ID: id, Org: of, Kind: group.Simulations, Simulations: 1001, Scenarios: []run.Subject{{Scenario: "s1"}},
		State: run.Running,
	}
	if err := l.cfg.Store.InsertBatch(l.t.Context(), b); err != nil {
		l.t.Fatal(err)
	}
	b.Revision = 1
	return b
}

// TestReadersOfSetShareStatistics checks that concurrent readers of a running set share one computation of its statistics, and that later
// readers start a new one.
func TestReadersOfSetShareStatistics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store := slowLab(t)
		b := l.keepSet(org, "b1")
		r := run.Run{ID: "r1", Org: org, Scenario: "s1", Batch: "b1", State: run.Passed, CreatedAt: time.Now(), EndedAt: time.Now()}
		if err := store.InsertRuns(t.Context(), []run.Run{r}); err != nil {
			t.Fatal(err)
		}
		var good atomic.Int32
		for range 40 {
			go func() {
				if _, st, err := l.GetSet(t.Context(), org, "b1"); err == nil && st.Scenarios[0].Passed == 1 {
					good.Add(1)
				}
			}()
		}
		synctest.Wait()
		close(store.may)
		synctest.Wait()
		if n := store.reads(org); n != 1 || good.Load() != 40 {
			t.Errorf("%d readers have read %d times", good.Load(), n)
		}
		read := func(what string, passed int, want int32) {
			t.Helper()
			before := store.reads(org)
			_, st, err := l.GetSet(t.Context(), org, "b1")
			if n := store.reads(org) - before; err != nil || n != want || st.Scenarios[0].Passed != passed {
				t.Errorf("%s: read %d times, got %+v, %v", what, n, st, err)
			}
		}
		time.Sleep(time.Hour)
		read("nothing has changed", 1, 0)
		change := func(ended bool) {
			r.ID, r.Trial = r.ID+"x", r.Trial+1
			if err := store.InsertRuns(t.Context(), []run.Run{r}); err != nil {
				t.Fatal(err)
			}
			if ended {
				b.State = run.Passed
			}
			if err := store.UpdateBatch(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			b.Revision++
		}
		change(false)
		read("it has changed", 2, 1)
		change(false)
		time.Sleep(2*time.Second - time.Nanosecond)
		read("it has changed, and was just read", 2, 0)
		time.Sleep(time.Nanosecond)
		read("it has changed", 3, 1)
		change(true)
		read("it has ended", 4, 1)
	})
}

// TestReaderThatGoes checks that the other readers of a set receive its statistics if the first reader cancels its request.
func TestReaderThatGoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store := slowLab(t)
		l.keepSet(org, "b1")
		first, leave := context.WithCancel(t.Context())
		errs := make(chan error, 2)
		read := func(ctx context.Context) {
			_, _, err := l.GetSet(ctx, org, "b1")
			errs <- err
		}
		go read(first)
		synctest.Wait()
		go read(t.Context())
		synctest.Wait()
		leave()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("the first got %v", err)
		}
		synctest.Wait()
		if n := store.reading.Load(); n != 1 {
			t.Fatalf("%d read", n)
		}
		close(store.may)
		if err := <-errs; err != nil {
			t.Errorf("the second got %v", err)
		}
	})
}

// TestReadsOfManyRunsAreBounded checks that concurrent reads of many runs are limited per organization and in total, while the store
// blocks.
func TestReadsOfManyRunsAreBounded(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(l *lab, of callwright.OrgID, i int) error{
		"sets": func(l *lab, of callwright.OrgID, i int) error {
			_, _, err := l.GetSet(context.Background(), of, fmt.Sprint(of, i))
			return err
		},
		"analytics": func(l *lab, of callwright.OrgID, _ int) error {
			_, err := l.BasicAnalytics(context.Background(), of, agenttest.AnalyticsQuery{Pathway: "p1"})
			return err
		},
		"enhanced analytics": func(l *lab, of callwright.OrgID, _ int) error {
			_, err := l.EnhancedAnalytics(context.Background(), of, agenttest.AnalyticsQuery{Pathway: "p1"})
			return err
		},
		"scoring again": func(l *lab, of callwright.OrgID, _ int) error {
			_, err := l.Rescore(context.Background(), of, "scenario of "+string(of), agenttest.RescoreRequest{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l, store := slowLab(t)
				orgs := []callwright.OrgID{org, "a", "b"}
				for _, of := range orgs {
					sc := l.scenario()
					sc.ID, sc.Name, sc.Org = "scenario of "+string(of), "of "+string(of), of
					if err := store.InsertScenario(t.Context(), sc); err != nil {
						t.Fatal(err)
					}
					for i := range 10 {
						l.keepSet(of, fmt.Sprint(of, i))
					}
				}
				var refused, done atomic.Int32
				ask := func(of callwright.OrgID, requests int) {
					for i := range requests {
						go func() {
							err := read(l, of, i)
							after, told := callwright.RetryAfter(err)
							switch {
							case errors.Is(err, callwright.ErrTooManyRequests) && told && after > 0:
								refused.Add(1)
							case err == nil:
								done.Add(1)
							default:
								t.Errorf("%s got %v", of, err)
							}
						}()
					}
					synctest.Wait()
				}
				ask(org, 10)
				if n := store.reading.Load(); n != 1 {
					t.Errorf("%d of one organization read", n)
				}
				ask("a", 1)
				if n := store.reading.Load(); n != 2 || store.reads("a") != 1 {
					t.Errorf("%d read, %d of the second organization", n, store.reads("a"))
				}
				ask("b", 1) // this organization's read precedes reads of organizations that already read
				if n := store.reading.Load(); n != run.MaxReads || store.reads("b") != 0 {
					t.Errorf("%d read, %d of the third organization", n, store.reads("b"))
				}
				store.may <- struct{}{}
				synctest.Wait()
				if store.reads("b") != 1 {
					t.Error("the third organization waits for what came later")
				}
				time.Sleep(10 * time.Second)
				synctest.Wait()
				close(store.may)
				synctest.Wait()
				if n := refused.Load() + done.Load(); n != 12 || refused.Load() < 8 {
					t.Errorf("%d were refused, %d done", refused.Load(), done.Load())
				}
			})
		})
	}
}
