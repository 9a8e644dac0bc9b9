package agenttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

func TestRunPasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.told.down = 2
		sc := l.scenario()
		l.run(l.Service)
		started := l.start(sc, run.Request{Webhook: "https://example.com/hook", Override: map[string]any{"plan": "gold"}})
		if started.State != run.Pending || started.Version != 1 {
			t.Errorf("started %+v", started)
		}
		settled()
		got := l.get(started.ID)
		if got.State != run.Passed || *got.Result.Score != 1 || got.Attempt != 1 || got.Result.Turns != 1 || got.EndedAt.IsZero() {
			t.Fatalf("got %+v", got)
		}
		turns := got.Outcome.Evidence.Turns
		if len(turns) != 3 || turns[2].Text != "Paid. Goodbye." || got.Outcome.Evidence.Graph["paid"].Name != "Paid" {
			t.Errorf("the evidence is %+v", got.Outcome.Evidence)
		}
		if v := l.agent.Started()[0].Variables; v["plan"] != "gold" {
			t.Errorf("the agent got %v", v)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(l.told.runs) != 1 || len(l.told.failed) != 0 {
			t.Errorf("told %d ends, %d failures", len(l.told.runs), len(l.told.failed))
		}
		page, err := l.ListScenarios(t.Context(), org, agenttest.ScenarioFilter{}, 0)
		if err != nil || len(page.Items) != 1 || page.Items[0].Recent == nil || page.Items[0].Recent.ID != got.ID {
			t.Errorf("listed %+v, %v", page, err)
		}
	})
}

func TestRunFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		sc := l.scenario(failing)
		l.run(l.Service)
		r := l.start(sc, run.Request{})
		settled()
		got := l.get(r.ID)
		if got.State != run.Failed || got.Result.Failure == nil || got.Result.Failure.Assertion != sc.Assertions[1].ID || *got.Result.Score != 0.5 {
			t.Fatalf("got %+v", got)
		}
		if len(l.told.failed) != 1 || l.told.failed[0].ID != r.ID {
			t.Errorf("told %+v", l.told.failed)
		}
	})
}

// TestSnapshot checks that a run tests the scenario in the state at the run's creation.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		sc := l.scenario()
		r := l.start(sc, run.Request{})
		worse := sc
		failing(&worse)
		if _, err := l.UpdateScenario(t.Context(), org, sc.ID, scenario.Patch{Assertions: callwright.Given(worse.Assertions)}); err != nil {
			t.Fatal(err)
		}
		l.run(l.Service)
		settled()
		if got := l.get(r.ID); got.State != run.Passed {
			t.Errorf("got %s", got.State)
		}
	})
}

func TestBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		good, bad := l.scenario(), l.scenario(failing)
		l.run(l.Service)
		b, runs, err := l.StartBatch(t.Context(), org, group.BatchRequest{
			Scenarios: []string{good.ID, bad.ID}, Webhook: "https://example.com/", Trigger: group.ByAPI,
		})
		if err != nil || len(runs) != 2 || b.State != run.Pending {
			t.Fatalf("got %+v, %v", b, err)
		}
		settled()
		got, runs, err := l.GetBatch(t.Context(), org, b.ID)
		if err != nil || got.State != run.Failed || got.Counts != (group.Counts{Passed: 1, Failed: 1}) || len(runs) != 2 {
			t.Errorf("got %+v, %v", got, err)
		}
		if len(l.told.batches) != 1 || l.told.batches[0].State != run.Failed {
			t.Errorf("told %+v", l.told.batches)
		}
	})
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	sc := l.scenario()
	ten, none := 10, 0
	for name, tt := range map[string]struct {
		start func() error
		code  callwright.Code
		field string
	}{
		"another organization's": {func() error {
			_, err := l.StartRun(t.Context(), "other", sc.ID, run.Request{})
			return err
		}, callwright.CodeNotFound, ""},
		"a version that is not there": {func() error {
			_, err := l.StartRun(t.Context(), org, sc.ID, run.Request{Version: &ten})
			return err
		}, callwright.CodeNotFound, "version_number"},
		"the draft": {func() error {
			_, err := l.StartRun(t.Context(), org, sc.ID, run.Request{Version: &none})
			return err
		}, callwright.CodeBadRequest, "version_number"},
		"a forbidden webhook": {func() error {
			_, err := l.StartRun(t.Context(), org, sc.ID, run.Request{Webhook: "https://forbidden.example/"})
			return err
		}, callwright.CodeBadRequest, "webhook_url"},
		"no scenario": {func() error {
			_, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{})
			return err
		}, callwright.CodeBadRequest, "scenario_ids"},
		"a scenario twice": {func() error {
			_, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{sc.ID, sc.ID}})
			return err
		}, callwright.CodeBadRequest, "scenario_ids[1]"},
		"one absent scenario": {func() error {
			_, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{sc.ID, "gone"}})
			return err
		}, callwright.CodeNotFound, "scenario_ids[1]"},
		"no simulations": {func() error {
			_, err := l.StartSet(t.Context(), org, group.SetRequest{Scenarios: []string{sc.ID}})
			return err
		}, callwright.CodeBadRequest, "simulations_per_scenario"},
	} {
		err := tt.start()
		e, ok := errors.AsType[*callwright.Error](err)
		if !ok || e.Code != tt.code || e.Field != tt.field {
			t.Errorf("%s: got %v (%s), want %s in %q", name, err, callwright.CodeOf(err), tt.code, tt.field)
		}
	}
	if _, total, err := l.ListRuns(t.Context(), org, run.Filter{}); err != nil || total != 0 {
		t.Errorf("what was refused has left %d runs, %v", total, err)
	}
}

// TestSimulationSet checks a set with more runs than one transaction creates.
func TestSimulationSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		ids := []string{l.scenario().ID, l.scenario(failing).ID, l.scenario().ID}
		stop := l.run(l.Service)
		b, err := l.StartSet(t.Context(), org, group.SetRequest{Scenarios: ids, Simulations: group.MaxSimulations})
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			settled()
		}
		stop()
		got, err := l.cfg.Store.Batch(t.Context(), org, b.ID)
		if err != nil || got.State != run.Passed || got.Counts != (group.Counts{Passed: 400, Failed: 200}) {
			t.Errorf("got %+v, %v", got, err)
		}
		if len(l.told.failed) != 0 {
			t.Errorf("a set has told %d failures one by one", len(l.told.failed))
		}
	})
}

// TestConcurrency checks that an organization does not exceed its maximum of concurrent runs, regardless of the number of waiting runs.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var now, most atomic.Int64
		l.agent.Answer = func(_ context.Context, turn int, _ engine.CallerTurn) (engine.AgentTurn, error) {
			if turn == 0 {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
			}
			return engine.AgentTurn{Text: "Goodbye.", Ended: turn > 0}, nil
		}
		sc, second := l.scenario(), l.another()
		l.run(l.Service)
		l.run(second)
		if _, err := l.StartSet(t.Context(), org, group.SetRequest{Scenarios: []string{sc.ID}, Simulations: 50}); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			settled()
		}
		if most.Load() != run.DefaultPerOrg {
			t.Errorf("%d runs went on at once, want %d", most.Load(), run.DefaultPerOrg)
		}
		if n, err := l.cfg.Store.CountRuns(t.Context(), org, run.Filter{States: []run.State{run.Pending, run.Running}}); n != 0 || err != nil {
			t.Errorf("%d runs are left, %v", n, err)
		}
	})
}

// hang answers the first turn, and blocks in the second until ctx is done.
func hang(ctx context.Context, turn int, _ engine.CallerTurn) (engine.AgentTurn, error) {
	if turn == 0 {
		return engine.AgentTurn{Text: "Hello."}, nil
	}
	<-ctx.Done()
	return engine.AgentTurn{}, ctx.Err()
}

func TestCancelSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.agent.Answer = hang
		sc := l.scenario()
		l.run(l.Service)
		b, err := l.StartSet(t.Context(), org, group.SetRequest{Scenarios: []string{sc.ID}, Simulations: 20})
		if err != nil {
			t.Fatal(err)
		}
		settled()
		if err := l.CancelSet(t.Context(), org, b.ID); err != nil {
			t.Fatal(err)
		}
		settled()
		got, err := l.cfg.Store.Batch(t.Context(), org, b.ID)
		if err != nil || got.State != run.Cancelled || got.Counts.Cancelled != 20 {
			t.Fatalf("got %+v, %v", got, err)
		}
		runs, _, err := l.ListRuns(t.Context(), org, run.Filter{States: []run.State{run.Cancelled}})
		if err != nil || len(runs) != 20 {
			t.Fatalf("%d runs are cancelled, %v", len(runs), err)
		}
		said := 0
		for _, r := range runs {
			if r := l.get(r.ID); r.Outcome != nil && len(r.Outcome.Evidence.Turns) > 0 {
				said++
			}
		}
		if said != run.DefaultPerOrg {
			t.Errorf("%d cancelled runs keep what was said, want %d", said, run.DefaultPerOrg)
		}
		if err := l.CancelSet(t.Context(), org, b.ID); !errors.Is(err, callwright.ErrInvalidState) {
			t.Errorf("a second time gave %v", err)
		}
	})
}

// TestNodeStops checks that another node resumes the runs of a node that stops.
func TestNodeStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.agent.Answer = hang
		r, second := l.start(l.scenario(), run.Request{}), l.another()
		stop := l.run(l.Service)
		settled()
		if got := l.get(r.ID); got.State != run.Running || got.Attempt != 1 {
			t.Fatalf("got %+v", got)
		}
		stop()
		if got := l.get(r.ID); got.State != run.Running || got.Node != "" {
			t.Fatalf("got %+v", got)
		}
		l.agent.Answer = nil
		l.run(second)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := l.get(r.ID); got.State != run.Passed || got.Attempt != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

// TestPanic checks that a panic of an agent or a judge makes the run an error, and that the service continues.
func TestPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		sc := l.scenario()
		l.agent.Answer = func(context.Context, int, engine.CallerTurn) (engine.AgentTurn, error) { panic("broken") }
		l.run(l.Service)
		r := l.start(sc, run.Request{})
		settled()
		if got := l.get(r.ID); got.State != run.Error || got.Result.Error != "internal error" {
			t.Errorf("got %s: %q", got.State, got.Result.Error)
		}
		l.agent.Answer = nil
		r = l.start(l.scenario(func(sc *scenario.Scenario) {
			sc.Assertions[0] = assert.Assertion{Type: assert.LLMJudge, Config: json.RawMessage(`{"prompt":"Is it polite?"}`), Weight: 1}
		}), run.Request{})
		settled()
		if got := l.get(r.ID); got.State != run.Error || got.Result.Error != "internal error" {
			t.Errorf("a judge that panics gave %s: %q", got.State, got.Result.Error)
		}
	})
}

func TestGate(t *testing.T) {
	t.Parallel()
	agentstest.RunGate(t, func(t *testing.T) agentstest.GateHarness {
		t.Helper()
		l := newLab(t)
		return agentstest.GateHarness{
			Gate: l.Service,
			Require: func(t *testing.T, of callwright.OrgID, id string) {
				t.Helper()
				sc := requiredScenario(id)
				if _, err := l.CreateScenario(t.Context(), of, sc); err != nil {
					t.Fatal(err)
				}
			},
			Finish: l.endTest,
		}
	})
}

// TestGateAfterACancelledBatch checks that a canceled batch does not decide the gate, unless a required scenario has failed in it.
func TestGateAfterACancelledBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		sc := l.scenario(required)
		version := pathway.Candidate{Pathway: "p1", Number: 2, Hash: "h", Start: true}
		check := func(want pathway.GateState) pathway.Verdict {
			t.Helper()
			v, err := l.Check(t.Context(), org, version)
			if err != nil || v.State != want {
				t.Fatalf("got %+v, %v, want %s", v, err, want)
			}
			return v
		}
		first := check(pathway.GateRunning)
		if err := l.CancelBatch(t.Context(), org, first.Batch); err != nil {
			t.Fatal(err)
		}
		l.run(l.Service)
		settled()
		if second := check(pathway.GateRunning); second.Batch == first.Batch {
			t.Error("the batch that was cancelled still decides")
		}
		settled()
		passed := check(pathway.GateOpen)
		b, runs, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{sc.ID}, Version: &version.Number})
		if err != nil {
			t.Fatal(err)
		}
		settled()
		r, kept := l.get(runs[0].ID), check(pathway.GateOpen)
		if b, _, err = l.GetBatch(t.Context(), org, b.ID); err != nil || kept.Batch == passed.Batch {
			t.Fatalf("%+v decides, %v", kept, err)
		}
		r.State, b.State = run.Failed, run.Cancelled
		if err := errors.Join(l.cfg.Store.UpdateRuns(t.Context(), []run.Run{r}), l.cfg.Store.UpdateBatch(t.Context(), b)); err != nil {
			t.Fatal(err)
		}
		if v := check(pathway.GateClosed); v.Batch != b.ID {
			t.Errorf("%+v decides", v)
		}
	})
}

// requiredScenario returns a scenario that is required for promotion.
func requiredScenario(id string) scenario.Scenario {
	sc := scenario.Scenario{Pathway: id, Name: "pays", Enabled: true, CallerPrompt: "You pay."}
	failing(&sc)
	required(&sc)
	return sc
}

// endTest ends the newest batch of a version by writing its result to the store. It starts a batch if none exists.
func (l *lab) endTest(t *testing.T, v pathway.Version, passed bool) {
	t.Helper()
	ctx := t.Context()
	verdict, err := l.Check(ctx, v.Org, pathway.Candidate{Pathway: v.Pathway, Number: v.Number, Hash: v.Hash, Start: true})
	if err != nil {
		t.Fatal(err)
	}
	b, runs, err := l.GetBatch(ctx, v.Org, verdict.Batch)
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		if runs[i].State = run.Failed; passed {
			runs[i].State = run.Passed
		}
	}
	if b.State = run.Failed; passed {
		b.State = run.Passed
	}
	if err := errors.Join(l.cfg.Store.UpdateRuns(ctx, runs), l.cfg.Store.UpdateBatch(ctx, b)); err != nil {
		t.Fatal(err)
	}
}

// TestPublishOnPass checks that a batch that passes publishes its version, if the gate permits it.
func TestPublishOnPass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.pathways.gate = l.Service
		inBatch, outside := l.scenario(required), l.scenario(required)
		two := 2
		l.run(l.Service)
		start := func(ids ...string) {
			t.Helper()
			_, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: ids, Version: &two, Publish: true})
			if err != nil {
				t.Fatal(err)
			}
			settled()
		}
		start(inBatch.ID)
		if len(l.pathways.published) != 0 {
			t.Errorf("published %v, though a required scenario was not in the batch", l.pathways.published)
		}
		start(inBatch.ID, outside.ID)
		if len(l.pathways.published) != 1 || l.pathways.published[0] != 2 || len(l.pathways.settled) != 2 {
			t.Errorf("published %v, settled %v", l.pathways.published, l.pathways.settled)
		}
		// Meanwhile, another version has been published.
		if _, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{inBatch.ID, outside.ID}, Version: &two, Publish: true}); err != nil {
			t.Fatal(err)
		}
		l.pathways.mu.Lock()
		l.pathways.production = 3
		l.pathways.mu.Unlock()
		settled()
		if len(l.pathways.published) != 1 {
			t.Errorf("published %v over a newer version", l.pathways.published)
		}
		// A changed scenario counts as not passed until it is tested again.
		if _, err := l.UpdateScenario(t.Context(), org, outside.ID, scenario.Patch{MaxTurns: callwright.Given(3)}); err != nil {
			t.Fatal(err)
		}
		if v, err := l.Check(t.Context(), org, pathway.Candidate{Pathway: "p1", Number: 2, Hash: "h"}); err != nil || v.State != pathway.GateClosed {
			t.Errorf("got %+v, %v", v, err)
		}
	})
}
