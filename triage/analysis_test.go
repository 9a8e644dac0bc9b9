package triage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/analyst"
)

// TestAnalyze checks that package analyst finds a cause with a scripted model.
func TestAnalyze(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, err := analyst.New(analyst.Config{Model: scripted.New(
			scripted.Rule{Task: llm.TaskAnalyze, About: "lines in all", Answer: `{"observation":"It hangs up.","lines":[0],"facts":[]}`},
			scripted.Rule{Task: llm.TaskAnalyze, About: "It hangs up.", Answer: `{"outcome":"root_cause","root_cause":"No number.",` +
				`"suggestion":"Set one.","confidence":"high","evidence":[{"resource_id":"c","line":0,"fact":null}],"summary":"No number.","question":""}`},
		)})
		if err != nil {
			t.Fatal(err)
		}
		s := openStudy(t, a, systemClock)
		issue := s.issue(triage.Draft{})
		s.attach(issue.ID, map[string]triage.Evidence{"c": {Lines: []triage.Line{{Agent: true, Text: "Goodbye."}}}, "gone": {}})
		s.calls.Delete("acme", "gone")
		sess, err := s.Analyze(t.Context(), "acme", ada, issue.ID, "Why does it hang up?")
		if err != nil || sess.Status != triage.SessionPending || sess.AgentName != a.Name() || sess.StartedBy != ada {
			t.Fatalf("the session is %+v, %v", sess, err)
		}
		s.works()
		synctest.Wait()
		told := s.wantTold(sess, triage.SessionComplete, triage.TypeAction, triage.TypeAction, triage.TypeThought, triage.TypeArtifact,
			triage.TypeResponse, triage.TypeSessionStopped)
		if told[1].Detail != "Why does it hang up?" || told[1].Actor != ada || !strings.Contains(told[2].Detail, "it was deleted") {
			t.Errorf("told is %+v", told)
		}
		for _, e := range told[2:] {
			if e.Actor != sess.Agent() || e.Kind != triage.KindAgent {
				t.Errorf("%s is told by %+v, as a step of an %s", e.Type, e.Actor, e.Kind)
			}
		}
		if told[5].Artifact == nil || !strings.Contains(string(told[5].Artifact.Payload), "No number.") || told[5].Artifact.ID == "" {
			t.Errorf("the artifact is %+v", told[5].Artifact)
		}
		if end := s.session(sess); end.EndedAt == nil || end.Analysis.Step != 3 {
			t.Errorf("in the end the session is %+v", end)
		}
	})
}

func TestAnalyzeRefuses(t *testing.T) {
	t.Parallel()
	s := openStudy(t, taking(nil))
	issue, into := s.issue(triage.Draft{}), s.issue(triage.Draft{})
	if _, err := s.Merge(t.Context(), "acme", ada, issue.ID, into.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Analyze(t.Context(), "acme", ada, into.ID, strings.Repeat("p", triage.MaxPrompt)); err != nil {
		t.Errorf("the longest prompt: %v", err)
	}
	for name, test := range map[string]struct {
		org       callwright.OrgID
		id, asked string
		code      callwright.Code
		field     string
	}{
		"a long prompt":          {"acme", into.ID, strings.Repeat("p", triage.MaxPrompt+1), callwright.CodeBadRequest, "prompt"},
		"a NUL":                  {"acme", into.ID, "\x00", callwright.CodeBadRequest, "prompt"},
		"an unknown issue":       {"acme", "unknown", "", callwright.CodeNotFound, ""},
		"another's issue":        {"other", into.ID, "", callwright.CodeNotFound, ""},
		"one that was merged":    {"acme", issue.ID, "", callwright.CodeInvalidState, ""},
		"merged, a prompt of ok": {"acme", issue.ID, "ok", callwright.CodeInvalidState, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Analyze(t.Context(), test.org, ada, test.id, test.asked)
			wantError(t, err, test.code, test.field)
		})
	}
	_, err := open(t).Analyze(t.Context(), "acme", ada, into.ID, "")
	wantError(t, err, callwright.CodeNotImplemented, "")
}

// TestAnalysesAtOnce checks the limit of an organization's running analyses. An analysis that continues after an answer counts; one that
// waits does not.
func TestAnalysesAtOnce(t *testing.T) {
	t.Parallel()
	s := openStudy(t, taking(func(context.Context, triage.Case) (triage.Progress, error) {
		return triage.Progress{Steps: []triage.Step{{Type: triage.TypeResponse, Detail: "?"}}, Next: triage.SessionAwaitingInput}, nil
	}))
	var running []triage.Session
	for range 10 {
		running = append(running, s.analyze(""))
	}
	refused := func(err error) {
		t.Helper()
		wantError(t, err, callwright.CodeTooManyRequests, "")
		if wait, later := callwright.RetryAfter(err); !later || wait <= 0 {
			t.Errorf("to be tried again in %s", wait)
		}
	}
	_, err := s.Analyze(t.Context(), "acme", ada, s.issue(triage.Draft{}).ID, "")
	refused(err)
	if err := s.step(t.Context(), running[0], 0, 1); err != nil {
		t.Fatal(err)
	}
	s.analyze("")
	_, err = s.Answer(t.Context(), "acme", ada, running[0].IssueID, running[0].ID, "Yes.")
	refused(err)
	if _, err := s.Answer(t.Context(), "acme", ada, running[1].IssueID, running[1].ID, "And mind the hours."); err != nil {
		t.Errorf("one that runs: %v", err)
	}
	if _, err := s.Cancel(t.Context(), "acme", ada, running[2].IssueID, running[2].ID, ""); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Answer(t.Context(), "acme", ada, running[0].IssueID, running[0].ID, "Yes."); err != nil {
		t.Errorf("when another has ended: %v", err)
	}
}

// TestAnalysisSees checks that the Analyst receives its state and the attachments, and can read nothing else.
func TestAnalysisSees(t *testing.T) {
	t.Parallel()
	var seen []triage.Case
	s := openStudy(t, taking(func(ctx context.Context, c triage.Case) (triage.Progress, error) {
		seen = append(seen, c)
		if e, err := c.Read(ctx, c.Resources[0]); err != nil || e.Facts["status"] != "failed" {
			t.Errorf("the call is %+v, %v", e, err)
		}
		other := c.Resources[0]
		other.ResourceID = "not attached"
		if e, err := c.Read(ctx, other); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("what is not attached is %+v, %v", e, err)
		}
		if e, err := c.Read(ctx, c.Resources[1]); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("what is gone is %+v, %v", e, err)
		}
		p := thinks("hm", triage.SessionActive)
		p.State = json.RawMessage(fmt.Sprintf(`{"taken":%d}`, c.PreviousSteps))
		return p, nil
	}))
	issue := s.issue(triage.Draft{Description: "It fails."})
	s.attach(issue.ID, map[string]triage.Evidence{"c": {Facts: map[string]any{"status": "failed"}}, "gone": {}})
	s.calls.Delete("acme", "gone")
	s.calls.Add("acme", "not attached", triage.Item{}, triage.Evidence{})
	sess, err := s.Analyze(t.Context(), "acme", ada, issue.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if err := s.step(t.Context(), sess, n, 2-n); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 2 || seen[0].State != nil || seen[0].Attempt != 2 || seen[0].Issue.Description != "It fails." || seen[0].Prompt != "" ||
		string(seen[1].State) != `{"taken":0}` || seen[1].PreviousSteps != 1 || seen[1].Attempt != 1 {
		t.Errorf("it saw %+v", seen)
	}
	told := s.wantTold(sess, triage.SessionActive, triage.TypeThought, triage.TypeThought)
	if told[1].Detail == "" {
		t.Error("the usual prompt is not told")
	}
}

// TestAnalysisOnce checks that a step that runs twice, even concurrently on several nodes, is written once, as is the next step.
func TestAnalysisOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const nodes = 4
		var together sync.WaitGroup
		together.Add(nodes)
		ann := taking(func(_ context.Context, c triage.Case) (triage.Progress, error) {
			if c.PreviousSteps == 0 {
				together.Done()
				together.Wait()
			}
			return thinks(fmt.Sprintf("step %d", c.PreviousSteps), triage.SessionActive), nil
		})
		memory := memstore.New()
		all := make([]study, nodes)
		for i := range all {
			all[i] = openStudyOver(t, memory, ann)
		}
		s := all[0]
		sess := s.analyze("")
		var running sync.WaitGroup
		for _, node := range all {
			running.Go(func() {
				if err := node.step(t.Context(), sess, 0, 1); err != nil {
					if _, later := callwright.RetryAfter(err); !later {
						t.Error(err)
					}
				}
			})
		}
		running.Wait()
		for range 2 {
			if err := s.step(t.Context(), sess, 0, 2); err != nil {
				t.Error(err)
			}
		}
		s.wantTold(sess, triage.SessionActive, triage.TypeThought)
		if err := s.step(t.Context(), sess, 1, 1); err != nil {
			t.Error(err)
		}
		s.wantTold(sess, triage.SessionActive, triage.TypeThought, triage.TypeThought)
	})
}

// dying is an Atomic whose next transactions fail at their end. deaths is the number of these transactions.
type dying struct {
	callwright.Atomic
	deaths int
}

func (d *dying) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	return d.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := fn(ctx); err != nil {
			return err
		}
		if d.deaths--; d.deaths >= 0 {
			return errors.New("killed")
		}
		return nil
	})
}

// TestAnalysisKilled checks that a step that dies before its commit writes nothing, and runs again.
func TestAnalysisKilled(t *testing.T) {
	t.Parallel()
	asked := 0
	atomic := &dying{}
	s := openStudy(t, taking(func(context.Context, triage.Case) (triage.Progress, error) {
		asked++
		return thinks("hm", triage.SessionComplete), nil
	}), func(c *triage.Config) {
		atomic.Atomic = c.Atomic
		c.Atomic = atomic
	})
	sess := s.analyze("")
	atomic.deaths = 2
	for attempt := 1; attempt <= 2; attempt++ {
		if err := s.step(t.Context(), sess, 0, attempt); err == nil {
			t.Fatal("a step that was killed is done")
		}
		s.wantTold(sess, triage.SessionPending)
	}
	for range 2 {
		if err := s.step(t.Context(), sess, 0, 3); err != nil {
			t.Fatal(err)
		}
	}
	s.wantTold(sess, triage.SessionComplete, triage.TypeThought, triage.TypeSessionStopped)
	if asked != 3 {
		t.Errorf("it was asked %d times", asked)
	}
}
