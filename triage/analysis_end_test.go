package triage_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// TestAnalysisFails checks that a failed step is retried, and that the last failure is added to the feed.
func TestAnalysisFails(t *testing.T) {
	t.Parallel()
	good := thinks("hm", triage.SessionActive)
	step := func(s triage.Step) triage.Progress {
		return triage.Progress{Steps: []triage.Step{s}, Next: triage.SessionComplete}
	}
	for name, test := range map[string]struct {
		p    triage.Progress
		err  error
		says string
	}{
		"an error":        {err: errors.New("secret"), says: "failed: internal error"},
		"a coded error":   {err: callwright.Errorf(callwright.CodeUnavailable, "the model is down"), says: "failed: the model is down"},
		"nothing asked":   {p: triage.Progress{Next: triage.SessionAwaitingInput}},
		"no next":         {p: triage.Progress{Steps: good.Steps}},
		"cancelled":       {p: triage.Progress{Steps: good.Steps, Next: triage.SessionCancelled}},
		"pending":         {p: triage.Progress{Steps: good.Steps, Next: triage.SessionPending}},
		"no question":     {p: triage.Progress{Steps: good.Steps, Next: triage.SessionAwaitingInput}},
		"its own status":  {p: step(triage.Step{Type: triage.TypeThought, Status: triage.SessionActive})},
		"another's step":  {p: step(triage.Step{Type: triage.TypePrompt})},
		"its own end":     {p: step(triage.Step{Type: triage.TypeSessionStopped})},
		"too long":        {p: step(triage.Step{Type: triage.TypeThought, Detail: strings.Repeat("x", triage.MaxDetail+1)})},
		"a NUL":           {p: step(triage.Step{Type: triage.TypeThought, Detail: "\x00"})},
		"no artifact":     {p: step(triage.Step{Type: triage.TypeArtifact})},
		"no state":        {p: triage.Progress{Steps: good.Steps, Next: triage.SessionActive, State: json.RawMessage("{")}},
		"a state too big": {p: triage.Progress{Steps: good.Steps, Next: triage.SessionActive, State: json.RawMessage(`"` + strings.Repeat("x", 512<<10) + `"`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				s := openStudy(t, taking(func(context.Context, triage.Case) (triage.Progress, error) {
					asked++
					return test.p, test.err
				}), systemClock)
				s.works()
				sess := s.analyze("")
				time.Sleep(10 * time.Second)
				told := s.wantTold(sess, triage.SessionError, triage.TypeError, triage.TypeSessionStopped)
				if asked != 3 || !strings.HasPrefix(told[2].Detail, "The analysis failed: ") || !strings.Contains(told[2].Detail, test.says) ||
					strings.Contains(told[2].Detail, "secret") {
					t.Errorf("it was asked %d times, and told is %+v", asked, told[2])
				}
			})
		})
	}
}

// TestAnalysisWaits checks that a wait for a busy model does not count as an attempt, but is limited by the duration of the analysis.
func TestAnalysisWaits(t *testing.T) {
	t.Parallel()
	busy := &callwright.Error{Code: callwright.CodeUnavailable, Message: "busy", RetryAfter: 10 * time.Minute}
	s := openStudy(t, taking(func(context.Context, triage.Case) (triage.Progress, error) { return triage.Progress{}, busy }))
	sess := s.analyze("")
	for _, want := range []time.Duration{10 * time.Minute, 9 * time.Minute, time.Minute} {
		s.clock.move(8 * time.Minute)
		err := s.step(t.Context(), sess, 0, 3)
		if wait, _ := callwright.RetryAfter(err); wait != want {
			t.Errorf("it is to wait for %s, want %s: %v", wait, want, err)
		}
	}
	s.wantTold(sess, triage.SessionPending)
	s.clock.move(8 * time.Minute)
	if err := s.step(t.Context(), sess, 0, 1); err != nil {
		t.Fatal(err)
	}
	if told := s.wantTold(sess, triage.SessionError, triage.TypeError, triage.TypeSessionStopped); !strings.Contains(told[2].Detail, "longer than") {
		t.Errorf("told is %+v", told[2])
	}
}

// TestAnalysisEnds checks that an analysis ends with an error when it has too many steps, when a step has used up its attempts because
// their nodes stopped, and when the server has no analyst.
func TestAnalysisEnds(t *testing.T) {
	t.Parallel()
	asked := 0
	s := openStudy(t, taking(func(context.Context, triage.Case) (triage.Progress, error) {
		asked++
		return thinks("hm", triage.SessionActive), nil
	}))
	sess := s.analyze("")
	for n := range 41 {
		if err := s.step(t.Context(), sess, n, 1); err != nil {
			t.Fatal(err)
		}
	}
	told := s.told(sess)
	if got := s.session(sess); got.Status != triage.SessionError || asked != 40 || !strings.Contains(told[len(told)-2].Detail, "40 steps") {
		t.Errorf("after %d steps the session is %s: %s", asked, got.Status, told[len(told)-2].Detail)
	}
	sess = s.analyze("")
	if err := s.step(t.Context(), sess, 0, 4); err != nil || asked != 40 {
		t.Errorf("after three attempts that ended in nothing it was asked again, %v", err)
	}
	s.wantTold(sess, triage.SessionError, triage.TypeError, triage.TypeSessionStopped)
	sess = s.analyze("")
	without := openStudyOver(t, s.memory, nil, func(c *triage.Config) { c.Analyst = nil })
	if err := without.step(t.Context(), sess, 0, 1); err != nil {
		t.Error(err)
	}
	s.wantTold(sess, triage.SessionError, triage.TypeError, triage.TypeSessionStopped)
}

// TestAnalysisCutOff checks that a node that stops adds no entry, and that another node continues the analysis.
func TestAnalysisCutOff(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := openStudy(t, taking(func(ctx context.Context, _ triage.Case) (triage.Progress, error) {
		cancel()
		if ctx.Err() != nil {
			return triage.Progress{}, errors.New("cut off")
		}
		return thinks("hm", triage.SessionComplete), nil
	}))
	sess := s.analyze("")
	if err := s.step(ctx, sess, 0, 3); !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	s.wantTold(sess, triage.SessionPending)
	if err := s.step(t.Context(), sess, 0, 3); err != nil {
		t.Fatal(err)
	}
	s.wantTold(sess, triage.SessionComplete, triage.TypeThought, triage.TypeSessionStopped)
}

// TestAnalysisTooSlow checks that a step that takes too long is canceled.
func TestAnalysisTooSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openStudy(t, taking(func(ctx context.Context, _ triage.Case) (triage.Progress, error) {
			<-ctx.Done()
			return triage.Progress{}, ctx.Err()
		}), systemClock)
		sess := s.analyze("")
		began := time.Now()
		if err := s.step(t.Context(), sess, 0, 1); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Minute {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

// TestStepOfAnOlderRelease checks that a task of an older release, which stored the step in the task's key and not in Task.Args, still
// runs.
func TestStepOfAnOlderRelease(t *testing.T) {
	t.Parallel()
	steps := 0
	s := openStudy(t, taking(func(context.Context, triage.Case) (triage.Progress, error) {
		steps++
		return thinks("Hm.", triage.SessionComplete), nil
	}))
	sess := s.analyze("")
	task := callwright.Task{Kind: "triage.analyze", Org: sess.Org, Key: sess.IssueID + "/" + sess.ID + "/0"}
	if err := s.desk.handlers["triage.analyze"](t.Context(), task, 1); err != nil || steps != 1 {
		t.Errorf("%d steps, %v", steps, err)
	}
}

// TestAnalysisOfNothing checks that tasks of absent sessions, tasks of sessions that are no analyses, and tasks with unreadable arguments
// finish without an error.
func TestAnalysisOfNothing(t *testing.T) {
	t.Parallel()
	s := openStudy(t, taking(nil))
	sess, err := s.StartSession(t.Context(), "acme", ada, s.issue(triage.Draft{}).ID, triage.SessionDraft{AgentName: "Outside"})
	if err != nil {
		t.Fatal(err)
	}
	gone := sess
	gone.ID = "gone"
	for _, sess := range []triage.Session{sess, gone} {
		if err := s.step(t.Context(), sess, 0, 1); err != nil {
			t.Error(err)
		}
	}
	for _, args := range []string{"", "{", `"a/b/1"`, `{"issue":1}`} { // arguments that can never be read
		if err := s.desk.handlers["triage.analyze"](t.Context(), callwright.Task{Org: "acme", Key: "a/b/1", Args: []byte(args)}, 1); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}
