package tornado_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/tornado"
)

// TestSession checks a session from its start until it has repaired the pathway and discarded the rejected forks.
func TestSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "good", "bad", "bad")
		w.lab.plan = does(say("worse", "n0"), say("good", "n1"), say("good", "n2"))
		s := w.node()
		w.run(s)
		started := w.start(s)
		if started.State != tornado.Running || started.Base != 1 || started.Deadline != started.CreatedAt.Add(tornado.DefaultTimeout) {
			t.Errorf("started as %+v", started)
		}
		active, err := s.Active(t.Context(), org, "p", "")
		if err != nil || active.ID != started.ID {
			t.Errorf("active is %q, %v", active.ID, err)
		}
		if _, err := s.Start(t.Context(), org, tornado.Start{Pathway: "p"}); !errors.Is(err, tornado.ErrActive) {
			t.Errorf("a second session: %v", err)
		}
		got := w.end(s, started.ID)
		if got.State != tornado.AllPassed || got.Stop != tornado.StopAllPassed || got.Best != 4 || got.EndedAt.IsZero() {
			t.Errorf("ends as %s, %s with version %d at %v: %+v", got.State, got.Stop, got.Best, got.EndedAt, got.Iterations)
		}
		if !w.archived[2] || w.archived[3] || w.archived[4] {
			t.Errorf("discarded: %v", w.archived)
		}
		if it := got.Iterations[2]; it.Changes == nil || len(it.Changes.Nodes) != 1 || it.Changes.Nodes[0].ID != "n1" {
			t.Errorf("changes of iteration 2: %+v", it.Changes)
		}
		if it := got.Iterations[1]; !slices.Equal(it.Failed, []string{"s1", "s2"}) || it.Passed != nil || it.Errors != nil {
			t.Errorf("of what was tested in iteration 1 fail %v, pass %v", it.Failed, it.Passed)
		}
		runs := 0
		for _, tallies := range w.trials {
			for _, tally := range tallies {
				runs += tally.Passed + tally.Failed
			}
		}
		if got.Usage.Spend.Tokens != 10*runs {
			t.Errorf("used %+v in %d runs", got.Usage, runs)
		}
		if steps, err := w.store().Steps(t.Context(), org, got.ID); err != nil || len(steps) > 0 {
			t.Errorf("%d steps are left, %v", len(steps), err)
		}
		if _, err := s.Active(t.Context(), org, "p", ""); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("active after the end: %v", err)
		}
		w.end(s, w.start(s).ID)
		if list, err := s.List(t.Context(), org, tornado.Filter{Pathway: "p", Limit: 1}); err != nil || len(list.Items) != 1 || list.Next.IsZero() {
			t.Errorf("list: %+v, %v", list, err)
		}
		if _, err := s.Get(t.Context(), "other", got.ID); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("another organization: %v", err)
		}
	})
}

// timeless returns a copy of the progress without times and names of trials, so that a test can compare interrupted with uninterrupted
// sessions.
func timeless(p tornado.Progress) tornado.Progress {
	p.Iterations = slices.Clone(p.Iterations)
	for i := range p.Iterations {
		p.Iterations[i].Started, p.Iterations[i].Completed = time.Time{}, time.Time{}
		p.Iterations[i].Trials = nil // their names contain the id of the session
	}
	return p
}

// TestProcessesThatDie lets processes die at random accesses to the database, before or after the effect of the access. The sessions must
// end like uninterrupted ones: no trial runs twice, no version is forked twice, and no stored plan is asked for again.
func TestProcessesThatDie(t *testing.T) {
	t.Parallel()
	texts := []string{"good", "bad", "bad", "good", "bad"}
	plans := []tornado.Plan{
		say("good", "n1"), say("worse", "n0"), say("good", "n2"), {}, say("good", "n4"),
	}
	var want tornado.Progress
	var sound *world
	synctest.Test(t, func(t *testing.T) {
		sound = newWorld(t, texts...)
		sound.lab.plan = does(plans...)
		s := sound.node()
		sound.run(s)
		want = timeless(sound.end(s, sound.start(s).ID).Progress)
	})
	if want.State != tornado.AllPassed || len(want.Iterations) != 6 {
		t.Fatalf("without deaths: %+v", want)
	}
	deaths := 0
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			w := newWorld(t, texts...)
			w.lab.plan = does(plans...)
			grave := make(chan struct{})
			var mortals []*mortal
			for range 3 {
				mortals = append(mortals, &mortal{
					Store: w.store(), atomic: w.memory, leases: w.leases(), grave: grave, left: 4 + random.IntN(150),
				})
			}
			var nodes []*tornado.Service
			for _, m := range mortals {
				nodes = append(nodes, w.node(func(c *tornado.Config) {
					c.Store, c.Atomic, c.Leases = m, m, mortalLeases{w.leases(), m}
				}))
			}
			last := w.node()
			session := w.start(last)
			w.run(nodes...)
			t.Cleanup(func() { close(grave) })
			time.Sleep(time.Duration(random.IntN(100)) * time.Second)
			w.run(last)
			got := w.end(last, session.ID)
			if !reflect.DeepEqual(timeless(got.Progress), want) {
				t.Errorf("seed %d: %+v\nwithout deaths: %+v", seed, timeless(got.Progress), want)
			}
			dead := 0
			for _, m := range mortals {
				if m.left == 0 {
					dead++
				}
			}
			deaths += dead
			if len(w.trials) != len(sound.trials) || len(w.lab.documents) != len(sound.lab.documents) || w.asked > sound.asked+dead {
				t.Errorf("seed %d: %d trials, %d versions, %d questions; without deaths %d, %d, %d", seed,
					len(w.trials), len(w.lab.documents), w.asked, len(sound.trials), len(sound.lab.documents), sound.asked)
			}
			if !reflect.DeepEqual(w.archived, sound.archived) {
				t.Errorf("seed %d: discarded %v", seed, w.archived)
			}
		})
	}
	if deaths < 30 {
		t.Errorf("only %d processes died", deaths)
	}
}
