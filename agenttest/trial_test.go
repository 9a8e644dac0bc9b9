package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/tornado"
)

// unplayable makes a scenario end in an error: it needs a model as the caller, and the lab's model has no answers for this role.
func unplayable(sc *scenario.Scenario) { sc.Messages, sc.CallerPrompt = nil, "You want to pay." }

// trial returns a trial of version 2 of the pathway.
func trial(id string, runs int, scenarios ...string) tornado.Trial {
	return tornado.Trial{ID: id, Pathway: "p1", Version: 2, Scenarios: scenarios, Runs: runs}
}

// try executes a trial on a node, and fails the test if Try returns an error.
func (l *lab) try(s *agenttest.Service, t tornado.Trial) tornado.Tried {
	l.t.Helper()
	done, err := s.Try(l.t.Context(), org, t)
	if err != nil {
		l.t.Fatal(err)
	}
	return done
}

// runsOf returns the number of a group's runs.
func (l *lab) runsOf(group string) int {
	l.t.Helper()
	_, total, err := l.ListRuns(l.t.Context(), org, run.Filter{Batch: group})
	if err != nil {
		l.t.Fatal(err)
	}
	return total
}

// TestTry checks the tallies of trials that one node starts and another one executes, with one and with several runs of each scenario. A
// third node that resumes a trial must return the same tallies, without adding runs.
func TestTry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		second, third := l.another(), l.another()
		good, bad, broken := l.scenario(), l.scenario(failing), l.scenario(unplayable)
		l.run(second)
		for id, runs := range map[string]int{"once": 1, "thrice": 3} {
			of := trial(id, runs, bad.ID, broken.ID, good.ID)
			done := l.try(l.Service, of)
			b, err := l.cfg.Store.Batch(t.Context(), org, id)
			if err != nil || b.Trigger != group.ByTornado || b.Version != 2 || done.Usage != b.Usage || done.Spend != b.Spend {
				t.Errorf("the group is %+v, %v; the trial gave %+v", b, err, done)
			}
			if want := (tornado.Tally{Passed: runs, Score: 1}); done.Tallies[good.ID] != want {
				t.Errorf("%s: what passes is %+v", id, done.Tallies[good.ID])
			}
			if want := (tornado.Tally{Errors: runs}); done.Tallies[broken.ID] != want {
				t.Errorf("%s: what is in error is %+v", id, done.Tallies[broken.ID])
			}
			lost := done.Tallies[bad.ID]
			last := l.get(lost.Run)
			f := *last.Result.Failure
			want := tornado.Tally{Failed: runs, Score: 0.5, Run: last.ID, Mode: f.Key(), Reason: f.Reason}
			if lost != want || last.Batch != id || f.Reason == "" || !strings.HasPrefix(f.Key(), bad.Assertions[1].ID) {
				t.Errorf("%s: what fails is %+v, want %+v", id, lost, want)
			}
			if again := l.try(third, of); !reflect.DeepEqual(again, done) || l.runsOf(id) != 3*runs {
				t.Errorf("%s: once more it is %+v, and there are %d runs", id, again, l.runsOf(id))
			}
		}
		settled()
		if l.told.failed != nil || l.told.modes != nil || l.told.runs != nil || l.told.batches != nil || l.pathways.settled != nil {
			t.Errorf("told %+v, settled %v", l.told, l.pathways.settled)
		}
		a, err := l.BasicAnalytics(t.Context(), org, agenttest.AnalyticsQuery{Pathway: "p1", Scripted: true})
		if err != nil || a.About.Total != 0 {
			t.Errorf("analytics count %+v, %v", a.About, err)
		}
		if c, err := l.Case(t.Context(), org, l.failedRun("once")); err != nil || c.Scenario.ID != bad.ID || c.Outcome.Blame != "" {
			t.Errorf("the case is %+v, %v", c, err)
		}
	})
}

// failedRun returns the id of a failed run of a group. It fails the test if the group contains none.
func (l *lab) failedRun(group string) string {
	l.t.Helper()
	runs, _, err := l.ListRuns(l.t.Context(), org, run.Filter{Batch: group, States: []run.State{run.Failed}})
	if err != nil || len(runs) == 0 {
		l.t.Fatalf("no run of %s has failed, %v", group, err)
	}
	return runs[0].ID
}

// TestTryIsInterrupted checks that a trial can be resumed after the death of its node, even if not all runs were created.
func TestTryIsInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		second := l.another()
		of := trial("t", 5, l.scenario(failing).ID)
		dying, die := context.WithCancelCause(t.Context())
		died := errors.New("the node dies")
		time.AfterFunc(time.Minute, func() { die(died) })
		if done, err := l.Try(dying, org, of); !errors.Is(err, died) || done.Tallies != nil {
			t.Fatalf("got %+v, %v", done, err)
		}
		if n := l.runsOf("t"); n != 1 {
			t.Errorf("%d runs are created", n)
		}
		l.run(second)
		if done := l.try(second, of); done.Tallies[of.Scenarios[0]].Failed != 5 || l.runsOf("t") != 5 {
			t.Errorf("got %+v, and %d runs", done, l.runsOf("t"))
		}
	})
}

// TestTryOnTwoNodes checks that only one of two nodes starts a trial that both try concurrently, and that both wait for its end.
func TestTryOnTwoNodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		of := trial("t", 1, l.scenario().ID)
		store := &meeting{Store: l.cfg.Store, missed: [2]chan struct{}{make(chan struct{}), make(chan struct{})}}
		l.cfg.Store = store
		l.Service = l.another()
		second := l.another()
		l.run(second)
		var other tornado.Tried
		var err error
		met := make(chan struct{})
		go func() { other, err = second.Try(t.Context(), org, of); close(met) }()
		done := l.try(l.Service, of)
		<-met
		if err != nil || !reflect.DeepEqual(done, other) || done.Tallies[of.Scenarios[0]].Passed != 1 || l.runsOf("t") != 1 {
			t.Errorf("got %+v and %+v, %v; %d runs", done, other, err, l.runsOf("t"))
		}
	})
}

// meeting is a store that releases its first four reads of a group in pairs, so that two nodes find concurrently that the group is absent.
type meeting struct {
	agenttest.Store

	asked  atomic.Int32
	missed [2]chan struct{}
}

func (s *meeting) Batch(ctx context.Context, of callwright.OrgID, id string) (group.Batch, error) {
	b, err := s.Store.Batch(ctx, of, id)
	if n := int(s.asked.Add(1)) - 1; n < 4 {
		if n%2 == 1 {
			close(s.missed[n/2])
		}
		<-s.missed[n/2]
	}
	return b, err
}

func TestTryRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.cfg.Personas = personas{}
		l.Service = l.another()
		l.run(l.Service)
		sc, other := l.scenario().ID, l.scenario().ID
		l.try(l.Service, trial("taken", 1, sc))
		l.try(l.Service, trial("set", 2, sc))
		b, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{sc}, Version: new(2)})
		if err != nil {
			t.Fatal(err)
		}
		ten := trial("new", 1, sc)
		ten.Version = 10
		elsewhere := trial("new", 1, sc)
		elsewhere.Pathway = "p2"
		for name, tt := range map[string]struct {
			of    tornado.Trial
			code  callwright.Code
			field string
		}{
			"other scenarios":         {trial("taken", 1, other), callwright.CodeConflict, ""},
			"more runs":               {trial("taken", 2, sc), callwright.CodeConflict, ""},
			"a batch by somebody":     {trial(b.ID, 1, sc), callwright.CodeConflict, ""},
			"no id":                   {trial("", 1, sc), callwright.CodeBadRequest, ""},
			"no runs":                 {trial("new", 0, sc), callwright.CodeBadRequest, ""},
			"too many runs":           {trial("new", 201, sc), callwright.CodeBadRequest, ""},
			"no scenario":             {trial("new", 1), callwright.CodeBadRequest, "scenario_ids"},
			"an absent scenario":      {trial("new", 1, sc, "gone"), callwright.CodeNotFound, "scenario_ids[1]"},
			"a scenario of a persona": {trial("new", 1, l.scenario(ofPersona("desk")).ID), callwright.CodeNotFound, "scenario_ids"},
			"an absent version":       {ten, callwright.CodeNotFound, "version_number"},
			"another pathway":         {elsewhere, callwright.CodeNotFound, "scenario_ids"},
		} {
			done, err := l.Try(t.Context(), org, tt.of)
			if callwright.CodeOf(err) != tt.code || fieldOf(err) != tt.field || done.Tallies != nil {
				t.Errorf("%s: %+v, %v", name, done, err)
			}
		}
		if n := l.runsOf("new"); n != 0 {
			t.Errorf("what was refused has %d runs", n)
		}
	})
}

// shy is a store that fails for a while. Its next reads of groups and of their runs, as many as away, return ErrUnavailable. Its next calls
// of CountUnended, as many as full, return run.MaxPending, as if the organization were at its limit.
type shy struct {
	agenttest.Store

	away, full atomic.Int32
}

func (s *shy) Batch(ctx context.Context, of callwright.OrgID, id string) (group.Batch, error) {
	if s.away.Add(-1) >= 0 {
		return group.Batch{}, callwright.ErrUnavailable
	}
	return s.Store.Batch(ctx, of, id)
}

func (s *shy) FindRuns(ctx context.Context, of callwright.OrgID, f run.Filter) ([]run.Run, error) {
	if f.Batch != "" && s.away.Add(-1) >= 0 {
		return nil, callwright.ErrUnavailable
	}
	return s.Store.FindRuns(ctx, of, f)
}

func (s *shy) CountUnended(ctx context.Context, of callwright.OrgID) (int, error) {
	if s.full.Add(-1) >= 0 {
		return run.MaxPending, nil
	}
	return s.Store.CountUnended(ctx, of)
}

// TestTryWaits checks that a trial waits, until its context is done, while the database is unavailable or the organization is at its limit
// of runs.
func TestTryWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		store := &shy{Store: l.cfg.Store}
		second := l.another()
		l.cfg.Store = store
		l.Service = l.another()
		l.run(second)
		of := trial("t", 1, l.scenario().ID)
		for name, left := range map[string]*atomic.Int32{"away": &store.away, "full": &store.full} {
			of.ID = name
			left.Store(20)
			began := time.Now()
			if done := l.try(l.Service, of); done.Tallies[of.Scenarios[0]].Passed != 1 || time.Since(began) < 10*time.Second {
				t.Errorf("%s: got %+v after %s", name, done, time.Since(began))
			}
			of.ID = name + " for ever"
			left.Store(1 << 30)
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			if _, err := l.Try(ctx, org, of); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s for ever: %v", name, err)
			}
			cancel()
			left.Store(0)
		}
	})
}

// TestStopTrial checks that the runs of a stopped trial count as errors, including runs that were never created.
func TestStopTrial(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		sc := l.scenario().ID
		manual, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{sc}})
		if err != nil {
			t.Fatal(err)
		}
		for i, of := range []tornado.Trial{trial("once", 1, sc), trial("often", 9, sc)} {
			time.AfterFunc(time.Minute, func() {
				if err := l.StopTrial(t.Context(), org, of.ID); err != nil {
					t.Error(err)
				}
				if i == 0 {
					l.until(l.work.Run)
				}
			})
			if want, done := (tornado.Tally{Errors: of.Runs}), l.try(l.Service, of); done.Tallies[sc] != want {
				t.Errorf("%s: got %+v", of.ID, done)
			}
		}
		for _, id := range []string{"once", "absent", manual.ID} {
			if err := l.StopTrial(t.Context(), org, id); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		if b, _, err := l.GetBatch(t.Context(), org, manual.ID); err != nil || b.Cancel {
			t.Errorf("a batch that is no trial is %+v, %v", b, err)
		}
	})
}

// TestGateIgnoresTrials checks that a trial, passed or failed, does not change the gate's verdict on a version.
func TestGateIgnoresTrials(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		sc := l.scenario(required)
		l.run(l.Service)
		version := pathway.Candidate{Pathway: "p1", Number: 2, Hash: "h"}
		check := func(want pathway.GateState) {
			t.Helper()
			if v, err := l.Check(t.Context(), org, version); err != nil || v.State != want {
				t.Errorf("got %+v, %v, want %s", v, err, want)
			}
		}
		if done := l.try(l.Service, trial("passes", 1, sc.ID)); done.Tallies[sc.ID].Passed != 1 {
			t.Fatalf("got %+v", done)
		}
		check(pathway.GateClosed)
		if _, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{sc.ID}, Version: &version.Number}); err != nil {
			t.Fatal(err)
		}
		settled()
		check(pathway.GateOpen)
		l.agent.Turns = l.agent.Turns[:1]
		if done := l.try(l.Service, trial("fails", 1, sc.ID)); done.Tallies[sc.ID].Failed != 1 {
			t.Fatalf("got %+v", done)
		}
		check(pathway.GateOpen)
	})
}

func TestSuite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.cfg.Personas = personas{}
		l.Service = l.another()
		off := func(sc *scenario.Scenario) { sc.Enabled = false }
		var all []tornado.Scenario
		var ids []string
		for i, change := range []func(*scenario.Scenario){required, failing} {
			time.Sleep(time.Second)
			sc := l.scenario(change)
			ids, all = append(ids, sc.ID), append(all, tornado.Scenario{ID: sc.ID, Required: i == 0})
		}
		disabled, foreign := l.scenario(off, required).ID, l.scenario(ofPersona("desk")).ID
		for name, tt := range map[string]struct {
			pathway, persona string
			ids              []string
			want             []tornado.Scenario
			code             callwright.Code
			field            string
		}{
			"the enabled ones":        {"p1", "", nil, all, "", ""},
			"with a persona":          {"p1", "desk", nil, all, "", ""},
			"a persona without any":   {"p1", "new", nil, all, "", ""},
			"named ones":              {"p1", "", []string{ids[1], disabled}, []tornado.Scenario{all[1], {ID: disabled}}, "", ""},
			"an absent persona":       {"p1", "gone", nil, nil, callwright.CodeNotFound, "persona_id"},
			"an absent scenario":      {"p1", "", []string{ids[0], "gone"}, nil, callwright.CodeNotFound, "scenario_ids"},
			"a scenario of a persona": {"p1", "", []string{foreign}, nil, callwright.CodeNotFound, "scenario_ids"},
			"a scenario twice":        {"p1", "", []string{ids[0], ids[0]}, nil, callwright.CodeBadRequest, "scenario_ids"},
			"no scenario":             {"p2", "", nil, nil, callwright.CodeBadRequest, "scenario_ids"},
			"too many ids":            {"p1", "", make([]string, 51), nil, callwright.CodeBadRequest, "scenario_ids"},
		} {
			got, err := l.Suite(t.Context(), org, tt.pathway, tt.persona, tt.ids)
			if fmt.Sprint(got) != fmt.Sprint(tt.want) || callwright.CodeOf(err) != tt.code || fieldOf(err) != tt.field {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
		if got, err := l.Suite(t.Context(), "other", "p1", "", ids); callwright.CodeOf(err) != callwright.CodeNotFound {
			t.Errorf("another's: %+v, %v", got, err)
		}
		for range tornado.MaxScenarios {
			ids = append(ids, l.scenario().ID)
		}
		if got, err := l.Suite(t.Context(), org, "p1", "", nil); callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("of too many: %d, %v", len(got), err)
		}
		if got, err := l.Suite(t.Context(), org, "p1", "", ids[2:]); err != nil || len(got) != tornado.MaxScenarios || got[49].ID != ids[51] {
			t.Errorf("of the most: %d, %v", len(got), err)
		}
	})
}

// TestCase checks the input for the analysis of a failed run, and that a passed run and an absent run have none.
func TestCase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		archived := false
		l.cfg.Documents = documents{&archived}
		l.Service = l.another()
		l.run(l.Service)
		lost, passed := l.start(l.scenario(failing), run.Request{}), l.start(l.scenario(), run.Request{})
		settled()
		c, err := l.Case(t.Context(), org, lost.ID)
		if err != nil || len(c.Nodes) != 2 || c.Scenario.ID != lost.Scenario || len(c.Outcome.Results) != 2 {
			t.Errorf("got %+v, %v", c, err)
		}
		for id, code := range map[string]callwright.Code{passed.ID: callwright.CodeInvalidState, "gone": callwright.CodeNotFound} {
			if c, err := l.Case(t.Context(), org, id); callwright.CodeOf(err) != code || !reflect.DeepEqual(c, analysis.Case{}) {
				t.Errorf("got %+v, %v", c, err)
			}
		}
	})
}
