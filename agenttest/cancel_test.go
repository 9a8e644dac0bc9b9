package agenttest_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
)

// frozen is a store whose Snapshot blocks until its context is done.
type frozen struct{ agenttest.Store }

func (frozen) Snapshot(ctx context.Context, _ callwright.OrgID, _ string) (run.Snapshot, error) {
	<-ctx.Done()
	return run.Snapshot{}, callwright.ErrUnavailable.Because(ctx.Err())
}

// TestCancelAtTheBeginning checks that runs that are canceled before any words end immediately, without being resumed.
func TestCancelAtTheBeginning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.cfg.Store = frozen{l.cfg.Store}
		s := l.another()
		l.run(s)
		sc := l.scenario()
		b, _, err := s.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{sc.ID}})
		if err != nil {
			t.Fatal(err)
		}
		settled()
		if err := s.CancelBatch(t.Context(), org, b.ID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got, err := l.cfg.Store.Batch(t.Context(), org, b.ID)
		if err != nil || got.State != run.Cancelled || got.Counts.Cancelled != 1 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
