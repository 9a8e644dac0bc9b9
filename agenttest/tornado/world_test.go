package tornado_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/node"
)

const org callwright.OrgID = "acme"

// world is the shared part of a deployment, which outlives the nodes: a store in memory, and a lab with the pathway "p", whose version 1 is
// in production.
type world struct {
	t      *testing.T
	memory *memstore.Store
	work   *memstore.Work
	nodes  int
	works  sync.Once

	mu       sync.Mutex
	lab      *lab
	archived map[int]bool
	names    map[int]string // names of forks, by number
	trials   map[string]map[string]tornado.Tally
	stopped  []string      // ids of the stopped trials
	asked    int           // number of calls of Fix
	budgets  []int         // token limit of each trial
	takes    time.Duration // duration of a trial
	thinks   time.Duration // duration of a call of Fix
	gone     error         // error of Version and Versions; nil if the pathway exists
	others   bool          // every other pathway exists, too
}

func newWorld(t *testing.T, texts ...string) *world {
	t.Helper()
	memory := memstore.New()
	w := &world{
		t: t, memory: memory, work: memstore.NewWork(memory, nil), lab: newLab(texts...), archived: map[int]bool{}, names: map[int]string{},
		trials: map[string]map[string]tornado.Tally{}, takes: 3 * time.Second, thinks: 3 * time.Second,
	}
	w.lab.plan = mendsOne
	return w
}

func (w *world) store() tornado.Store { return agentteststore.Sessions{Store: w.memory} }
func (w *world) leases() node.Leases  { return memstore.Leases{Store: w.memory} }

// node returns the Service of a new node. A test must create all nodes before it runs the first.
func (w *world) node(change ...func(*tornado.Config)) *tornado.Service {
	w.t.Helper()
	w.nodes++
	c := tornado.Config{
		Store: w.store(), Atomic: w.memory, Work: w.work, Leases: w.leases(),
		Node: fmt.Sprint("node ", w.nodes), Pathways: w, Runs: w, Fixer: w,
	}
	for _, f := range change {
		f(&c)
	}
	s, err := tornado.New(c)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// run runs nodes and the durable tasks until the test ends.
func (w *world) run(nodes ...*tornado.Service) {
	w.t.Helper()
	w.works.Do(func() { w.t.Cleanup(w.background(w.work.Run)) })
	for _, s := range nodes {
		w.t.Cleanup(w.background(s.Run))
	}
}

// runUntil runs a node until stop is called, or the test ends.
func (w *world) runUntil(s *tornado.Service) (stop func()) {
	stop = w.background(s.Run)
	w.t.Cleanup(stop)
	return stop
}

func (w *world) background(run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// start starts a session on the pathway "p", unless change sets another one, and fails the test on an error.
func (w *world) start(s *tornado.Service, change ...func(*tornado.Start)) tornado.Session {
	w.t.Helper()
	r := tornado.Start{Pathway: "p"}
	for _, f := range change {
		f(&r)
	}
	session, err := s.Start(w.t.Context(), org, r)
	if err != nil {
		w.t.Fatal(err)
	}
	return session
}

// end waits until a session has ended, and a minute more for its durable tasks. It returns the ended session.
func (w *world) end(s *tornado.Service, id string) tornado.Session {
	w.t.Helper()
	for range 10_000 {
		session, err := s.Get(w.t.Context(), org, id)
		if err != nil {
			w.t.Fatal(err)
		}
		if session.State.Ended() {
			time.Sleep(time.Minute)
			synctest.Wait()
			return session
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.t.Fatal("the session does not end")
	return tornado.Session{}
}

// until polls a session until the given condition is true for it, and returns the session. It fails the test if this takes too long.
func (w *world) until(s *tornado.Service, id string, is func(tornado.Session) bool) tornado.Session {
	w.t.Helper()
	for range 10_000 {
		session, err := s.Get(w.t.Context(), org, id)
		if err != nil {
			w.t.Fatal(err)
		}
		if is(session) {
			return session
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatal("the session does not come to that")
	return tornado.Session{}
}

func (w *world) Version(_ context.Context, _ callwright.OrgID, id string, number int) (pathway.Version, pathway.Pathway, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := pathway.Pathway{ID: id, Production: w.lab.live}
	switch {
	case w.gone != nil:
		return pathway.Version{}, p, w.gone
	case id != "p" && !w.others || number > len(w.lab.documents) || w.archived[number]:
		return pathway.Version{}, p, callwright.ErrNotFound
	case number == 0:
		return pathway.Version{}, p, nil
	}
	return pathway.Version{Number: number, Document: w.lab.documents[number-1]}, p, nil
}

func (w *world) Versions(
	context.Context, callwright.OrgID, string, callwright.Keyset, int,
) (page callwright.Page[pathway.Version], p pathway.Pathway, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone != nil {
		return page, p, w.gone
	}
	for i, d := range slices.Backward(w.lab.documents) {
		g, err := graph.Check(d)
		if err != nil {
			return page, p, err
		}
		parent := 0
		if name, forked := w.names[i+1]; forked {
			parent = w.lab.forks[name]
		}
		page.Items = append(page.Items, pathway.Version{Number: i + 1, Name: w.names[i+1], Hash: g.Hash, Parent: parent})
	}
	return page, p, nil
}

func (w *world) Fork(
	_ context.Context, _ callwright.OrgID, _ string, parent int, name string, d *graph.Document,
) (pathway.Version, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lab.documents = append(w.lab.documents, *d)
	number := len(w.lab.documents)
	w.names[number], w.lab.forks[name] = name, parent
	return pathway.Version{Number: number}, nil
}

func (w *world) Discard(_ context.Context, _ callwright.OrgID, _ string, number int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if number == w.lab.live {
		return callwright.ErrInvalidState
	}
	w.archived[number] = true
	return nil
}

func (w *world) Suite(_ context.Context, _ callwright.OrgID, _, _ string, ids []string) ([]tornado.Scenario, error) {
	var out []tornado.Scenario
	for i := range w.lab.documents[0].Nodes {
		if id := fmt.Sprint("s", i); len(ids) == 0 || slices.Contains(ids, id) {
			out = append(out, tornado.Scenario{ID: id})
		}
	}
	if len(out) < len(ids) {
		return nil, &callwright.Error{Code: callwright.CodeNotFound, Field: "scenario_ids", Message: "one is absent"}
	}
	return out, nil
}

func (w *world) Try(ctx context.Context, _ callwright.OrgID, t tornado.Trial) (tornado.Tried, error) {
	select {
	case <-ctx.Done():
		return tornado.Tried{}, ctx.Err()
	case <-time.After(w.takes):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.budgets = append(w.budgets, t.Budget.Tokens)
	got, done := w.trials[t.ID]
	if !done {
		var err error
		if got, err = w.lab.Run(ctx, t.ID, t.Version, t.Scenarios, t.Runs); err != nil {
			return tornado.Tried{}, err
		}
		w.trials[t.ID] = got
	}
	return tornado.Tried{Tallies: got, Spend: engine.Spend{Tokens: 10 * len(t.Scenarios) * t.Runs}}, nil
}

// tried returns the number of ended trials.
func (w *world) tried() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.trials)
}

func (w *world) StopTrial(_ context.Context, _ callwright.OrgID, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.trials[id] == nil {
		w.stopped = append(w.stopped, id)
	}
	return nil
}

func (w *world) CheckBudget(l engine.Limit) error {
	if l.Cost > 0 {
		return callwright.Invalid("budget.cost", "cannot be used")
	}
	return nil
}

func (w *world) Case(_ context.Context, _ callwright.OrgID, run string) (analysis.Case, error) {
	if !strings.HasPrefix(run, "run of ") {
		return analysis.Case{}, callwright.ErrNotFound
	}
	return analysis.Case{
		Scenario: scenario.Scenario{Name: run},
		Outcome:  engine.Outcome{Verdict: engine.Failed, Evidence: assert.Evidence{End: assert.EndByAgent}},
	}, nil
}

// Fix proposes the plan of the lab after the duration w.thinks. Repeated calls with the same name return the same plan.
func (w *world) Fix(ctx context.Context, name string, b tornado.Brief) (tornado.Plan, error) {
	select {
	case <-ctx.Done():
		return tornado.Plan{}, ctx.Err()
	case <-time.After(w.thinks):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.lab.failure(name); err != nil {
		return tornado.Plan{}, err
	}
	w.asked++
	if p, known := w.lab.plans[name]; known {
		return p, nil
	}
	w.lab.asked++
	p, err := w.lab.plan(w.lab, b)
	if err == nil {
		w.lab.plans[name] = p
	}
	return p, err
}
