package tornado_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/tornado"
)

// forgetful is a store that executes a change and then returns an error as if the answer were lost. lose contains the numbers of the calls
// with lost answers, counted from 1.
type forgetful struct {
	tornado.Store

	lose  map[int]bool
	calls int
}

var errUnanswered = errors.New("connection reset")

func (f *forgetful) answer(err error) error {
	if f.calls++; err == nil && f.lose[f.calls] {
		return errUnanswered
	}
	return err
}

func (f *forgetful) UpdateSession(ctx context.Context, s tornado.Session) error {
	return f.answer(f.Store.UpdateSession(ctx, s))
}

func (f *forgetful) AppendStep(ctx context.Context, org callwright.OrgID, session, node string, n int, step tornado.Step) error {
	return f.answer(f.Store.AppendStep(ctx, org, session, node, n, step))
}

// TestAnswersOfTheDatabaseAreLost checks that the only node continues a session if the database loses the answer to any one of its changes.
func TestAnswersOfTheDatabaseAreLost(t *testing.T) {
	t.Parallel()
	changes := 0
	for lost := 0; lost <= changes; lost++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, "good", "bad")
			store := &forgetful{Store: w.store(), lose: map[int]bool{lost: true}}
			s := w.node(func(c *tornado.Config) { c.Store = store })
			w.run(s)
			got := w.end(s, w.start(s).ID)
			if got.State != tornado.AllPassed || w.asked != 1 || len(w.lab.documents) != 2 {
				t.Errorf("change %d: ends as %s, %s after %d questions with %d versions", lost, got.State, got.Stop, w.asked, len(w.lab.documents))
			}
			if lost == 0 {
				changes = store.calls
			}
		})
	}
	if changes < 10 {
		t.Errorf("only %d changes", changes)
	}
}
