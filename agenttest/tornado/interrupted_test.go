package tornado_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/tornado"
)

// TestCancel cancels a session in each long phase, from the node that holds the session and from another node.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, phase := range []tornado.Phase{tornado.Baseline, tornado.Planning, tornado.Screening, tornado.Verifying} {
		for _, by := range []string{"its node", "another node"} {
			t.Run(fmt.Sprint(phase, " by ", by), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, "good", "bad", "bad")
					s, other := w.node(), w.node()
					if by == "its node" {
						other = s
					}
					w.run(s)
					id := w.start(s).ID
					w.until(s, id, func(s tornado.Session) bool { return s.Phase == phase && s.Iterations != nil })
					time.Sleep(500 * time.Millisecond)
					if err := other.Cancel(t.Context(), org, id); err != nil {
						t.Fatal(err)
					}
					got := w.end(s, id)
					if got.State != tornado.Cancelled || got.Stop != tornado.StopCancelled || got.Phase != phase || got.Best != 1 {
						t.Errorf("ends as %s, %s in phase %s with version %d", got.State, got.Stop, got.Phase, got.Best)
					}
					if last := got.Iterations[len(got.Iterations)-1]; last.Completed.IsZero() {
						t.Errorf("the last iteration goes on: %+v", last)
					}
					if len(w.lab.documents) > 1 && !w.archived[2] {
						t.Error("the fork that was not accepted stays")
					}
					if open := phase != tornado.Planning; open != (len(w.stopped) > 0) {
						t.Errorf("stopped trials: %v", w.stopped)
					}
					if err := s.Cancel(t.Context(), org, id); !errors.Is(err, callwright.ErrInvalidState) {
						t.Errorf("cancelled again: %v", err)
					}
				})
			})
		}
	}
}

// TestCancelledWhileNoNodeHoldsIt checks that a session canceled after its node stopped keeps the changes accepted before.
func TestCancelledWhileNoNodeHoldsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "good", "bad", "bad")
		first, second := w.node(), w.node()
		stop := w.runUntil(first)
		id := w.start(first).ID
		w.until(first, id, func(s tornado.Session) bool { return s.Best == 2 && s.Phase == tornado.Screening })
		stop()
		if err := second.Cancel(t.Context(), org, id); err != nil {
			t.Fatal(err)
		}
		w.run(second)
		got := w.end(second, id)
		if got.State != tornado.Cancelled || got.Best != 2 || len(got.Passed) != 2 || w.archived[2] {
			t.Errorf("ends as %s with version %d, of which %v pass", got.State, got.Best, got.Passed)
		}
		if !slices.ContainsFunc(got.Iterations[2].Trials, func(name string) bool { return slices.Contains(w.stopped, tornado.TrialID(id, name)) }) {
			t.Errorf("the trial that was under way is not stopped: %v", w.stopped)
		}
	})
}

// TestNodeThatStops checks that another node continues a session within two seconds, and repeats no answered question.
func TestNodeThatStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "bad", "bad", "bad")
		first, second := w.node(), w.node()
		stop := w.runUntil(first)
		id := w.start(first).ID
		w.until(first, id, func(s tornado.Session) bool { return len(s.Iterations) == 3 && s.Phase == tornado.Screening })
		asked := w.asked
		stop()
		if asked != w.asked {
			t.Fatalf("%d questions, then %d", asked, w.asked)
		}
		w.run(second)
		time.Sleep(2 * time.Second)
		if s, err := second.Get(t.Context(), org, id); err != nil || s.Node != "node 2" {
			t.Errorf("after two seconds %q holds the session, %v", s.Node, err)
		}
		if got := w.end(second, id); got.State != tornado.AllPassed || w.asked != 3 {
			t.Errorf("ends as %s after %d questions", got.State, w.asked)
		}
	})
}

// TestDeadlineSurvives checks that a session keeps its deadline while no node holds it.
func TestDeadlineSurvives(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]time.Duration{"before": 20 * time.Second, "after": 2 * time.Minute} {
		t.Run("the next node comes "+name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "bad", "good", "bad")
				w.lab.plan = does(say("good", "n0"), say("worse", "n1"))
				first, second := w.node(), w.node()
				stop := w.runUntil(first)
				session := w.start(first, func(r *tornado.Start) { r.Timeout = time.Minute })
				w.until(first, session.ID, func(s tornado.Session) bool { return s.Best == 2 })
				w.takes = time.Hour
				stop()
				time.Sleep(away)
				w.run(second)
				got := w.end(second, session.ID)
				if got.State != tornado.TimedOut || got.Stop != tornado.StopDeadline || got.Best != 2 || got.Deadline != session.Deadline {
					t.Errorf("ends as %s, %s with version %d", got.State, got.Stop, got.Best)
				}
				if late := got.EndedAt.Sub(session.Deadline); name == "before" && (late < 0 || late > time.Second) {
					t.Errorf("ends %v after the deadline", late)
				}
			})
		})
	}
}

// TestWhatChangesUnderASession checks how a session ends if its pathway, model or fixer fails, or if its fork is published.
func TestWhatChangesUnderASession(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*world)
		state  tornado.State
		stop   tornado.StopReason
		detail string
	}{
		"the pathway is deleted": {
			func(w *world) { w.gone = callwright.ErrNotFound }, tornado.Failed, tornado.StopPathway, "not found",
		},
		"the model is gone": {
			func(w *world) {
				w.lab.fail = func(string) error { return &llm.Failure{Class: llm.ClassPermanent, Message: "no such model"} }
			}, tornado.Failed, tornado.StopModel, "no such model",
		},
		"the fixer panics": {
			func(w *world) { w.lab.fail = func(string) error { panic("oops") } }, tornado.Failed, tornado.StopInfrastructure, "internal error",
		},
		"the fork is published": {
			func(w *world) { w.lab.live = 2 }, tornado.AllPassed, tornado.StopAllPassed, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "bad", "bad")
				s := w.node()
				w.run(s)
				id := w.start(s).ID
				w.until(s, id, func(s tornado.Session) bool { return len(s.Iterations) == 2 && s.Phase == tornado.Screening })
				w.mu.Lock()
				test.change(w)
				w.mu.Unlock()
				got := w.end(s, id)
				if got.State != test.state || got.Stop != test.stop || got.Detail != test.detail && !strings.Contains(got.Detail, test.detail) {
					t.Errorf("ends as %s, %s: %q", got.State, got.Stop, got.Detail)
				}
				if got.BaseMoved != (name == "the fork is published") {
					t.Errorf("base moved: %t", got.BaseMoved)
				}
			})
		})
	}
}

// TestOutage checks that a session waits while the pathways are unavailable, and then continues.
func TestOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "bad")
		s := w.node()
		w.run(s)
		id := w.start(s).ID
		w.until(s, id, func(s tornado.Session) bool { return len(s.Iterations) == 2 })
		w.mu.Lock()
		w.gone = errors.New("connection refused")
		w.mu.Unlock()
		time.Sleep(time.Minute)
		w.mu.Lock()
		w.gone = nil
		w.mu.Unlock()
		if got := w.end(s, id); got.State != tornado.AllPassed || w.asked != 1 {
			t.Errorf("ends as %s, %s after %d questions", got.State, got.Detail, w.asked)
		}
	})
}

// TestTestsThatAreDown checks that a session waits and tests again while most runs are in error. It must not propose a change before it has
// a baseline.
func TestTestsThatAreDown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		down  time.Duration
		which string // id of the broken scenario; empty means all
		state tornado.State
		stop  tornado.StopReason
		asked int
	}{
		"for a minute":             {time.Minute, "", tornado.AllPassed, tornado.StopAllPassed, 1},
		"for an hour":              {time.Hour, "", tornado.Failed, tornado.StopInfrastructure, 0},
		"one scenario for an hour": {time.Hour, "s2", tornado.Failed, tornado.StopInfrastructure, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "good", "bad", "good")
				began := time.Now()
				w.lab.broken = func(_, scenario string) bool {
					return time.Since(began) < test.down && (test.which == "" || test.which == scenario)
				}
				s := w.node()
				w.run(s)
				got := w.end(s, w.start(s).ID)
				if got.State != test.state || got.Stop != test.stop || w.asked != test.asked {
					t.Errorf("ends as %s, %s after %d questions: %s", got.State, got.Stop, w.asked, got.Detail)
				}
				baseline, errs := got.Iterations[0], 3
				if test.which != "" {
					errs = 1
				}
				if test.state == tornado.AllPassed {
					errs = 0
				}
				if len(baseline.Errors) != errs || errs > 0 && (!strings.Contains(got.Detail, "s2") || baseline.Outcome != tornado.Unfinished) {
					t.Errorf("the baseline is %+v: %s", baseline, got.Detail)
				}
			})
		})
	}
}

// TestWhatIsStoredIsBounded checks that the stored session stays small even if a Fixer returns long texts, and that the Fixer reads its
// rejected plans in full.
func TestWhatIsStoredIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("<&> ", 15_000)
		w := newWorld(t, "bad "+long, "good")
		w.lab.plan = func(_ *lab, b tornado.Brief) (tornado.Plan, error) {
			for _, r := range b.Rejected {
				if len(r.Plan.Fixes[0].Edits[0].Text) < len(long) {
					t.Error("a rejected plan is cut for the Fixer")
				}
			}
			return say(fmt.Sprint("worse ", len(b.Rejected), long), "n0"), nil
		}
		s := w.node()
		w.run(s)
		got := w.end(s, w.start(s).ID)
		raw, err := json.Marshal(got.Progress) //nolint:musttag // only its size counts
		if err != nil || got.Stop != tornado.StopNoProgress || len(raw) > 2*(6*40<<10) {
			t.Errorf("%d iterations have %d bytes, %v: %s", len(got.Iterations), len(raw), err, got.Stop)
		}
		if it := got.Iterations[1]; it.Plan == nil || !strings.HasPrefix(it.Plan.Fixes[0].Edits[0].Text, "worse 0") || len(it.Changes.Nodes) != 1 {
			t.Errorf("the iteration is %+v", it)
		}
	})
}

func TestBudgetOfASession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "bad", "bad", "bad")
		s := w.node()
		w.run(s)
		got := w.end(s, w.start(s, func(r *tornado.Start) { r.Budget = engine.Limit{Tokens: 60} }).ID)
		if !slices.Equal(w.budgets, []int{60, 30, 1}) || got.Detail != "used 80 of 60 tokens: start another session from the best version, with a larger budget" {
			t.Errorf("the trials had budgets of %v: %s", w.budgets, got.Detail)
		}
		if got.State != tornado.CompletedPartial || got.Stop != tornado.StopBudget || got.Best != 2 {
			t.Errorf("ends as %s, %s with version %d after %+v", got.State, got.Stop, got.Best, got.Usage)
		}
	})
}

// TestJournalOfAnotherRelease checks that a session fails if its stored steps differ from this program's steps.
func TestJournalOfAnotherRelease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "bad")
		first, second := w.node(), w.node()
		ctx := t.Context()
		id := w.start(first).ID
		session, err := first.Get(ctx, org, id)
		if err != nil {
			t.Fatal(err)
		}
		session.Node = "old"
		err = errors.Join(
			w.store().UpdateSession(ctx, session),
			w.store().AppendStep(ctx, org, id, "old", 0, tornado.Step{Name: "what is no step", Answer: []byte(`{}`)}),
		)
		if err != nil {
			t.Fatal(err)
		}
		w.run(second)
		got := w.end(second, id)
		if got.State != tornado.Failed || got.Stop != tornado.StopInfrastructure || !strings.Contains(got.Detail, "start another session") {
			t.Errorf("ends as %s, %s: %s", got.State, got.Stop, got.Detail)
		}
	})
}

// TestStartRefuses checks the error code and field of each invalid request.
func TestStartRefuses(t *testing.T) {
	t.Parallel()
	number := func(n int) *int { return &n }
	for name, test := range map[string]struct {
		start tornado.Start
		code  callwright.Code
		field string
	}{
		"no pathway":          {tornado.Start{}, callwright.CodeBadRequest, "pathway_id"},
		"another pathway":     {tornado.Start{Pathway: "q"}, callwright.CodeNotFound, "pathway_id"},
		"another scenario":    {tornado.Start{Pathway: "p", Scenarios: []string{"s9"}}, callwright.CodeNotFound, "scenario_ids"},
		"the draft":           {tornado.Start{Pathway: "p", Version: number(0)}, callwright.CodeBadRequest, "version_number"},
		"another version":     {tornado.Start{Pathway: "p", Version: number(9)}, callwright.CodeNotFound, "version_number"},
		"many iterations":     {tornado.Start{Pathway: "p", Iterations: 21}, callwright.CodeBadRequest, "max_iterations"},
		"negative iterations": {tornado.Start{Pathway: "p", Iterations: -1}, callwright.CodeBadRequest, "max_iterations"},
		"no time":             {tornado.Start{Pathway: "p", Timeout: 999 * time.Millisecond}, callwright.CodeBadRequest, "timeout_ms"},
		"much time":           {tornado.Start{Pathway: "p", Timeout: 121 * time.Minute}, callwright.CodeBadRequest, "timeout_ms"},
		"another node":        {tornado.Start{Pathway: "p", Allow: []string{"n0", "n7"}}, callwright.CodeBadRequest, "allow_node_ids[1]"},
		"another node denied": {tornado.Start{Pathway: "p", Deny: []string{"n7"}}, callwright.CodeBadRequest, "deny_node_ids[0]"},
		"a held out scenario of nobody": {
			tornado.Start{Pathway: "p", HeldOut: []string{"s7"}}, callwright.CodeBadRequest, "held_out_scenario_ids",
		},
		"all held out": {
			tornado.Start{Pathway: "p", HeldOut: []string{"s0", "s1"}}, callwright.CodeBadRequest, "held_out_scenario_ids",
		},
		"a cost of runs that have no price": {
			tornado.Start{Pathway: "p", Budget: engine.Limit{Cost: 1}}, callwright.CodeBadRequest, "budget.cost",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "bad", "bad")
			_, err := w.node().Start(t.Context(), org, test.start)
			e, _ := errors.AsType[*callwright.Error](err)
			if e == nil || e.Code != test.code || e.Field != test.field {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("nothing is in production", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "bad")
		w.lab.live = 0
		_, err := w.node().Start(t.Context(), org, tornado.Start{Pathway: "p"})
		if e, _ := errors.AsType[*callwright.Error](err); e == nil || e.Field != "version_number" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no fixer", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "bad")
		s := w.node(func(c *tornado.Config) { c.Fixer = nil })
		if _, err := s.Start(t.Context(), org, tornado.Start{Pathway: "p"}); callwright.CodeOf(err) != callwright.CodeNotImplemented {
			t.Errorf("got %v", err)
		}
	})
}

// TestMostSessions checks that MaxRunning limits the concurrent sessions of an organization.
func TestMostSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "bad")
	w.others = true
	s := w.node()
	for i := range tornado.MaxRunning {
		w.start(s, func(r *tornado.Start) { r.Pathway = fmt.Sprint("p", i) })
	}
	if _, err := s.Start(t.Context(), org, tornado.Start{Pathway: "p"}); callwright.CodeOf(err) != callwright.CodeTooManyRequests {
		t.Errorf("one more: %v", err)
	}
	if _, err := s.Start(t.Context(), "other", tornado.Start{Pathway: "p"}); err != nil {
		t.Errorf("another organization: %v", err)
	}
}
