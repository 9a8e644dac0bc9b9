package triage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/analyst"
)

// taking is an Analyst whose steps a test takes.
type taking func(ctx context.Context, c triage.Case) (triage.Progress, error)

func (taking) Name() string { return "Ann" }

func (f taking) Step(ctx context.Context, c triage.Case) (triage.Progress, error) { return f(ctx, c) }

// thinks is a progress with a thought.
func thinks(text string, next triage.SessionStatus) triage.Progress {
	return triage.Progress{
		Steps: []triage.Step{{Type: triage.TypeThought, Detail: text}}, State: json.RawMessage(`{}`), Next: next,
	}
}

// desk is durable work whose steps a test may take itself.
type desk struct {
	*memstore.Work
	handlers map[string]callwright.Handler
}

func (d *desk) Handle(kind string, h callwright.Handler) {
	d.handlers[kind] = h
	d.Work.Handle(kind, h)
}

// study is a house with an Analyst.
type study struct {
	house
	desk *desk
}

func openStudy(t *testing.T, a triage.Analyst, change ...func(*triage.Config)) study {
	t.Helper()
	return openStudyOver(t, memstore.New(), a, change...)
}

func openStudyOver(t *testing.T, memory *memstore.Store, a triage.Analyst, change ...func(*triage.Config)) study {
	t.Helper()
	d := &desk{memstore.NewWork(memory, nil), map[string]callwright.Handler{}}
	change = append([]func(*triage.Config){func(c *triage.Config) { c.Analyst, c.Work = a, d }}, change...)
	return study{openOver(t, memory, change...), d}
}

// systemClock has a house in a bubble live by the bubble's time.
func systemClock(c *triage.Config) { c.Clock = nil }

// analyze begins an analysis of a new issue.
func (s study) analyze(prompt string) triage.Session {
	s.t.Helper()
	sess, err := s.Analyze(s.t.Context(), "acme", ada, s.issue(triage.Draft{}).ID, prompt)
	if err != nil {
		s.t.Fatal(err)
	}
	return sess
}

// step takes a step of an analysis, as a task does.
func (s study) step(ctx context.Context, sess triage.Session, n, attempt int) error {
	return s.desk.handlers["triage.analyze"](ctx, callwright.Task{
		Kind: "triage.analyze", Org: sess.Org, Key: fmt.Sprintf("%s/%s/%d", sess.IssueID, sess.ID, n),
	}, attempt)
}

// works has the durable work run until the test is over.
func (s study) works() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.desk.Run(ctx)
	}()
	s.t.Cleanup(func() {
		cancel()
		<-done
	})
}

func (s study) session(sess triage.Session) triage.Session {
	s.t.Helper()
	got, err := s.Session(s.t.Context(), sess.Org, sess.IssueID, sess.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// told is what was told of a session, in its order.
func (s study) told(sess triage.Session) []triage.Entry {
	return slices.DeleteFunc(s.feed(sess.IssueID), func(e triage.Entry) bool { return e.Session == nil })
}

// wantTold fails unless a session stands so and has told what is wanted after its start and its prompt.
func (s study) wantTold(sess triage.Session, status triage.SessionStatus, want ...triage.EntryType) []triage.Entry {
	s.t.Helper()
	entries := s.told(sess)
	want = append([]triage.EntryType{triage.TypeSessionStarted, triage.TypePrompt}, want...)
	if got := types(entries); !slices.Equal(got, want) {
		s.t.Fatalf("told is %v, want %v", got, want)
	}
	now, issue := s.session(sess), s.get(sess.IssueID)
	working := 0
	if status.Working() {
		working = 1
	}
	if now.Status != status || now.Entries != len(entries) || issue.Session.Status != status || issue.Working != working {
		s.t.Fatalf("the session is %+v, its issue %+v", now, issue)
	}
	return entries
}

// attach attaches calls to an issue.
func (s study) attach(issue string, calls ...string) {
	s.t.Helper()
	for _, id := range calls {
		err := memstore.Triage{Store: s.memory}.InsertResource(s.t.Context(), triage.Resource{
			ID: "link-" + id, Org: "acme", IssueID: issue, Type: triage.ResourceCall, ResourceID: id, Title: "Call " + id, CreatedAt: start,
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// library knows calls by their ids.
type library map[string]triage.Evidence

func (l library) Find(context.Context, callwright.OrgID, []string) (map[string]triage.Item, error) {
	return nil, nil
}

func (l library) Read(_ context.Context, _ callwright.OrgID, id string) (triage.Evidence, error) {
	e, ok := l[id]
	if !ok {
		return e, callwright.NotFound("call")
	}
	return e, nil
}

// TestAnalyze has the analyst over the model that stands in where there is none find a cause.
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
		s := openStudy(t, a, systemClock, func(c *triage.Config) {
			c.Libraries = map[triage.ResourceType]triage.Library{
				triage.ResourceCall: library{"c": {Lines: []triage.Line{{Agent: true, Text: "Goodbye."}}}},
			}
		})
		issue := s.issue(triage.Draft{})
		s.attach(issue.ID, "c", "gone")
		sess, err := s.Analyze(t.Context(), "acme", ada, issue.ID, "Why does it hang up?")
		if err != nil || sess.Status != triage.SessionPending || sess.AgentName != a.Name() || sess.StartedBy != ada {
			t.Fatalf("the session is %+v, %v", sess, err)
		}
		s.works()
		synctest.Wait()
		told := s.wantTold(sess, triage.SessionComplete, triage.TypeAction, triage.TypeAction, triage.TypeThought, triage.TypeArtifact,
			triage.TypeResponse, triage.TypeSessionStopped)
		if told[1].Detail != "Why does it hang up?" || told[1].Actor != ada || !strings.Contains(told[2].Detail, "it is gone") {
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

// TestAnalysisSees: the Analyst gets what it left, and what is attached; nothing else can be read.
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
		p.State = json.RawMessage(fmt.Sprintf(`{"taken":%d}`, c.Taken))
		return p, nil
	}), func(c *triage.Config) {
		c.Libraries = map[triage.ResourceType]triage.Library{
			triage.ResourceCall: library{"c": {Facts: map[string]any{"status": "failed"}}, "not attached": {}},
		}
	})
	issue := s.issue(triage.Draft{Description: "It fails."})
	s.attach(issue.ID, "c", "gone")
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
		string(seen[1].State) != `{"taken":0}` || seen[1].Taken != 1 || seen[1].Attempt != 1 {
		t.Errorf("it saw %+v", seen)
	}
	told := s.wantTold(sess, triage.SessionActive, triage.TypeThought, triage.TypeThought)
	if told[1].Detail == "" {
		t.Error("the usual prompt is not told")
	}
}

// TestAnalysisOnce: a step that runs again, also at once and on another node, is written once, and so is the one after it.
func TestAnalysisOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const nodes = 4
		var together sync.WaitGroup
		together.Add(nodes)
		ann := taking(func(_ context.Context, c triage.Case) (triage.Progress, error) {
			if c.Taken == 0 {
				together.Done()
				together.Wait()
			}
			return thinks(fmt.Sprintf("step %d", c.Taken), triage.SessionActive), nil
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

// dying is a unit of work that fails, as often as it is told, after all was done in it.
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

// TestAnalysisKilled: what dies between an answer and its commit leaves nothing behind, and goes on when it is run again.
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

// TestAnalysisFails: what fails is tried again, and then said.
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

// TestAnalysisWaits: a model that is busy is waited for, which is no attempt, but not for ever.
func TestAnalysisWaits(t *testing.T) {
	t.Parallel()
	busy := &callwright.Error{Code: callwright.CodeUnavailable, Message: "busy", RetryAfter: 20 * time.Minute}
	s := openStudy(t, taking(func(context.Context, triage.Case) (triage.Progress, error) { return triage.Progress{}, busy }))
	sess := s.analyze("")
	for _, want := range []time.Duration{20 * time.Minute, 20 * time.Minute, 15 * time.Minute} {
		s.clock.move(15 * time.Minute)
		err := s.step(t.Context(), sess, 0, 3)
		if wait, _ := callwright.RetryAfter(err); wait != want {
			t.Errorf("it is to wait for %s, want %s: %v", wait, want, err)
		}
	}
	s.wantTold(sess, triage.SessionPending)
	s.clock.move(15 * time.Minute)
	if err := s.step(t.Context(), sess, 0, 1); err != nil {
		t.Fatal(err)
	}
	if told := s.wantTold(sess, triage.SessionError, triage.TypeError, triage.TypeSessionStopped); !strings.Contains(told[2].Detail, "longer than") {
		t.Errorf("told is %+v", told[2])
	}
}

// TestAnalysisEnds: one that comes to no end, or whose steps end with their nodes, is ended.
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

// TestAnalysisCutOff: a node that stops says nothing in the feed, and another goes on.
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

// TestAnalysisTooSlow: a step that takes too long is cut off.
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

// TestAnalysisCancelled: a step whose session is ended, here or on another node, ends within a second and writes nothing.
func TestAnalysisCancelled(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(ctx context.Context, s *triage.Service, sess triage.Session) error{
		"cancelled": func(ctx context.Context, s *triage.Service, sess triage.Session) error {
			_, err := s.Cancel(ctx, "acme", bob, sess.IssueID, sess.ID, "enough")
			return err
		},
		"merged": func(ctx context.Context, s *triage.Service, sess triage.Session) error {
			into, err := s.Create(ctx, "acme", bob, triage.Draft{Title: "Another"})
			if err == nil {
				_, err = s.Merge(ctx, "acme", bob, sess.IssueID, into.ID)
			}
			return err
		},
	} {
		for _, ignores := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, ignored %t", name, ignores), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					memory := memstore.New()
					other := openOver(t, memory, systemClock)
					var sess triage.Session
					s := openStudyOver(t, memory, taking(func(ctx context.Context, _ triage.Case) (triage.Progress, error) {
						if err := end(t.Context(), other.Service, sess); err != nil {
							t.Error(err)
						}
						began := time.Now()
						if !ignores {
							<-ctx.Done()
						}
						if took := time.Since(began); took > time.Second {
							t.Errorf("it is cancelled after %s", took)
						}
						return thinks("hm", triage.SessionActive), nil
					}), systemClock)
					sess = s.analyze("")
					if err := s.step(t.Context(), sess, 0, 1); err == nil {
						t.Error("the step is done")
					}
					if err := s.step(t.Context(), sess, 0, 1); err != nil {
						t.Error(err)
					}
					s.wantTold(sess, triage.SessionCancelled, triage.TypeSessionStopped)
				})
			})
		}
	}
}

// TestAnalysisAsks: while people are asked nothing is queued and no time counts; their answer has it go on.
func TestAnalysisAsks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []triage.Case
		s := openStudy(t, taking(func(_ context.Context, c triage.Case) (triage.Progress, error) {
			seen = append(seen, c)
			if len(c.Answers) > 0 {
				return thinks("I see", triage.SessionComplete), nil
			}
			time.Sleep(time.Second)
			return triage.Progress{
				Steps: []triage.Step{{Type: triage.TypeResponse, Detail: "Since when?"}}, State: json.RawMessage(`"asked"`),
				Next: triage.SessionAwaitingInput,
			}, nil
		}), systemClock)
		s.works()
		sess := s.analyze("")
		time.Sleep(6 * 24 * time.Hour)
		s.wantTold(sess, triage.SessionAwaitingInput, triage.TypeResponse)
		if len(seen) != 1 {
			t.Errorf("it was asked %d times", len(seen))
		}
		if e, err := s.Answer(t.Context(), "acme", bob, sess.IssueID, sess.ID, "Since Monday."); err != nil || e.Type != triage.TypePrompt {
			t.Fatalf("the answer is %+v, %v", e, err)
		}
		synctest.Wait()
		told := s.wantTold(sess, triage.SessionComplete, triage.TypeResponse, triage.TypePrompt, triage.TypeThought, triage.TypeSessionStopped)
		if told[3].Actor != bob || told[3].Session.Status != triage.SessionActive || len(seen) != 2 ||
			!slices.Equal(seen[1].Answers, []string{"Since Monday."}) || string(seen[1].State) != `"asked"` {
			t.Errorf("told is %+v, seen was %+v", told, seen)
		}
	})
}

// TestAnalysisIsInterrupted: what a person says while a step runs is known to it: it begins again, and is written once.
func TestAnalysisIsInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []triage.Case
		s := openStudy(t, taking(func(ctx context.Context, c triage.Case) (triage.Progress, error) {
			seen = append(seen, c)
			if len(c.Answers) == 0 {
				<-ctx.Done()
				return triage.Progress{}, ctx.Err()
			}
			return thinks("I see", triage.SessionComplete), nil
		}), systemClock)
		s.works()
		sess := s.analyze("")
		synctest.Wait()
		if _, err := s.Answer(t.Context(), "acme", bob, sess.IssueID, sess.ID, "By the way"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		s.wantTold(sess, triage.SessionComplete, triage.TypePrompt, triage.TypeThought, triage.TypeSessionStopped)
		if len(seen) != 2 || seen[1].Attempt != 1 {
			t.Errorf("seen was %+v", seen)
		}
	})
}

// TestAnalysisAnswers: it is given so many answers, and no more.
func TestAnalysisAnswers(t *testing.T) {
	t.Parallel()
	s := openStudy(t, taking(nil))
	sess := s.analyze("")
	for range 20 {
		if _, err := s.Answer(t.Context(), "acme", bob, sess.IssueID, sess.ID, strings.Repeat("x", triage.MaxPrompt)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Answer(t.Context(), "acme", bob, sess.IssueID, sess.ID, "And")
	wantError(t, err, callwright.CodeInvalidState, "")
	if got := s.session(sess); len(got.Analysis.Answers) != 20 {
		t.Errorf("it was given %d answers", len(got.Analysis.Answers))
	}
}

// TestAnalysisOfNothing: tasks of what is gone, or was never there, are done.
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
	for _, key := range []string{"", "a/b", "a/b/c", "a/b/1/2"} {
		if err := s.desk.handlers["triage.analyze"](t.Context(), callwright.Task{Org: "acme", Key: key}, 1); err == nil {
			t.Errorf("%q names a step", key)
		}
	}
}
