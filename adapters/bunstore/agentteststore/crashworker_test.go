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

// crashPlan holds the instructions of a worker: the environment variable crashEnv contains them as JSON.
type crashPlan struct {
	Folder  string
	Birth   int  // number of earlier workers
	Events  int  // asked and answered calls after which it kills itself; 0: it lives
	Spares  bool // it waits until no run is at its first call: MaxAttempts without an answer in a row end a run
	Flaky   int  // runs of a set whose source of variation is wanted, instead of the usual tests
	Repeats bool // its models are llm.Repeatable
	Tornado bool // it holds a session instead of the usual tests
	AnyTime bool // with Tornado: it may kill itself during a run, too

	Lives time.Duration // minimum life, in fake time
}

const crashEnv = "CALLWRIGHT_CRASH_PLAN"

const crashOrg callwright.OrgID = "acme"

// The tests that workers run.
const (
	crashTurns     = 4 // of a caller
	crashScenarios = 60
	crashRepeated  = 8       // scenarios of the set
	crashTimes     = 6       // runs of each of them
	crashBudget    = 130_000 // tokens of the set: little more than its 125,232 and the reservation of its last call
)

// diary is a file of questions to models, their answers, and notifications. Written lines survive a kill.
type diary struct {
	mu   sync.Mutex
	file *os.File
	left int // events until the process kills itself; negative: it lives

	born   time.Time
	lives  time.Duration   // see crashPlan.Lives
	judged time.Time       // when a judge has answered last
	spares bool            // see crashPlan.Spares
	first  map[string]bool // runs at their first call in this process; false: beyond it
}

// write adds a line, and ends the process if it is time.
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
		select {} // until the signal arrives
	}
}

// note notes an event of a run. A run is beyond its first call when it asks again, because the answer is in its journal then. The
// judge is asked last.
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

// early reports whether a run is at its first call, or may be taken over or keep its last answer at this moment, by a clock that
// stands still until all of that is done.
func (d *diary) early() bool {
	return time.Since(d.born)%node.LeaseRenewal < time.Second || time.Since(d.judged) < time.Second || slices.Contains(slices.Collect(maps.Values(d.first)), true)
}

// paid is a model whose calls stand in a diary. Its name is a caller's, an agent's or a judge's part in the keys.
type paid struct {
	part    string
	diary   *diary
	repeats bool
}

func (m paid) Name() string { return m.part }

func (m paid) Repeats() bool { return m.repeats }

// key names a call: the scenario's marker is in the input of each part.
func (m paid) key(text string, trial, attempt, said int) string {
	at := strings.Index(text, "marker-")
	marker, _, _ := strings.Cut(text[at:]+" ", " ")
	return fmt.Sprintf("%s/%d %s/%d/%d", marker, trial, m.part, said, attempt)
}

// Reply answers in one piece: the caller says its next line, and hangs up in the end.
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

// spokenInCrash returns the line that follows the given number of lines.
func spokenInCrash(part string, lines, trial int) string {
	return fmt.Sprintf("The %s speaks for time %d in trial %d.", part, lines, trial)
}

// flaky marks a scenario that passes in every second trial, each time that its conversation is judged.
const flaky = "marker-flaky"

// Answer passes.
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

// asking is an agent that asks its model for its words.
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

// onePathway has one version.
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

// anyURL allows all addresses.
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

// TestCrashWorker is the process that TestCrashes kills. Its time is made up, so that leases run out without anybody waiting; each
// worker is born some time after the one before. The process ends here.
func TestCrashWorker(t *testing.T) { //nolint:paralleltest // it is a process of its own
	raw := os.Getenv(crashEnv)
	if raw == "" {
		return // TestCrashes runs it
	}
	var plan crashPlan
	if err := json.Unmarshal([]byte(raw), &plan); err != nil { //nolint:musttag // only this test reads it
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		apart := time.Hour
		if plan.Tornado {
			apart = 3 * time.Minute // all are born before the session's deadline
		}
		time.Sleep(time.Duration(plan.Birth) * apart)
		if err := crashWork(t.Context(), plan); err != nil {
			fmt.Fprintln(os.Stderr, "the worker has failed:", err)
			os.Exit(2)
		}
		os.Exit(0) // goroutines of the database would keep the bubble
	})
}

// pass lets the made-up time of a worker pass.
func pass(d time.Duration) { time.Sleep(d) }

// crashWork runs tests until all have ended, or the process is killed. The first worker starts them.
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
	for quiet := 0; quiet < 2; { // the tasks after the last end run in the second quiet round
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

// crashBegin starts a batch and a simulation set, or only a set of a flaky scenario.
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

// crashScenario creates a scenario that a judge decides.
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
