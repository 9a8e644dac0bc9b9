package agenttest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

const org callwright.OrgID = "acme"

// lab contains a Service on an empty store in memory, and an agent whose turns a test scripts.
type lab struct {
	*agenttest.Service
	t        *testing.T
	cfg      agenttest.Config
	agent    *agenttesttest.Runner
	model    *agentstest.Model
	pathways *pathways
	told     *told
	work     *memstore.Work
	works    sync.Once
	nodes    int
}

// newLab returns a lab whose agent says "Hello." at the node "start" and "Paid. Goodbye." at the node "paid".
func newLab(t *testing.T) *lab {
	t.Helper()
	memory := memstore.New()
	l := &lab{
		t: t, pathways: &pathways{production: 1, hash: "h"}, told: &told{}, work: memstore.NewWork(memory, nil), model: &agentstest.Model{},
		agent: &agenttesttest.Runner{
			Turns: []engine.AgentTurn{
				{Text: "Hello.", Visits: []string{"start"}, Node: "start"},
				{Text: "Paid. Goodbye.", Visits: []string{"paid"}, Node: "paid", Ended: true},
			},
			Nodes: assert.Graph{"start": {Name: "Start", Next: []string{"paid"}}, "paid": {Name: "Paid"}},
		},
	}
	hold, err := engine.New(engine.Config{
		Runner: l.agent, Model: l.model, Judge: func(llm.Model) assert.Judge { return brokenJudge{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	l.cfg = agenttest.Config{
		Store: agentteststore.Store{Store: memory}, Atomic: memory, Work: l.work, Leases: memstore.Leases{Store: memory},
		Pathways: l.pathways, Engine: hold, Notifier: l.told, Failures: l.told, URLs: allowed{},
	}
	l.Service = l.another()
	return l
}

// another returns the service of a further node. Tests create all nodes before they run the first.
func (l *lab) another() *agenttest.Service {
	l.t.Helper()
	l.nodes++
	c := l.cfg
	c.Node = fmt.Sprint("node ", l.nodes)
	s, err := agenttest.New(c)
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

// run runs the service until stop is called or the test ends. It also runs the durable tasks until the test ends.
func (l *lab) run(s *agenttest.Service) (stop func()) {
	l.works.Do(func() { l.until(l.work.Run) })
	return l.until(s.Run)
}

// until calls the function run in a goroutine, and cancels its context when stop is called or the test ends. stop waits until the function
// has returned.
func (l *lab) until(run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(l.t.Context()))
	var group sync.WaitGroup
	group.Go(func() { _ = run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); group.Wait() })
	l.t.Cleanup(stop)
	return stop
}

// scenario creates a scenario with the given changes. Without changes, the lab's agent passes it.
func (l *lab) scenario(change ...func(*scenario.Scenario)) scenario.Scenario {
	l.t.Helper()
	l.nodes++
	sc := scenario.Scenario{
		Pathway: "p1", Name: fmt.Sprint("scenario ", l.nodes), Enabled: true,
		Messages:   []scenario.Message{{Role: llm.RoleCaller, Text: "I want to pay."}},
		Assertions: []assert.Assertion{{Type: assert.NodeReached, Config: json.RawMessage(`{"node_id":"paid"}`), Required: true, Weight: 1}},
	}
	for _, c := range change {
		c(&sc)
	}
	sc, err := l.CreateScenario(l.t.Context(), org, sc)
	if err != nil {
		l.t.Fatal(err)
	}
	return sc
}

// failing adds an assertion that expects words that the agent does not say.
func failing(sc *scenario.Scenario) {
	sc.Assertions = append(sc.Assertions, assert.Assertion{
		Type: assert.StringCheck, Config: json.RawMessage(`{"value":"refund","operator":"contains"}`), Required: true, Weight: 1,
	})
}

// required makes a scenario required for promotion.
func required(sc *scenario.Scenario) { sc.Required = true }

// start starts a run, and fails the test if StartRun returns an error.
func (l *lab) start(sc scenario.Scenario, r run.Request) run.Run {
	l.t.Helper()
	run, err := l.StartRun(l.t.Context(), org, sc.ID, r)
	if err != nil {
		l.t.Fatal(err)
	}
	return run
}

// get returns the stored state of a run.
func (l *lab) get(id string) run.Run {
	l.t.Helper()
	run, _, err := l.GetRun(l.t.Context(), org, id)
	if err != nil {
		l.t.Fatal(err)
	}
	return run
}

// settled sleeps for 3 seconds of synthetic time, and then waits until all goroutines are blocked.
func settled() {
	time.Sleep(3 * time.Second)
	synctest.Wait()
}

// pathways contains one pathway, "p1", with versions 1 to 9. It records the published versions and the calls of FinishTests.
type pathways struct {
	mu         sync.Mutex
	production int
	hash       string
	published  []int
	settled    []string
	gate       pathway.Gate
}

func (p *pathways) Load(
	_ context.Context, of callwright.OrgID, id string, sel pathway.Selector,
) (*graph.Graph, int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	number := sel.Number
	if sel.Environment == pathway.Production {
		number = p.production
	}
	switch {
	case of != org && of != "a" && of != "b", id != "p1":
		return nil, 0, callwright.InField("pathway_id", callwright.NotFound("pathway"))
	case number > 9, number == 0 && sel.Environment != "":
		return nil, 0, callwright.InField("pathway_version", callwright.NotFound("version"))
	}
	return &graph.Graph{Hash: p.hash}, number, nil
}

func (p *pathways) Publish(
	ctx context.Context, of callwright.OrgID, id string, b pathway.Publication,
) (pathway.Published, error) {
	if p.gate != nil {
		v, err := p.gate.Check(ctx, of, pathway.Candidate{Pathway: id, Number: b.Number, Hash: p.hash})
		if err != nil || v.State != pathway.GateOpen {
			return pathway.Published{}, errors.Join(err, callwright.ErrPromotionGateFailed)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.Over != nil && *b.Over != p.production {
		return pathway.Published{}, callwright.Errorf(callwright.CodeConflict, "another version is in production")
	}
	p.published = append(p.published, b.Number)
	return pathway.Published{Published: true}, nil
}

func (p *pathways) FinishTests(_ context.Context, _ callwright.OrgID, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settled = append(p.settled, id)
	return nil
}

// told records notices of ended runs and groups, and of failures.
type told struct {
	mu      sync.Mutex
	down    int   // number of first deliveries that fail
	failure error // error of these deliveries; nil means ErrUnavailable
	tried   int   // number of delivery attempts for groups
	runs    []run.Run
	batches []group.Batch
	listed  [][]run.Run // runs of the batches
	failed  []run.Run
	modes   []group.FailureMode
}

func (n *told) cause() error { return cmp.Or[error](n.failure, callwright.ErrUnavailable) }

func (n *told) RunEnded(_ context.Context, _ string, r run.Run) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down > 0 {
		n.down--
		return n.cause()
	}
	n.runs = append(n.runs, r)
	return nil
}

func (n *told) BatchEnded(_ context.Context, _ string, b group.Batch, runs []run.Run) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tried++
	if n.down > 0 {
		n.down--
		return n.cause()
	}
	n.batches = append(n.batches, b)
	n.listed = append(n.listed, runs)
	return nil
}

func (n *told) RunFailed(_ context.Context, r run.Run) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed = append(n.failed, r)
	return nil
}

func (n *told) ModeFailed(_ context.Context, m group.FailureMode) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down > 0 {
		n.down--
		return n.cause()
	}
	n.modes = append(n.modes, m)
	return nil
}

// allowed permits every URL except https://forbidden.example/.
type allowed struct{}

func (allowed) CheckURL(url string) error {
	if url == "https://forbidden.example/" {
		return callwright.Invalid("", "is forbidden")
	}
	return nil
}

// brokenJudge is a judge that panics.
type brokenJudge struct{}

func (brokenJudge) Judge(context.Context, *assert.Evidence, assert.Criterion) (assert.Opinion, error) {
	panic("broken")
}
