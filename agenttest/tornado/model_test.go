package tornado_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/llm/price"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/tornado"
)

// mends returns a model's answer that repairs a node of a lab.
func mends(node string) string {
	return proposed(fixOf(analysis.PromptChange, node, setText("text", "good")))
}

// counted returns a model that supports one task, answers after five seconds and reports token usage. The counter asked contains the number
// of its answers.
func counted(task llm.Task, asked *atomic.Int32, answer func(n int) (string, error)) *agentstest.Model {
	return &agentstest.Model{
		Called: "paid", Usage: llm.Usage{Input: 100, Output: 10},
		Answers: func(ctx context.Context, q llm.Question) (string, error) {
			if q.Task != task {
				return "", &llm.Failure{Class: llm.ClassUnsupported, Message: "not this"}
			}
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-time.After(5 * time.Second):
			}
			return answer(int(asked.Add(1)))
		},
	}
}

// TestModelProposes checks that the model is asked once for each answer, and its usage counted once, even if another node continues the
// session.
func TestModelProposes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "good", "bad", "bad")
		var asked atomic.Int32
		answers := []string{`{"fixes":`, mends("n1"), mends("n2")} // the first answer is invalid
		with := func(c *tornado.Config) {
			c.Fixer, c.Model = nil, counted(llm.TaskFix, &asked, func(n int) (string, error) { return answers[n-1], nil })
			c.Analyst = c.Model // the model does not support llm.TaskAnalyze
			c.Pricer = func(string, llm.Usage) (price.Money, bool) { return 500_000_000, true }
		}
		first, second := w.node(with), w.node(with)
		stop := w.runUntil(first)
		id := w.start(first).ID
		w.until(first, id, func(s tornado.Session) bool { return s.Best == 2 })
		stop()
		w.run(second)
		got := w.end(second, id)
		if got.State != tornado.AllPassed || asked.Load() != 3 {
			t.Errorf("ends as %s, %s after %d questions", got.State, got.Detail, asked.Load())
		}
		if price, known := got.Usage.Spend.Price(); got.Usage.Fixer.Input != 300 || !known || price.Amount() != 1.5 {
			t.Errorf("used %+v", got.Usage)
		}
	})
}

// TestModelThatIsDown checks that a session waits for a model for a limited time, and fails immediately after a permanent error.
func TestModelThatIsDown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		down  time.Duration
		fails llm.Class
		state tornado.State
		stop  tornado.StopReason
	}{
		"for a minute":   {time.Minute, llm.ClassTransient, tornado.AllPassed, tornado.StopAllPassed},
		"for an hour":    {time.Hour, llm.ClassTransient, tornado.Failed, tornado.StopInfrastructure},
		"its rate limit": {time.Minute, llm.ClassRateLimited, tornado.AllPassed, tornado.StopAllPassed},
		"no quota":       {time.Hour, llm.ClassQuota, tornado.Failed, tornado.StopModel},
		"no key":         {time.Hour, llm.ClassPermanent, tornado.Failed, tornado.StopModel},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "bad")
				up := time.Now().Add(test.down)
				var asked atomic.Int32
				s := w.node(func(c *tornado.Config) {
					c.Fixer, c.Model = nil, counted(llm.TaskFix, &asked, func(int) (string, error) {
						if time.Now().Before(up) {
							return "", &llm.Failure{Class: test.fails, Message: "not now", RetryAfter: 10 * time.Second}
						}
						return mends("n0"), nil
					})
				})
				w.run(s)
				got := w.end(s, w.start(s).ID)
				if got.State != test.state || got.Stop != test.stop || test.state == tornado.Failed && !strings.Contains(got.Detail, "not now") {
					t.Errorf("ends as %s, %s: %s", got.State, got.Stop, got.Detail)
				}
			})
		})
	}
}

// TestModelThatHangs checks that a call of a model times out after a minute, and that the session fails within ten minutes.
func TestModelThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "bad")
		s := w.node(func(c *tornado.Config) {
			c.Fixer, c.Model = nil, &agentstest.Model{Answers: func(ctx context.Context, _ llm.Question) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			}}
		})
		w.run(s)
		got := w.end(s, w.start(s).ID)
		if got.Stop != tornado.StopInfrastructure || !strings.Contains(got.Detail, "planning: llm: transient: the model has not answered within 1m0s") {
			t.Errorf("ends as %s, %s: %s", got.State, got.Stop, got.Detail)
		}
		if lasted := got.EndedAt.Sub(got.CreatedAt); lasted > 10*time.Minute {
			t.Errorf("it lasts %v", lasted)
		}
	})
}

// TestAnalystIsAskedOnce checks that a session does not ask again for a stored analysis, and that it continues if an analysis is invalid.
func TestAnalystIsAskedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "bad", "bad")
		var asked atomic.Int32
		with := func(c *tornado.Config) {
			c.Analyst = counted(llm.TaskAnalyze, &asked, func(n int) (string, error) {
				if n > llm.Attempts {
					return "", errors.New("it is asked too often")
				}
				return "no JSON", nil
			})
		}
		w.takes = 100 * time.Millisecond
		first, second := w.node(with), w.node(with)
		stop := w.runUntil(first)
		id := w.start(first, func(r *tornado.Start) { r.Scenarios, r.Iterations = []string{"s0"}, 1 }).ID
		w.until(first, id, func(s tornado.Session) bool { return s.Phase == tornado.Planning })
		stop()
		w.run(second)
		if got := w.end(second, id); got.State != tornado.AllPassed || asked.Load() != llm.Attempts {
			t.Errorf("ends as %s, %s after %d questions", got.State, got.Detail, asked.Load())
		}
	})
}
