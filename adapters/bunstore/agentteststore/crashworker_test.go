package agentteststore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/judge"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/node"
)

// crashPlan holds the instructions for a worker, which it receives as JSON in the environment variable crashEnv.
type crashPlan struct {
	Folder  string
	Birth   int  // number of earlier workers
	Events  int  // events before the worker kills itself; negative means never
	Spares  bool // do not kill while diary.early reports true: MaxAttempts attempts without an answer end a run
	Flaky   int  // if not 0, execute only a set of so many runs, and attribute its variation
	Repeats bool // use models that are llm.Repeatable
	Tornado bool // execute a tornado session instead of the usual tests
	AnyTime bool // with Tornado: events during runs count, too

	Lives time.Duration // minimum lifetime, in fake time
}

const crashEnv = "CALLWRIGHT_CRASH_PLAN"

const crashOrg callwright.OrgID = "acme"

// The tests that workers execute.
const (
	crashTurns     = 4 // turns of a caller
	crashScenarios = 60
	crashRepeated  = 8       // scenarios of the set
	crashTimes     = 6       // runs of each scenario of the set
	crashBudget    = 130_000 // tokens of the set, which needs 125,232 and the reservation of its last call
)

// diary is a file to which workers write events: questions to models, their answers, notifications, and in tornado sessions also stored
// changes. Written lines survive a kill.
type diary struct {
	mu   sync.Mutex
	file *os.File
	left int // events until the process kills itself; negative means never

	born   time.Time
	lives  time.Duration   // see crashPlan.Lives
	judged time.Time       // time of a judge's last answer
	spares bool            // see crashPlan.Spares
	first  map[string]bool // by run: whether it is at its first call in this process
}

// write adds a line. If the plan requires it, write then kills the process.
func (d *diary) write(kind, key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := fmt.Fprintln(d.file, kind, key); err != nil {
		panic(err)
	}
	if d.left > 0 {
		d.left--
	}
	d.note(kind, key)
	if d.left == 0 && time.Since(d.born) >= d.lives && !(d.spares && d.early()) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // block until the signal arrives
	}
}

// note records whether a run is at its first call, and the time of a judge's last answer. The second question of a run ends its first call,
// because the first answer is then in its journal. The judge's answer is the last of a run.
func (d *diary) note(kind, key string) {
	run, part, _ := strings.Cut(key, " ")
	switch before, known := d.first[run]; {
	case kind == "asked" && !known:
		d.first[run] = true
	case kind == "asked" && before:
		d.first[run] = false
	case kind == "answered" && strings.HasPrefix(part, "judge/"):
		d.first[run], d.judged = false, time.Now()
	}
}

// early reports whether a kill could now hit a run without progress: while a run is at its first call, and within a second after a renewal
// of leases or a judge's answer. During that second the worker may be taking over runs or storing results, for which fake time does not
// advance.
func (d *diary) early() bool {
	return time.Since(d.born)%node.LeaseRenewal < time.Second || time.Since(d.judged) < time.Second || slices.Contains(slices.Collect(maps.Values(d.first)), true)
}

// paid is a model that writes its calls to a diary. Its name is its role, for example caller, agent or judge, and is part of the calls'
// keys.
type paid struct {
	part    string
	diary   *diary
	repeats bool
}

func (m paid) Name() string { return m.part }

func (m paid) Repeats() bool { return m.repeats }

// key returns the key of a call. It contains the scenario's marker, which the instructions of each role contain.
func (m paid) key(text string, trial, attempt, said int) string {
	at := strings.Index(text, "marker-")
	marker, _, _ := strings.Cut(text[at:]+" ", " ")
	return fmt.Sprintf("%s/%d %s/%d/%d", marker, trial, m.part, said, attempt)
}

// Reply returns the next line in one part. The caller's last line ends the call.
func (m paid) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		key := m.key(r.Instructions, r.Trial, r.Attempt, len(r.Messages))
		m.diary.write("asked", key)
		time.Sleep(time.Second)
		m.diary.write("answered", key)
		part := llm.ReplyPart{Text: spokenInCrash(m.part, len(r.Messages), r.Trial)}
		if m.part == "caller" && len(r.Messages) >= 2*crashTurns-1 {
			part.Action = llm.ActionEnd
		}
		yield(part, ctx.Err())
	}
}

// spokenInCrash returns the line that a role says after the given number of lines.
func spokenInCrash(part string, lines, trial int) string {
	return fmt.Sprintf("The %s speaks for time %d in trial %d.", part, lines, trial)
}

// flaky marks a scenario that passes only in even trials. Repeated judgements of a run agree.
const flaky = "marker-flaky"

// Answer returns a judgement: pass, except in odd trials of the flaky scenario.
func (m paid) Answer(_ context.Context, q llm.Question) (llm.Answer, error) {
	key := m.key(q.Instructions, q.Trial, q.Attempt, len(q.Messages))
	m.diary.write("asked", key)
	time.Sleep(time.Second)
	m.diary.write("answered", key)
	if strings.Contains(q.Instructions, flaky) && q.Trial%2 == 1 {
		return llm.Answer{JSON: json.RawMessage(`{"evidence":[],"reasoning":"No.","verdict":"fail","failure_code":"wrong_end"}`)}, nil
	}
	return llm.Answer{JSON: json.RawMessage(`{"evidence":[],"reasoning":"It does.","verdict":"pass","failure_code":null}`)}, nil
}

// asking is an agent whose replies come from its model.
type asking struct{}

func (asking) Start(_ context.Context, s engine.SessionSpec) (engine.Session, error) {
	return &askingSession{spec: s}, nil
}

type askingSession struct {
	spec engine.SessionSpec
	said []llm.Message
}

func (s *askingSession) Reply(ctx context.Context, t engine.CallerTurn) (engine.AgentTurn, error) {
	if t.Text != "" {
		s.said = append(s.said, llm.Message{Role: llm.RoleCaller, Text: t.Text})
	}
	var turn engine.AgentTurn
	for part, err := range s.spec.Model.Reply(ctx, llm.ReplyRequest{
		Instructions: fmt.Sprint("You are ", s.spec.Variables["marker"]), Messages: s.said, Trial: s.spec.Trial,
	}) {
		if err != nil {
			return turn, err
		}
		turn.Text += part.Text
	}
	s.said = append(s.said, llm.Message{Role: llm.RoleAgent, Text: turn.Text})
	return turn, nil
}

func (*askingSession) Graph() assert.Graph { return nil }
func (*askingSession) Close() error        { return nil }

// onePathway is a store with one empty pathway at version 1.
type onePathway struct{}

func (onePathway) Load(context.Context, callwright.OrgID, string, pathway.Selector) (*graph.Graph, int, error) {
	return &graph.Graph{Hash: "h"}, 1, nil
}

func (onePathway) Publish(context.Context, callwright.OrgID, string, pathway.Publication) (pathway.Published, error) {
	return pathway.Published{}, errors.New("nothing is published")
}

func (onePathway) FinishTests(context.Context, callwright.OrgID, string) error { return nil }

func (d *diary) RunEnded(_ context.Context, _ string, r run.Run) error {
	d.write("told", r.ID)
	return nil
}

func (d *diary) BatchEnded(_ context.Context, _ string, b group.Batch, _ []run.Run) error {
	d.write("told", b.ID)
	return nil
}

// anyURL is a callwright.URLs that allows all URLs.
type anyURL struct{}

func (anyURL) CheckURL(string) error { return nil }

// crashDatabase opens the database of the workers.
func crashDatabase(ctx context.Context, folder string) (*bunstore.DB, error) {
	ring, err := callwright.NewKeyring("a", map[string][]byte{"a": make([]byte, 32)})
	if err != nil {
		return nil, err
	}
	return bunstore.Open(ctx, "sqlite:"+folder+"/crash.db", bunstore.Config{Keyring: ring})
}

// TestCrashWorker is the body of the processes that TestCrashes and similar tests start and kill. It runs in fake time, so that leases
// expire without waiting. Each worker starts some fake time after the previous one. The process exits in this test.
func TestCrashWorker(t *testing.T) { //nolint:paralleltest // it is a process of its own
	raw := os.Getenv(crashEnv)
	if raw == "" {
		return // only the crash tests start workers
	}
	var plan crashPlan
	if err := json.Unmarshal([]byte(raw), &plan); err != nil { //nolint:musttag // only this test reads it
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		apart := time.Hour
		if plan.Tornado {
			apart = 3 * time.Minute // all workers start before the session's deadline
		}
		time.Sleep(time.Duration(plan.Birth) * apart)
		if err := crashWork(t.Context(), plan); err != nil {
			fmt.Fprintln(os.Stderr, "the worker has failed:", err)
			os.Exit(2)
		}
		os.Exit(0) // goroutines of the database would keep synctest from returning
	})
}

// pass advances the fake time of a worker.
func pass(d time.Duration) { time.Sleep(d) }

// crashWork executes tests until all have ended or the process is killed. The first worker only starts them.
func crashWork(ctx context.Context, plan crashPlan) error {
	file, err := os.OpenFile(plan.Folder+"/diary", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	d := &diary{file: file, left: plan.Events, born: time.Now(), lives: plan.Lives, spares: plan.Spares, first: map[string]bool{}}
	db, err := crashDatabase(ctx, plan.Folder)
	if err != nil {
		return err
	}
	work, err := newTableWork(ctx, db)
	if err != nil {
		return err
	}
	if plan.Tornado {
		return crashTornado(ctx, plan, db, work, d)
	}
	held, err := engine.New(engine.Config{
		Runner: asking{}, Model: paid{"agent", d, plan.Repeats}, CallerModel: paid{"caller", d, plan.Repeats},
		JudgeModel: paid{"judge", d, plan.Repeats}, Judge: func(m llm.Model) assert.Judge { return judge.New(m, judge.Config{Samples: 1}) },
	})
	if err != nil {
		return err
	}
	s, err := agenttest.New(agenttest.Config{
		Store: agentteststore.Store{DB: db}, Atomic: db, Work: work, Leases: bunstore.Leases{DB: db}, Node: fmt.Sprint("node ", plan.Birth),
		Pathways: onePathway{}, Engine: held, URLs: anyURL{}, Notifier: d, Runtime: callwright.Runtime{Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))},
	})
	if err != nil {
		return err
	}
	if plan.Birth == 0 {
		return crashBegin(ctx, s, plan.Flaky)
	}
	go func() { _ = s.Run(ctx) }()
	for quiet := 0; quiet < 2; { // the second round without open runs executes the final tasks
		more, err := work.step(ctx)
		if err != nil {
			return err
		}
		_, open, err := s.ListRuns(ctx, crashOrg, run.Filter{States: []run.State{run.Pending, run.Running}, Limit: 1})
		if err != nil {
			return err
		}
		if quiet++; open > 0 || more {
			quiet = 0
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}

// crashBegin starts a batch and a simulation set. If simulations is not 0, it only starts a set of so many runs of a flaky scenario.
func crashBegin(ctx context.Context, s *agenttest.Service, simulations int) error {
	if simulations > 0 {
		id, err := crashScenario(ctx, s, flaky)
		if err != nil {
			return err
		}
		_, err = s.StartSet(ctx, crashOrg, group.SetRequest{Scenarios: []string{id}, Simulations: simulations, Attribute: true})
		return err
	}
	var ids []string
	for i := range crashScenarios + crashRepeated {
		id, err := crashScenario(ctx, s, fmt.Sprintf("marker-%d", i))
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if _, _, err := s.StartBatch(ctx, crashOrg, group.BatchRequest{Scenarios: ids[:crashScenarios], Webhook: "https://hook.example"}); err != nil {
		return err
	}
	_, err := s.StartSet(ctx, crashOrg, group.SetRequest{Scenarios: ids[crashScenarios:], Simulations: crashTimes, Budget: engine.Limit{Tokens: crashBudget}})
	return err
}

// crashScenario creates a scenario whose only assertion is a judge's verdict, and returns its id.
func crashScenario(ctx context.Context, s *agenttest.Service, marker string) (string, error) {
	sc, err := s.CreateScenario(ctx, crashOrg, scenario.Scenario{
		Pathway: "p", Name: marker, Enabled: true, CallerPrompt: "You call about " + marker + " and nothing else.",
		RequestData: map[string]any{"marker": marker},
		Assertions: []assert.Assertion{{
			Type: assert.LLMJudge, Config: json.RawMessage(`{"prompt":"Is it about ` + marker + ` ?"}`), Required: true, Weight: 1,
		}},
	})
	return sc.ID, err
}
