package bench_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	sqlagents "github.com/callwright/callwright/adapters/bunstore/agentstore"
	sqltests "github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/adapters/bunstore/riverwork"
	"github.com/callwright/callwright/adapters/memstore"
	memagents "github.com/callwright/callwright/adapters/memstore/agentstore"
	memtests "github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/judge"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/runner"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/node"
)

const testedOrg callwright.OrgID = "bench"

// tested is the fixture of the benchmarks of agent tests: the stores, a published pathway, and an engine with a scripted model.
type tested struct {
	store    agenttest.Store
	atomic   callwright.Atomic
	work     callwright.Work
	runWork  func(context.Context) error
	leases   node.Leases
	pathways *pathway.Service
	engine   *engine.Engine
	scenario scenario.Scenario
}

// stores lists the constructors of the fixture by store.
var stores = map[string]func(*testing.B, walk) *tested{"memory": inMemory, "sqlite": inSQLite}

// inMemory returns a fixture with stores in memory.
func inMemory(b *testing.B, w walk) *tested {
	b.Helper()
	store := memstore.New()
	work := memstore.NewWork(store, nil)
	t := &tested{
		store: memtests.Store{Store: store}, atomic: store, work: work, runWork: work.Run, leases: memstore.Leases{Store: store},
	}
	t.fill(b, w, memagents.Pathways{Store: store}, memagents.Chats{Store: store})
	return t
}

// inSQLite returns a fixture with SQLite in a file, and with the durable work of the reference server.
func inSQLite(b *testing.B, w walk) *tested {
	b.Helper()
	ring, err := callwright.NewKeyring("k", map[string][]byte{"k": make([]byte, 32)})
	if err != nil {
		b.Fatal(err)
	}
	db, err := bunstore.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "tests.db"), bunstore.Config{Keyring: ring})
	if err != nil {
		b.Fatal(err)
	}
	config := riverwork.Config{SQL: db.SQL(), Tx: db.Tx, Atomic: db}
	if err := riverwork.Migrate(b.Context(), config); err != nil {
		b.Fatal(err)
	}
	work, err := riverwork.New(config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	t := &tested{store: sqltests.Store{DB: db}, atomic: db, work: work, runWork: work.Run, leases: bunstore.Leases{DB: db}}
	t.fill(b, w, sqlagents.Pathways{DB: db}, sqlagents.Chats{DB: db})
	return t
}

// fill creates the pathway of a walk and publishes it, and creates the scenario and the engine.
func (t *tested) fill(b *testing.B, w walk, pathways pathway.Store, chats pathway.Chats) {
	b.Helper()
	var err error
	t.pathways, err = pathway.New(pathway.Config{
		Store: pathways, Chats: chats, Atomic: t.atomic, Work: t.work,
		Interpreter: &pathway.Interpreter{Model: scripted.New(), Requests: &agentstest.Requests{}},
	})
	if err != nil {
		b.Fatal(err)
	}
	p, err := t.pathways.Create(b.Context(), testedOrg, pathway.Draft{Name: "Bench"})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := t.pathways.StoreVersion(b.Context(), testedOrg, p.ID, "1", w.document); err != nil {
		b.Fatal(err)
	}
	if _, err := t.pathways.Publish(b.Context(), testedOrg, p.ID, pathway.Publication{Number: 1}); err != nil {
		b.Fatal(err)
	}
	t.scenario = w.scenario(p.ID)
	t.engine = t.newEngine(b, asked)
}

// asked is the scripted model of agents and judges. It passes every judged assertion.
var asked = scripted.New(scripted.Rule{
	Task: llm.TaskJudge, Answer: `{"evidence":[],"reasoning":"It does.","verdict":"pass","failure_code":null}`,
})

// paid hides that a model is llm.Repeatable. So journals store its answers, as if each of them cost something.
type paid struct{ llm.Model }

// newEngine returns an engine that runs pathways with a model.
func (t *tested) newEngine(b *testing.B, m llm.Model) *engine.Engine {
	b.Helper()
	agent, err := runner.New(runner.Config{Versions: t.pathways})
	if err != nil {
		b.Fatal(err)
	}
	e, err := engine.New(engine.Config{
		Runner: agent, Model: engine.NewLimiter(m, engine.LimiterConfig{}),
		Judge: func(m llm.Model) assert.Judge { return judge.New(m, judge.Config{}) },
	})
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// BenchmarkTestRun executes a run with the engine, the runner and the judge, without a service. "turns" evaluates no assertions, and "paid"
// stores the model's answers in the journal.
func BenchmarkTestRun(b *testing.B) {
	for _, w := range walks() {
		b.Run(w.name+"/turns", func(b *testing.B) { holdTest(b, w, asked, func(sc *scenario.Scenario) { sc.Assertions = nil }) })
		b.Run(w.name+"/run", func(b *testing.B) { holdTest(b, w, asked, func(*scenario.Scenario) {}) })
		b.Run(w.name+"/paid", func(b *testing.B) { holdTest(b, w, paid{asked}, func(*scenario.Scenario) {}) })
	}
}

func holdTest(b *testing.B, w walk, m llm.Model, change func(*scenario.Scenario)) {
	b.Helper()
	t, answers := inMemory(b, w), 0
	t.engine = t.newEngine(b, m)
	change(&t.scenario)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ReportAllocs()
	for b.Loop() {
		journal := &engine.MemoryJournal{}
		out, err := t.engine.Run(b.Context(), engine.Case{Run: "r", Scenario: t.scenario, Version: 1, Journal: journal})
		if err != nil || out.Verdict != engine.Passed || len(out.Turns) != 1+testTurns {
			b.Fatal(len(out.Turns), out.Verdict, out.Error, out.Results, err)
		}
		answers = journal.Len()
	}
	runtime.ReadMemStats(&after)
	turns := float64(b.N) * testTurns
	b.ReportMetric(float64(answers), "answers")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/turns, "allocs/turn")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1000/turns, "µs/turn")
}

// BenchmarkTestService executes simulation sets, from their start until all runs have ended and are counted. heap-MB is the largest heap in
// use, garbage included. Use -benchtime 1x to measure one set, because stores in memory hold all sets.
func BenchmarkTestService(b *testing.B) {
	for name, open := range stores {
		for _, runs := range []int{1000, 5000} {
			b.Run(fmt.Sprintf("%s/runs=%d", name, runs), func(b *testing.B) { holdSets(b, open(b, plainWalk()), asked, runs) })
		}
		b.Run(name+"/paid/runs=1000", func(b *testing.B) { holdSets(b, open(b, plainWalk()), paid{asked}, 1000) })
	}
}

func holdSets(b *testing.B, t *tested, m llm.Model, runs int) {
	b.Helper()
	s := t.start(b, t.newEngine(b, m))
	ids := t.scenarios(b, s, runs/200)
	heap, before := watchHeap(b), processorTime()
	b.ReportAllocs()
	for b.Loop() {
		set, err := s.StartSet(b.Context(), testedOrg, group.SetRequest{Scenarios: ids, Simulations: 200})
		if err != nil {
			b.Fatal(err)
		}
		if set = t.ended(b, set.ID); set.Counts.Passed != runs {
			b.Fatalf("of %d runs these have ended: %+v", runs, set.Counts)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N)/float64(runs), "ms/run")
	b.ReportMetric((processorTime()-before).Seconds()*1000/float64(b.N)/float64(runs), "cpu-ms/run")
	b.ReportMetric(float64(heap())/(1<<20), "heap-MB")
}

// start runs a service until the benchmark ends.
func (t *tested) start(b *testing.B, e *engine.Engine) *agenttest.Service {
	b.Helper()
	s, err := agenttest.New(agenttest.Config{
		Store: t.store, Atomic: t.atomic, Work: t.work, Leases: t.leases, Node: "n", Pathways: t.pathways, Engine: e,
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(ctx) })
	running.Go(func() { _ = t.runWork(ctx) })
	b.Cleanup(func() { cancel(); running.Wait() })
	return s
}

// scenarios creates n scenarios, and returns their ids.
func (t *tested) scenarios(b *testing.B, s *agenttest.Service, n int) []string {
	b.Helper()
	ids := make([]string, n)
	for i := range ids {
		sc := t.scenario
		sc.Name = fmt.Sprint("Books an inspection ", i)
		sc, err := s.CreateScenario(b.Context(), testedOrg, sc)
		if err != nil {
			b.Fatal(err)
		}
		ids[i] = sc.ID
	}
	return ids
}

// ended polls a simulation set until it has ended, and returns it.
func (t *tested) ended(b *testing.B, id string) group.Batch {
	b.Helper()
	for {
		set, err := t.store.Batch(b.Context(), testedOrg, id)
		if err != nil {
			b.Fatal(err)
		}
		if set.State.Ended() {
			return set
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// watchHeap samples the heap every 2 ms until the benchmark ends. The returned function returns the largest heap so far, in bytes.
func watchHeap(b *testing.B) (most func() uint64) {
	b.Helper()
	var mu sync.Mutex
	var peak uint64
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	look := func() {
		mu.Lock()
		defer mu.Unlock()
		metrics.Read(sample)
		peak = max(peak, sample[0].Value.Uint64()+sample[1].Value.Uint64())
	}
	ctx, cancel := context.WithCancel(b.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		for ctx.Err() == nil {
			look()
			time.Sleep(2 * time.Millisecond)
		}
	})
	b.Cleanup(func() { cancel(); watching.Wait() })
	return func() uint64 { look(); return peak }
}

// BenchmarkTestRescore scores pages of 200 runs again. It evaluates only the assertions that need no judge.
func BenchmarkTestRescore(b *testing.B) {
	for name, open := range stores {
		b.Run(name, func(b *testing.B) {
			t := open(b, plainWalk())
			s := t.start(b, t.engine)
			ids := t.scenarios(b, s, 1)
			set, err := s.StartSet(b.Context(), testedOrg, group.SetRequest{Scenarios: ids, Simulations: agenttest.MaxRescored})
			if err != nil {
				b.Fatal(err)
			}
			t.ended(b, set.ID)
			b.ReportAllocs()
			for b.Loop() {
				got, err := s.Rescore(b.Context(), testedOrg, ids[0], agenttest.RescoreRequest{Limit: agenttest.MaxRescored})
				if err != nil || got.Totals.Incomplete != agenttest.MaxRescored || got.Page.Items[0].Results[0].Outcome != assert.Passed {
					b.Fatal(got.Totals, err)
				}
			}
			b.ReportMetric(float64(b.N)*agenttest.MaxRescored/b.Elapsed().Seconds(), "runs/s")
		})
	}
}

// BenchmarkTestCancel cancels simulation sets of 1,000 runs while some runs wait for their model. ms-to-quiet is the time until no run is
// running, and ms-to-end is the time until the set has ended.
func BenchmarkTestCancel(b *testing.B) {
	for name, open := range stores {
		b.Run(name, func(b *testing.B) {
			t := open(b, plainWalk())
			slow := &slowModel{Model: scripted.New()}
			s := t.start(b, t.newEngine(b, slow))
			ids := t.scenarios(b, s, 5)
			var quiet, end time.Duration
			for b.Loop() {
				set, err := s.StartSet(b.Context(), testedOrg, group.SetRequest{Scenarios: ids, Simulations: 200})
				if err != nil {
					b.Fatal(err)
				}
				for slow.asked.Load() == 0 || t.running(b) < run.DefaultPerOrg {
					time.Sleep(time.Millisecond)
				}
				began := time.Now()
				if err := s.CancelSet(b.Context(), testedOrg, set.ID); err != nil {
					b.Fatal(err)
				}
				for t.running(b) > 0 {
					time.Sleep(time.Millisecond)
				}
				quiet += time.Since(began)
				t.ended(b, set.ID)
				end += time.Since(began)
			}
			b.ReportMetric(quiet.Seconds()*1000/float64(b.N), "ms-to-quiet")
			b.ReportMetric(end.Seconds()*1000/float64(b.N), "ms-to-end")
		})
	}
}

// slowModel is a model that never answers before ctx ends.
type slowModel struct {
	llm.Model

	asked atomic.Int64 // number of waiting questions
}

// Answer waits until ctx ends, and returns a transient failure.
func (m *slowModel) Answer(ctx context.Context, _ llm.Question) (llm.Answer, error) {
	m.asked.Add(1)
	defer m.asked.Add(-1)
	<-ctx.Done()
	return llm.Answer{}, &llm.Failure{Class: llm.ClassTransient, Message: "it is too late", Cause: ctx.Err()}
}

// running returns the number of runs in the state Running.
func (t *tested) running(b *testing.B) int {
	b.Helper()
	n, err := t.store.CountRuns(b.Context(), testedOrg, run.Filter{States: []run.State{run.Running}})
	if err != nil {
		b.Fatal(err)
	}
	return n
}
