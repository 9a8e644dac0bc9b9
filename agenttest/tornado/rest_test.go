package tornado_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agenttest/tornado"
)

// TestEndsDuringARest checks a session whose node stops during the wait before a rerun. If the session is canceled or past its deadline,
// the next node must end it without another trial.
func TestEndsDuringARest(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]tornado.State{"cancelled": tornado.Cancelled, "deadline": tornado.TimedOut} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "bad")
				w.lab.broken = func(string, string) bool { return true }
				first, second := w.node(), w.node()
				stop := w.runUntil(first)
				id := w.start(first, func(r *tornado.Start) { r.Timeout = 20 * time.Second }).ID
				w.until(first, id, func(tornado.Session) bool { return w.tried() == 1 })
				time.Sleep(time.Second)
				stop()
				if want == tornado.Cancelled {
					if err := second.Cancel(t.Context(), org, id); err != nil {
						t.Fatal(err)
					}
				} else {
					time.Sleep(time.Minute)
				}
				w.run(second)
				if got := w.end(second, id); got.State != want || w.tried() != 1 {
					t.Errorf("ends as %s, %s after %d trials: %s", got.State, got.Stop, w.tried(), got.Detail)
				}
			})
		})
	}
}
