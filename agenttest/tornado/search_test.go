package tornado_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/tornado"
)

// lab holds a pathway with nodes n0, n1 and so on, which are good or defective. The scenarios s0, s1 and so on pass if the node with their
// number is good. lab stores results by name, so that an interrupted search can be repeated.
type lab struct {
	documents []graph.Document // index is the version number - 1
	forks     map[string]int
	runs      map[string]map[string]tornado.Tally
	plans     map[string]tornado.Plan
	asked     int // plans that the fixer made, without repeated questions
	tested    int // batches that ran, without repeated ones

	plan     func(l *lab, b tornado.Brief) (tornado.Plan, error)
	flaky    map[string]func(version, run int) bool // by scenario: reports whether a run passes if its node is good
	broken   func(name, scenario string) bool       // reports whether the runs of a scenario have no verdict
	refused  bool                                   // broken runs count as refused by the model
	fail     func(name string) error                // returns the error of a port call; nil means no errors
	analyze  map[string]analysis.Fault
	count    map[string]int // runs of each scenario
	clock    time.Time
	live     int // version in production
	observed []tornado.Progress
}

func document(texts ...string) graph.Document {
	var d graph.Document
	for i, text := range texts {
		d.Nodes = append(d.Nodes, json.RawMessage(fmt.Sprintf(
			`{"id":"n%d","type":"Default","data":{"name":"n%d","isStart":%t,"text":%q}}`, i, i, i == 0, text)))
		if i > 0 {
			d.Edges = append(d.Edges, json.RawMessage(fmt.Sprintf(
				`{"id":"e%d","source":"n%d","target":"n%d","data":{"alwaysPick":true}}`, i, i-1, i)))
		}
	}
	return d
}

func newLab(texts ...string) *lab {
	return &lab{
		documents: []graph.Document{document(texts...)}, forks: map[string]int{}, runs: map[string]map[string]tornado.Tally{},
		plans: map[string]tornado.Plan{}, count: map[string]int{}, clock: time.Unix(0, 0), live: 1,
	}
}

func (l *lab) textOf(version int, node string) string {
	for _, raw := range l.documents[version-1].Nodes {
		var n struct {
			ID   string `json:"id"`
			Data struct {
				Text string `json:"text"`
			} `json:"data"`
		}
		if err := json.Unmarshal(raw, &n); err == nil && n.ID == node {
			return n.Data.Text
		}
	}
	return ""
}

func (l *lab) failure(name string) error {
	if l.fail == nil {
		return nil
	}
	return l.fail(name)
}

func (l *lab) Document(ctx context.Context, number int) (graph.Document, error) {
	if err := errors.Join(ctx.Err(), l.failure("document")); err != nil {
		return graph.Document{}, err
	}
	return l.documents[number-1], nil
}

func (l *lab) Production(ctx context.Context) (int, error) { return l.live, ctx.Err() }

func (l *lab) Fork(ctx context.Context, _ int, name string, d graph.Document) (int, error) {
	if err := l.failure(name); err != nil {
		return 0, err
	}
	if number, done := l.forks[name]; done {
		return number, ctx.Err()
	}
	if _, err := graph.Compile(d); err != nil {
		return 0, err
	}
	l.documents = append(l.documents, d)
	l.forks[name] = len(l.documents)
	return len(l.documents), ctx.Err()
}

func (l *lab) Run(
	ctx context.Context, name string, version int, scenarios []string, trials int,
) (map[string]tornado.Tally, error) {
	if err := l.failure(name); err != nil {
		return nil, err
	}
	if got, done := l.runs[name]; done {
		return got, ctx.Err()
	}
	l.tested++
	l.clock = l.clock.Add(time.Minute)
	out := map[string]tornado.Tally{}
	for _, id := range scenarios {
		node := "n" + strings.TrimPrefix(id, "s")
		var t tornado.Tally
		for range trials {
			l.count[id]++
			good := strings.Contains(l.textOf(version, node), "good")
			if f := l.flaky[id]; good && f != nil {
				good = f(version, l.count[id])
			}
			switch {
			case l.broken != nil && l.broken(name, id):
				t.Errors++
				if l.refused {
					t.Refused++
				}
			case good:
				t.Passed++
			default:
				t.Failed++
				t.Run, t.Node, t.Mode, t.Reason = "run of "+id+" "+l.textOf(version, node), node, "defect", "it was not good"
			}
		}
		if n := t.Passed + t.Failed; n > 0 {
			t.Score = float64(t.Passed) / float64(n)
		}
		out[id] = t
	}
	l.runs[name] = out
	return out, ctx.Err()
}

func (l *lab) Fix(ctx context.Context, name string, b tornado.Brief) (tornado.Plan, error) {
	if err := l.failure(name); err != nil {
		return tornado.Plan{}, err
	}
	if p, done := l.plans[name]; done {
		return p, ctx.Err()
	}
	l.asked++
	p, err := l.plan(l, b)
	if err == nil {
		l.plans[name] = p
	}
	return p, errors.Join(err, ctx.Err())
}

func (l *lab) Analyze(_ context.Context, run string) (analysis.Analysis, error) {
	for id, fault := range l.analyze {
		if strings.HasPrefix(run, "run of "+id+" ") {
			return analysis.Analysis{Fault: fault}, nil
		}
	}
	return analysis.Analysis{Fault: analysis.OfAgent}, nil
}

func (l *lab) Now() time.Time { return l.clock }

// say returns a plan that sets the text of each given node.
func say(text string, nodes ...string) tornado.Plan {
	var p tornado.Plan
	for _, n := range nodes {
		p.Fixes = append(p.Fixes, tornado.Fix{Kind: analysis.PromptChange, Node: n, Edits: []tornado.Edit{{Op: tornado.SetText, Field: "text", Text: text}}})
	}
	return p
}

// mendsOne proposes to repair the node of the first finding.
func mendsOne(_ *lab, b tornado.Brief) (tornado.Plan, error) {
	return say("good", b.Findings[0].Tally.Node), nil
}

// does returns a fixer that proposes plans in order, and then repeats the last plan.
func does(plans ...tornado.Plan) func(*lab, tornado.Brief) (tornado.Plan, error) {
	return func(l *lab, _ tornado.Brief) (tornado.Plan, error) { return plans[min(l.asked, len(plans))-1], nil }
}

func (l *lab) config(change ...func(*tornado.SearchConfig)) tornado.SearchConfig {
	c := tornado.SearchConfig{
		Versions: l, Tests: l, Fixer: l, Analyst: l, Session: "x", Base: 1, Runtime: callwright.Runtime{Clock: l},
		Observe: func(s tornado.Progress) { l.observed = append(l.observed, s) },
	}
	for i := range l.documents[0].Nodes {
		c.Scenarios = append(c.Scenarios, tornado.Scenario{ID: fmt.Sprint("s", i)})
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func (l *lab) search(t *testing.T, change ...func(*tornado.SearchConfig)) tornado.Progress {
	t.Helper()
	s, err := tornado.Search(t.Context(), l.config(change...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEndStates checks that a search can reach every end state, with the right reason.
func TestEndStates(t *testing.T) {
	t.Parallel()
	down := &llm.Failure{Class: llm.ClassPermanent, Message: "no such model"}
	at := func(part string, err error) func(string) error {
		return func(name string) error {
			if strings.Contains(name, part) {
				return err
			}
			return nil
		}
	}
	for name, test := range map[string]struct {
		texts  []string
		lab    func(*lab)
		config func(*lab, *tornado.SearchConfig)
		state  tornado.State
		stop   tornado.StopReason
		best   int
	}{
		"nothing to mend":    {[]string{"good", "good"}, nil, nil, tornado.AllPassed, tornado.StopBaseline, 1},
		"mended":             {[]string{"good", "bad", "bad"}, func(l *lab) { l.plan = mendsOne }, nil, tornado.AllPassed, tornado.StopAllPassed, 3},
		"mended at the last": {[]string{"bad", "bad"}, func(l *lab) { l.plan = mendsOne }, func(_ *lab, c *tornado.SearchConfig) { c.Iterations = 2 }, tornado.AllPassed, tornado.StopAllPassed, 3},
		"too many to mend": {
			[]string{"bad", "bad", "bad"}, func(l *lab) { l.plan = mendsOne }, func(_ *lab, c *tornado.SearchConfig) { c.Iterations = 2 },
			tornado.CompletedPartial, tornado.StopIterations, 3,
		},
		"no money left": {
			[]string{"bad", "bad"}, func(l *lab) { l.plan = mendsOne }, func(l *lab, c *tornado.SearchConfig) { c.Spent = func() bool { return l.asked > 0 } },
			tornado.CompletedPartial, tornado.StopBudget, 2,
		},
		"nothing helps": {
			[]string{"bad", "good"}, func(l *lab) { l.plan = does(say("worse", "n1"), say("worse still", "n1")) }, nil,
			tornado.Stuck, tornado.StopNoProgress, 1,
		},
		"the node is changed in vain": {
			[]string{"bad", "good"}, func(l *lab) { l.plan = does(say("worse", "n0"), say("worse still", "n0")) }, nil,
			tornado.Stuck, tornado.StopUnfixable, 1,
		},
		"a test that is wrong": {
			[]string{"bad"}, func(l *lab) { l.analyze = map[string]analysis.Fault{"s0": analysis.OfTest} }, nil,
			tornado.Stuck, tornado.StopUnfixable, 1,
		},
		"what is held out alone": {[]string{"bad"}, nil, func(_ *lab, c *tornado.SearchConfig) { c.Scenarios[0].HeldOut = true }, tornado.Stuck, tornado.StopUnfixable, 1},
		"nothing is proposed":    {[]string{"bad"}, func(l *lab) { l.plan = does(tornado.Plan{}) }, func(_ *lab, c *tornado.SearchConfig) { c.Patience = 9 }, tornado.Stuck, tornado.StopNoPlan, 1},
		"the same is proposed": {
			[]string{"bad", "good"}, func(l *lab) { l.plan = does(say("worse", "n1")) }, func(_ *lab, c *tornado.SearchConfig) { c.Patience = 9 },
			tornado.Stuck, tornado.StopNoPlan, 1,
		},
		"invalid answers": {
			[]string{"bad"}, func(l *lab) {
				l.plan = func(*lab, tornado.Brief) (tornado.Plan, error) {
					return tornado.Plan{}, &llm.Failure{Class: llm.ClassInvalid}
				}
			}, func(_ *lab, c *tornado.SearchConfig) { c.Patience = 9 }, tornado.Stuck, tornado.StopNoPlan, 1,
		},
		"back and forth": {
			[]string{"bad", "good", "good"},
			func(l *lab) {
				l.plan = func(l *lab, _ tornado.Brief) (tornado.Plan, error) {
					p := say(fmt.Sprint("worse ", l.asked), []string{"n1", "n2"}[l.asked%2])
					p.Fixes = append(p.Fixes, say("good "+fmt.Sprint(l.asked), "n0").Fixes...)
					return p, nil
				}
			}, func(_ *lab, c *tornado.SearchConfig) { c.Patience = 9 }, tornado.Stuck, tornado.StopOscillation, 1,
		},
		"too late": {
			[]string{"bad", "bad"}, func(l *lab) { l.plan = mendsOne }, func(l *lab, c *tornado.SearchConfig) { c.Deadline = l.clock.Add(3 * time.Minute) },
			tornado.TimedOut, tornado.StopDeadline, 1,
		},
		"too late, and mended": {
			[]string{"bad"}, func(l *lab) { l.plan = mendsOne }, func(l *lab, c *tornado.SearchConfig) {
				c.Cancelled = func() bool {
					return len(l.documents) > 1 && l.tested > 2 && slices.ContainsFunc(l.observed, func(s tornado.Progress) bool { return s.Best == 2 })
				}
			}, tornado.AllPassed, tornado.StopAllPassed, 2,
		},
		"cancelled": {[]string{"bad"}, func(l *lab) { l.plan = mendsOne }, func(l *lab, c *tornado.SearchConfig) { c.Cancelled = func() bool { return l.asked > 0 } }, tornado.Cancelled, tornado.StopCancelled, 1},
		"runs in error": {
			[]string{"bad", "good", "good"},
			func(l *lab) {
				l.plan = func(l *lab, _ tornado.Brief) (tornado.Plan, error) {
					return say(fmt.Sprint("good ", l.asked), "n0"), nil
				}
				l.broken = func(name, id string) bool { return !strings.Contains(name, "/0 ") && id != "s0" }
			}, func(_ *lab, c *tornado.SearchConfig) { c.Patience = 9 }, tornado.Failed, tornado.StopInfrastructure, 1,
		},
		"a model that refuses": {
			[]string{"bad", "good"}, func(l *lab) { l.refused, l.broken = true, func(string, string) bool { return true } },
			nil, tornado.Failed, tornado.StopModel, 1,
		},
		"a store that is down":   {[]string{"bad"}, func(l *lab) { l.plan, l.fail = mendsOne, at("fork", callwright.ErrUnavailable) }, nil, tornado.Failed, tornado.StopInfrastructure, 1},
		"a model that is gone":   {[]string{"bad"}, func(l *lab) { l.fail = at("plan", down) }, nil, tornado.Failed, tornado.StopModel, 1},
		"a pathway that is gone": {[]string{"bad"}, func(l *lab) { l.fail = at("document", callwright.ErrNotFound) }, nil, tornado.Failed, tornado.StopPathway, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(test.texts...)
			if test.lab != nil {
				test.lab(l)
			}
			s := l.search(t, func(c *tornado.SearchConfig) {
				if test.config != nil {
					test.config(l, c)
				}
			})
			if s.State != test.state || s.Stop != test.stop || s.Best != test.best {
				t.Errorf("the session has ended as %s, %s (%s) with version %d, want %s, %s, %d\n%+v",
					s.State, s.Stop, s.Detail, s.Best, test.state, test.stop, test.best, s.Iterations)
			}
			for _, it := range s.Iterations {
				if it.Completed.IsZero() {
					t.Errorf("the iteration %+v has no end", it)
				}
			}
		})
	}
}

// TestConfirms checks that a single lucky pass does not count as a success, and that a single failure rejects a candidate only if promotion
// requires the scenario.
func TestConfirms(t *testing.T) {
	t.Parallel()
	l := newLab("bad", "good")
	l.plan = does(say("good", "n0"), say("good.", "n0"))
	l.flaky = map[string]func(int, int) bool{"s0": func(version, run int) bool { return version != 2 || run%2 == 0 }}
	s := l.search(t)
	if s.State != tornado.AllPassed || s.Best != 3 || !slices.Equal(s.Iterations[1].Failed, []string{"s0"}) {
		t.Errorf("a scenario that passes by luck: %+v", s)
	}
	for required, best := range map[bool]int{false: 2, true: 1} {
		l = newLab("bad", "good")
		l.plan = does(say("good", "n0"), tornado.Plan{})
		l.flaky = map[string]func(int, int) bool{"s1": func(_, run int) bool { return run != 2 }}
		s = l.search(t, func(c *tornado.SearchConfig) { c.Scenarios[1].Required = required })
		if s.Best != best {
			t.Errorf("a scenario that fails once, required %t: %+v", required, s)
		}
	}
}

// TestFixerSeesOnlyWhatItMay checks that the Fixer reads neither held-out nor unfixable scenarios, and that it reads why plans were
// rejected.
func TestFixerSeesOnlyWhatItMay(t *testing.T) {
	t.Parallel()
	l := newLab("bad", "bad", "bad", "good")
	var briefs []tornado.Brief
	l.plan = func(l *lab, b tornado.Brief) (tornado.Plan, error) {
		briefs = append(briefs, b)
		return say(fmt.Sprint("worse ", l.asked), "n3"), nil
	}
	l.analyze = map[string]analysis.Fault{"s1": analysis.OfStructure}
	s := l.search(t, func(c *tornado.SearchConfig) { c.Scenarios[2].HeldOut = true })
	if len(briefs) != 2 || !slices.Equal(s.Unfixable, []string{"s1"}) {
		t.Fatalf("%d briefs, %+v", len(briefs), s)
	}
	for _, b := range briefs {
		if len(b.Findings) != 1 || b.Findings[0].Scenario != "s0" || b.Findings[0].Analysis == nil {
			t.Errorf("the fixer sees %+v", b.Findings)
		}
	}
	if r := briefs[1].Rejected; len(r) != 1 || r[0].Reason != "no failing scenario passes" {
		t.Errorf("the fixer knows of %+v", r)
	}
}

// TestRefusedPlans checks that a plan that exceeds the limits or breaks the pathway counts as an iteration, but never becomes a version.
func TestRefusedPlans(t *testing.T) {
	t.Parallel()
	l := newLab("bad", "good")
	l.plan = does(
		say("call https://evil.example/", "n0"),
		tornado.Plan{Fixes: []tornado.Fix{{Kind: analysis.FlowChange, Node: "n0", Edits: []tornado.Edit{{Op: tornado.RemoveEdge, Edge: "e1"}}}}},
	)
	s := l.search(t)
	if s.Stop != tornado.StopNoProgress || len(l.documents) != 1 {
		t.Errorf("%d versions: %+v", len(l.documents), s)
	}
	for i, why := range []string{"must not add the address", "makes the pathway invalid"} {
		if it := s.Iterations[i+1]; it.Outcome != tornado.Refused || !strings.Contains(it.Reason, why) {
			t.Errorf("iteration %+v, want %q", it, why)
		}
	}
}

// TestFamilyOfDefects plants defects in pathways of one to six nodes. The fixer proposes a repair for each defect, and wrong plans between
// them. The search must repair all defects without breaking a passing scenario, and reach the same result when it is interrupted at any
// call.
func TestFamilyOfDefects(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := make([]string, rapid.IntRange(1, 6).Draw(t, "nodes"))
		for i := range texts {
			texts[i] = rapid.SampledFrom([]string{"good", "bad"}).Draw(t, "text")
		}
		var plans []tornado.Plan // a repair for each defect, and between them wrong plans that change a good node
		wrong, sound := 0, slices.Index(texts, "good")
		for i, text := range texts {
			if text == "good" {
				continue
			}
			if wrong++; sound >= 0 && rapid.Bool().Draw(t, "wrong first") {
				plans = append(plans, say(fmt.Sprint("worse ", wrong), fmt.Sprint("n", sound)))
			}
			plans = append(plans, say("good", fmt.Sprint("n", i)))
		}
		plans = append(plans, tornado.Plan{})
		build := func() (*lab, tornado.SearchConfig) {
			l := newLab(texts...)
			l.plan = does(plans...)
			return l, l.config(func(c *tornado.SearchConfig) { c.Iterations, c.Patience = 20, 2 })
		}
		l, c := build()
		want, err := tornado.Search(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		if want.State != tornado.AllPassed {
			t.Fatalf("%q ends as %s, %s: %+v", texts, want.State, want.Stop, want.Iterations)
		}
		for _, id := range want.Iterations[0].Passed {
			if !slices.Contains(want.Passed, id) {
				t.Fatalf("%s passed before", id)
			}
		}
		crashed, config := build()
		for left := rapid.IntRange(1, 30).Draw(t, "crashes"); ; left-- {
			ctx, cancel := context.WithCancel(context.Background())
			steps := rapid.IntRange(1, 20).Draw(t, "steps")
			crashed.fail = func(string) error {
				if steps--; steps == 0 && left > 0 {
					cancel()
				}
				return ctx.Err()
			}
			got, err := tornado.Search(ctx, config)
			cancel()
			if err != nil {
				continue
			}
			timeless := func(s tornado.Progress) tornado.Progress {
				s.Iterations = slices.Clone(s.Iterations)
				for i := range s.Iterations {
					s.Iterations[i].Started, s.Iterations[i].Completed = time.Time{}, time.Time{}
				}
				return s
			}
			if !reflect.DeepEqual(timeless(got), timeless(want)) || crashed.asked != l.asked || crashed.tested != l.tested {
				t.Fatalf("with crashes: %+v after %d plans and %d batches\nwithout: %+v after %d and %d",
					timeless(got), crashed.asked, crashed.tested, timeless(want), l.asked, l.tested)
			}
			return
		}
	})
}

func TestSearchNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for field, remove := range map[string]func(*tornado.SearchConfig){
		"Versions": func(c *tornado.SearchConfig) { c.Versions = nil }, "Tests": func(c *tornado.SearchConfig) { c.Tests = nil },
		"Fixer": func(c *tornado.SearchConfig) { c.Fixer = nil }, "Base": func(c *tornado.SearchConfig) { c.Base = 0 },
		"Scenarios": func(c *tornado.SearchConfig) { c.Scenarios = nil }, "Iterations": func(c *tornado.SearchConfig) { c.Iterations = 21 },
	} {
		if _, err := tornado.Search(t.Context(), newLab("bad").config(remove)); err == nil || !strings.Contains(err.Error(), "SearchConfig."+field) {
			t.Errorf("without %s: %v", field, err)
		}
	}
}
