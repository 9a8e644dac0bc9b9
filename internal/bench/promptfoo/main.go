// Command promptfoo runs Callwright's part of a comparison with promptfoo. run.sh runs the same tests with both programs. The tested agent
// repeats its input.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
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
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/runner"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/node"
)

const org callwright.OrgID = "bench"

func main() {
	tests := flag.Int("tests", 1000, "how many, at most 1000")
	store := flag.String("store", "", "memory, or a folder for a database of SQLite; empty: nothing is stored")
	config := flag.String("promptfoo", "", "write the tests for promptfoo to this file, and run none")
	flag.Parse()
	var err error
	switch {
	case *config != "":
		err = writeConfig(*config, *tests)
	case *store == "":
		err = withoutService(context.Background(), *tests)
	default:
		err = withService(context.Background(), *store, *tests)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// text returns the input of test i.
func text(i int) string {
	return fmt.Sprintf("Order %d: two pizzas with mushrooms, please, at half past seven, to Harbour Street %d.", i, i)
}

// said returns the text that the answer of test i must contain. The answer must also match the pattern in the constant matches, and must
// not contain the text of the constant unsaid.
func said(i int) string { return fmt.Sprintf("Order %d:", i) }

const (
	unsaid  = "refund"
	matches = `Harbour Street \d+\.`
)

// writeConfig writes a configuration file for promptfoo that contains the tests.
func writeConfig(file string, tests int) error {
	type object = map[string]any
	list := make([]object, tests)
	for i := range list {
		list[i] = object{"vars": object{"text": text(i)}, "assert": []object{
			{"type": "contains", "value": said(i)}, {"type": "not-contains", "value": unsaid}, {"type": "regex", "value": matches},
		}}
	}
	raw, err := json.Marshal(object{"prompts": []string{"You said: {{text}}"}, "providers": []string{"echo"}, "tests": list})
	if err != nil {
		return err
	}
	return os.WriteFile(file, raw, 0o600)
}

// echo returns a pathway that says its input "text" and hangs up.
func echo() graph.Document {
	return graph.Document{Nodes: []json.RawMessage{
		[]byte(`{"id":"echo","type":"End Call","data":{"name":"Echo","isStart":true,"text":"You said: {{text}}"}}`),
	}}
}

// scenarioOf returns test i as a scenario of a pathway.
func scenarioOf(pathwayID string, i int) scenario.Scenario {
	sc := scenario.Scenario{
		Pathway: pathwayID, Name: fmt.Sprint("Order ", i), Kind: scenario.Replay, Enabled: true, RequestData: map[string]any{"text": text(i)},
		Messages: []scenario.Message{{Role: "caller", Text: "Hello."}},
	}
	for _, a := range []struct {
		kind   assert.Type
		config map[string]string
	}{
		{assert.StringCheck, map[string]string{"value": said(i), "role": "assistant"}},
		{assert.StringCheck, map[string]string{"value": unsaid, "operator": "not_contains", "role": "assistant"}},
		{assert.RegexMatch, map[string]string{"pattern": matches, "role": "assistant"}},
	} {
		raw, err := json.Marshal(a.config)
		if err != nil {
			panic(err)
		}
		sc.Assertions = append(sc.Assertions, assert.Assertion{Type: a.kind, Config: raw, Required: true, Weight: 1})
	}
	return sc
}

// stores holds the stores and the durable work of a service.
type stores struct {
	tests    agenttest.Store
	pathways pathway.Store
	chats    pathway.Chats
	atomic   callwright.Atomic
	leases   node.Leases
	work     callwright.Work
	runWork  func(context.Context) error
	close    func() error
}

// open opens stores in memory if the argument where is "memory". Otherwise it opens SQLite stores in the folder with this path.
func open(ctx context.Context, where string) (stores, error) {
	if where == "memory" {
		m := memstore.New()
		work := memstore.NewWork(m, nil)
		return stores{
			tests: memtests.Store{Store: m}, pathways: memagents.Pathways{Store: m}, chats: memagents.Chats{Store: m}, atomic: m,
			leases: memstore.Leases{Store: m}, work: work, runWork: work.Run, close: func() error { return nil },
		}, nil
	}
	ring, err := callwright.NewKeyring("k", map[string][]byte{"k": make([]byte, 32)})
	if err != nil {
		return stores{}, err
	}
	db, err := bunstore.Open(ctx, "sqlite:"+filepath.Join(where, "tests.db"), bunstore.Config{Keyring: ring})
	if err != nil {
		return stores{}, err
	}
	c := riverwork.Config{SQL: db.SQL(), Tx: db.Tx, Atomic: db}
	if err := riverwork.Migrate(ctx, c); err != nil {
		return stores{}, errors.Join(err, db.Close())
	}
	work, err := riverwork.New(c)
	if err != nil {
		return stores{}, errors.Join(err, db.Close())
	}
	return stores{
		tests: sqltests.Store{DB: db}, pathways: sqlagents.Pathways{DB: db}, chats: sqlagents.Chats{DB: db}, atomic: db,
		leases: bunstore.Leases{DB: db}, work: work, runWork: work.Run, close: db.Close,
	}, nil
}

// parallel is the number of concurrent tests, equal to promptfoo's.
const parallel = 4

// pinned is a Versions that returns the same graph for every version.
type pinned struct{ *graph.Graph }

func (p pinned) LoadPinned(context.Context, callwright.OrgID, string, int) (*graph.Graph, error) {
	return p.Graph, nil
}

// withoutService runs the tests like "callwright test", with outcomes in memory. It returns an error unless all of them pass.
func withoutService(ctx context.Context, tests int) error {
	g, err := graph.Compile(echo())
	if err != nil {
		return err
	}
	agent, err := runner.New(runner.Config{Versions: pinned{g}})
	if err != nil {
		return err
	}
	held, err := engine.New(engine.Config{Runner: agent})
	if err != nil {
		return err
	}
	outcomes, errs := make([]engine.Outcome, tests), make([]error, parallel)
	var next atomic.Int64
	var running sync.WaitGroup
	for worker := range parallel {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < tests && errs[worker] == nil; i = int(next.Add(1)) - 1 {
				sc := scenarioOf("p", i)
				sc.SetDefaults(new(callwright.UUIDs).New)
				if errs[worker] = sc.Check(); errs[worker] != nil {
					return
				}
				outcomes[i], errs[worker] = held.Run(ctx, engine.Case{Run: fmt.Sprint(i), Scenario: sc, Version: 1})
			}
		})
	}
	running.Wait()
	err = errors.Join(errs...)
	for i, o := range outcomes {
		if o.Verdict != engine.Passed {
			err = errors.Join(err, fmt.Errorf("test %d has ended with %q: %s", i, o.Verdict, o.Error))
		}
	}
	return err
}

// withService runs the tests in batches. It returns an error unless all of them pass.
func withService(ctx context.Context, where string, tests int) error {
	at, err := open(ctx, where)
	if err != nil {
		return err
	}
	service, id, err := build(ctx, at)
	if err != nil {
		return errors.Join(err, at.close())
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { _ = service.Run(ctx) })
	running.Go(func() { _ = at.runWork(ctx) })
	err = runAll(ctx, at, service, id, tests)
	cancel()
	running.Wait()
	return errors.Join(err, at.close())
}

// build creates the service and the pathway, and returns the service and the pathway's id.
func build(ctx context.Context, at stores) (*agenttest.Service, string, error) {
	pathways, err := pathway.New(pathway.Config{
		Store: at.pathways, Chats: at.chats, Atomic: at.atomic, Work: at.work, Interpreter: &pathway.Interpreter{Model: scripted.New()},
	})
	if err != nil {
		return nil, "", err
	}
	agent, err := runner.New(runner.Config{Versions: pathways})
	if err != nil {
		return nil, "", err
	}
	held, err := engine.New(engine.Config{Runner: agent})
	if err != nil {
		return nil, "", err
	}
	service, err := agenttest.New(agenttest.Config{
		Store: at.tests, Atomic: at.atomic, Work: at.work, Leases: at.leases, Node: "bench", Pathways: pathways, Engine: held,
	})
	if err != nil {
		return nil, "", err
	}
	p, err := pathways.Create(ctx, org, pathway.Draft{Name: "Echo"})
	if err != nil {
		return nil, "", err
	}
	if _, err := pathways.StoreVersion(ctx, org, p.ID, "1", echo()); err != nil {
		return nil, "", err
	}
	_, err = pathways.Publish(ctx, org, p.ID, pathway.Publication{Number: 1})
	return service, p.ID, err
}

// runAll creates the scenarios, runs them in batches, and waits until the batches have passed.
func runAll(ctx context.Context, at stores, s *agenttest.Service, pathwayID string, tests int) error {
	var groups []string
	var ids []string
	for i := range tests {
		sc, err := s.CreateScenario(ctx, org, scenarioOf(pathwayID, i))
		if err != nil {
			return err
		}
		if ids = append(ids, sc.ID); len(ids) == group.MaxScenarios || i == tests-1 {
			b, _, err := s.StartBatch(ctx, org, group.BatchRequest{Scenarios: ids})
			if err != nil {
				return err
			}
			groups, ids = append(groups, b.ID), nil
		}
	}
	for _, id := range groups {
		if err := passed(ctx, at.tests, id); err != nil {
			return err
		}
	}
	return nil
}

// passed waits until a batch has ended. It returns an error if a run has not passed.
func passed(ctx context.Context, store agenttest.Store, id string) error {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		b, err := store.Batch(ctx, org, id)
		switch {
		case err != nil:
			return err
		case b.State == run.Passed:
			return nil
		case b.State.Ended():
			return fmt.Errorf("a batch has ended: %+v", b.Counts)
		}
		<-look.C
	}
}
