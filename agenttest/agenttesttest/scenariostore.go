package agenttesttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/callwrighttest"
)

// RunScenarios tests an agenttest.Scenarios. The arguments are those of RunStore.
func RunScenarios(t *testing.T, newStore NewStore, atRest callwrighttest.AtRest[agenttest.Store]) {
	t.Helper()
	checkStore(t, "scenarios", newStore, atRest, map[string]func(*testing.T, subject){
		"keeps every field":                     keepsScenario,
		"tells no JSON from null":               keepsRawJSON,
		"shares no memory":                      sharesNoScenario,
		"hides other organizations' scenarios":  hidesScenarios,
		"refuses an id twice":                   refusesScenarioTwice,
		"keeps names unique":                    keepsNamesUnique,
		"lets one of many writers have a name":  givesNameOnce,
		"updates by compare-and-set":            updatesScenario,
		"pages without gaps":                    pagesScenarios,
		"filters":                               filtersScenarios,
		"lists in brief":                        listsBriefly,
		"bounds the bytes of a list":            boundsScenarios,
		"lists the most recent runs":            listsRecentRuns,
		"tells the required ones":               tellsRequired,
		"deletes with runs":                     deletesScenario,
		"holds":                                 holdsScenario,
		"deletes no runs of open groups":        deletesNoOpenRuns,
		"encrypts what callers and systems say": encryptsScenario,
	})
}

func (s subject) wantScenario(t *testing.T, want scenario.Scenario) {
	t.Helper()
	got, err := s.Scenario(t.Context(), want.Org, want.ID)
	wantSame(t, got, err, want)
}

func keepsScenario(t *testing.T, s subject) {
	want := FullScenario("s1")
	callwrighttest.Full(t, want)
	given := want
	given.Revision = 9 // the store must ignore it
	s.insert(t, given, aScenario("bare"))
	s.wantScenario(t, want)
	s.wantScenario(t, aScenario("bare"))

	changed := aScenario("s1")
	changed.Pathway, changed.Persona, changed.CreatedAt = "p2", "persona 2", later(9)
	do(t, s.UpdateScenario(t.Context(), changed))
	changed.Pathway, changed.Persona, changed.CreatedAt, changed.Revision = want.Pathway, want.Persona, want.CreatedAt, 2
	s.wantScenario(t, changed)
	want.Revision = 2
	do(t, s.UpdateScenario(t.Context(), want))
	want.Revision = 3
	s.wantScenario(t, want)
}

// keepsRawJSON checks that the store distinguishes nil JSON from null, which wantSame does not.
func keepsRawJSON(t *testing.T, s subject) {
	none, null := aScenario("none"), aScenario("null")
	none.Webhooks, none.Assertions = []scenario.WebhookMock{{URL: "x"}}, []assert.Assertion{{ID: "a1"}}
	null.Webhooks = []scenario.WebhookMock{{Body: json.RawMessage("null")}}
	s.insert(t, none, null)
	got, err := s.Scenario(t.Context(), "a", "none")
	if err != nil || got.Metadata != nil || got.Webhooks[0].Body != nil || got.Assertions[0].Config != nil {
		t.Errorf("no JSON is %q, %q, %q, %v", got.Metadata, got.Webhooks[0].Body, got.Assertions[0].Config, err)
	}
	if got, err = s.Scenario(t.Context(), "a", "null"); err != nil || string(got.Webhooks[0].Body) != "null" {
		t.Errorf("null is %q, %v", got.Webhooks[0].Body, err)
	}
}

func sharesNoScenario(t *testing.T, s subject) {
	given := FullScenario("s1")
	s.insert(t, given, aRun("r1"))
	callwrighttest.Spoil(&given)
	for range 2 {
		s.wantScenario(t, FullScenario("s1"))
		got, err := s.Scenario(t.Context(), "a", "s1")
		do(t, err)
		callwrighttest.Spoil(&got)
		list, err := s.FindScenarios(t.Context(), "a", agenttest.ScenarioFilter{Limit: 1})
		if err != nil || len(list) != 1 || list[0].Recent == nil || list[0].Recent.Name != "Scenario s1" {
			t.Fatalf("got %+v, %v", list, err)
		}
		callwrighttest.Spoil(&list[0].Scenario)
		callwrighttest.Spoil(list[0].Recent)
	}
}

func hidesScenarios(t *testing.T, s subject) {
	required := aScenario("s1")
	required.Enabled, required.Required = true, true
	s.insert(t, required, aRun("r1"))
	foreign := required
	foreign.Org = "b"
	_, getErr := s.Scenario(t.Context(), "b", "s1")
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"get": getErr, "update": s.UpdateScenario(t.Context(), foreign), "delete": s.DeleteScenario(t.Context(), "b", "s1"),
		"update absent": s.UpdateScenario(t.Context(), aScenario("s2")), "delete absent": s.DeleteScenario(t.Context(), "a", "s2"),
	})
	list, listErr := s.FindScenarios(t.Context(), "b", agenttest.ScenarioFilter{IDs: []string{"s1"}, Limit: 10})
	n, countErr := s.CountScenarios(t.Context(), "b")
	gate, gateErr := s.RequiredScenarios(t.Context(), "b", "p1", 10)
	do(t, listErr, countErr, gateErr)
	if len(list) != 0 || n != 0 || len(gate) != 0 {
		t.Errorf("another organization has %+v, %d, %v", list, n, gate)
	}
	s.wantScenario(t, required)
	if _, err := s.Run(t.Context(), "a", "r1"); err != nil {
		t.Error("the deletion of another organization's has removed a run:", err)
	}
}

func refusesScenarioTwice(t *testing.T, s subject) {
	s.insert(t, aScenario("s1"))
	for _, org := range []callwright.OrgID{"a", "b"} {
		again := aScenario("s1")
		again.Org, again.Name = org, "Another"
		if err := s.InsertScenario(t.Context(), again); callwright.CodeOf(err) != callwright.CodeConflict || nameTaken(err) {
			t.Errorf("got %v, want a conflict", err)
		}
	}
	s.wantScenario(t, aScenario("s1"))
}

// nameTaken reports whether an error is agenttest.ErrNameTaken, not just any conflict.
func nameTaken(err error) bool {
	e, ok := errors.AsType[*callwright.Error](err)
	return ok && e.Code == callwright.CodeConflict && e.Field == "name"
}

func keepsNamesUnique(t *testing.T, s subject) {
	named := func(id, name string, change func(*scenario.Scenario)) scenario.Scenario {
		sc := aScenario(id)
		sc.Name = name
		change(&sc)
		return sc
	}
	same := func(*scenario.Scenario) {}
	s.insert(t, named("s1", "Pay", same), named("s2", "Order", same))
	if err := s.InsertScenario(t.Context(), named("s3", "Pay", same)); !nameTaken(err) {
		t.Errorf("a name twice gave %v", err)
	}
	if err := s.UpdateScenario(t.Context(), named("s2", "Pay", same)); !nameTaken(err) {
		t.Errorf("an update to a name that is taken gave %v", err)
	}
	stale := named("s2", "Pay", same)
	stale.Revision = 7
	if err := s.UpdateScenario(t.Context(), stale); callwright.CodeOf(err) != callwright.CodeConflict || nameTaken(err) {
		t.Errorf("a stale update to a name that is taken gave %v", err)
	}
	s.insert(t,
		named("s4", "Pay", func(sc *scenario.Scenario) { sc.Pathway = "p2" }),
		named("s5", "Pay", func(sc *scenario.Scenario) { sc.Pathway, sc.Persona = "", "p1" }),
		named("s6", "Pay", func(sc *scenario.Scenario) { sc.Org = "b" }), named("s7", "pay", same))
	do(t, s.UpdateScenario(t.Context(), named("s1", "Pay", same)), s.DeleteScenario(t.Context(), "a", "s1"))
	do(t, s.UpdateScenario(t.Context(), named("s2", "Pay", same)))
}

func givesNameOnce(t *testing.T, s subject) {
	callwrighttest.Race(t, func(writer int) error {
		sc := aScenario(fmt.Sprint("s", writer))
		sc.Name = "Pay"
		return s.InsertScenario(t.Context(), sc)
	})
}

func updatesScenario(t *testing.T, s subject) {
	s.insert(t, aScenario("s1"))
	changed := func(writer int) scenario.Scenario {
		sc := aScenario("s1")
		sc.MaxTurns = writer
		return sc
	}
	want := changed(callwrighttest.Race(t, func(writer int) error { return s.UpdateScenario(t.Context(), changed(writer)) }))
	want.Revision = 2
	s.wantScenario(t, want)
}

func listedID(l agenttest.Listed) string { return l.ID }

// pagesScenarios checks that pages contain each scenario once and in order, although most scenarios have equal timestamps.
func pagesScenarios(t *testing.T, s subject) {
	const count = 25
	var want []string
	for i := range count {
		sc := aScenario(fmt.Sprintf("s%02d", (i*7)%count))
		sc.CreatedAt = later((i * 7) % count / 10)
		s.insert(t, sc)
		want = append(want, fmt.Sprintf("s%02d", count-1-i))
	}
	other := aScenario("other")
	other.Org = "b"
	s.insert(t, other)
	var seen []agenttest.Listed
	for f := (agenttest.ScenarioFilter{Limit: 4}); ; {
		list, err := s.FindScenarios(t.Context(), "a", f)
		if err != nil || len(list) > 4 {
			t.Fatalf("got %d, %v", len(list), err)
		}
		if len(list) == 0 {
			break
		}
		seen = append(seen, list...)
		f.After = list[len(list)-1].Keyset()
	}
	wantIDs(t, "pages", seen, nil, listedID, want...)
	if n, err := s.CountScenarios(t.Context(), "a"); err != nil || n != count {
		t.Errorf("counted %d, %v", n, err)
	}
}

func filtersScenarios(t *testing.T, s subject) {
	yes, no := true, false
	for i, change := range []func(*scenario.Scenario){
		func(sc *scenario.Scenario) { sc.Enabled, sc.Required = true, true },
		func(sc *scenario.Scenario) { sc.Pathway, sc.Enabled = "p2", true },
		func(sc *scenario.Scenario) { sc.Pathway, sc.Persona, sc.Required = "", "x1", true },
		func(sc *scenario.Scenario) { sc.Category = scenario.Voicemail },
	} {
		sc := aScenario(fmt.Sprint("s", i))
		sc.CreatedAt = later(-i)
		change(&sc)
		s.insert(t, sc)
	}
	for name, tt := range map[string]struct {
		f    agenttest.ScenarioFilter
		want string
	}{
		"all":          {agenttest.ScenarioFilter{}, "s0 s1 s2 s3"},
		"ids":          {agenttest.ScenarioFilter{IDs: []string{"s3", "s0", "none"}}, "s0 s3"},
		"pathway":      {agenttest.ScenarioFilter{Pathway: "p1"}, "s0 s3"},
		"persona":      {agenttest.ScenarioFilter{Persona: "x1"}, "s2"},
		"category":     {agenttest.ScenarioFilter{Category: scenario.Voicemail}, "s3"},
		"enabled":      {agenttest.ScenarioFilter{Enabled: &yes}, "s0 s1"},
		"disabled":     {agenttest.ScenarioFilter{Enabled: &no}, "s2 s3"},
		"required":     {agenttest.ScenarioFilter{Required: &yes}, "s0 s2"},
		"not required": {agenttest.ScenarioFilter{Required: &no}, "s1 s3"},
		"many":         {agenttest.ScenarioFilter{Pathway: "p1", Enabled: &yes, Required: &yes, Category: scenario.Custom}, "s0"},
		"none":         {agenttest.ScenarioFilter{Pathway: "p2", Required: &yes}, ""},
	} {
		tt.f.Limit = 10
		list, err := s.FindScenarios(t.Context(), "a", tt.f)
		wantIDs(t, name, list, err, listedID, strings.Fields(tt.want)...)
	}
}

func listsBriefly(t *testing.T, s subject) {
	sc := FullScenario("s1")
	s.insert(t, sc, aRun("r1"))
	list, err := s.FindScenarios(t.Context(), "a", agenttest.ScenarioFilter{Brief: true, Limit: 2})
	wantSame(t, list, err, []agenttest.Listed{{Scenario: scenario.Scenario{
		ID: sc.ID, Org: sc.Org, Pathway: sc.Pathway, Persona: sc.Persona, Name: sc.Name, Category: sc.Category, Required: sc.Required,
		Enabled: sc.Enabled, CreatedAt: sc.CreatedAt, UpdatedAt: sc.UpdatedAt, Revision: sc.Revision,
	}}})
}

// boundsScenarios checks that a list of large scenarios ends soon after MaxRead bytes, and not before.
func boundsScenarios(t *testing.T, s subject) {
	for i := range 8 {
		sc := aScenario(fmt.Sprint("s", i))
		sc.CreatedAt = later(-i)
		sc.CallerPrompt = strings.Repeat("x", agenttest.MaxRead/4)
		if i > 4 {
			sc.CallerPrompt = strings.Repeat("x", agenttest.MaxRead+1)
		}
		s.insert(t, sc)
	}
	for after, want := range map[int]int{-1: 4, 2: 3, 4: 2, 5: 2, 6: 1} {
		f := agenttest.ScenarioFilter{Limit: 10}
		if after >= 0 {
			f.After = callwright.Keyset{At: later(-after), ID: fmt.Sprint("s", after)}
		}
		if list, err := s.FindScenarios(t.Context(), "a", f); err != nil || len(list) < want {
			t.Errorf("of large scenarios after %d %d are read, %v; want %d", after, len(list), err, want)
		} else if size := total(list[:len(list)-1]); len(list) > 2 && size > agenttest.MaxRead {
			t.Errorf("after %d the list goes on beyond %d bytes", after, size)
		}
	}
}

func total(list []agenttest.Listed) (size int) {
	for _, l := range list {
		size += l.Size()
	}
	return size
}

func listsRecentRuns(t *testing.T, s subject) {
	run := func(id, of string, seconds int) run.Run {
		r := FullRun(id)
		r.Scenario, r.CreatedAt, r.Batch, r.Experiment = of, later(seconds), "", false
		return r
	}
	s.insert(t, aScenario("s1"), aScenario("s2"), aScenario("s3"),
		run("r1", "s1", 5), run("r3", "s1", 7), run("r2", "s1", 7), run("r4", "s1", 6), run("r5", "s2", 0))
	experiment := run("r7", "s1", 9)
	experiment.Experiment = true
	s.insert(t, experiment)
	foreign := run("r6", "s3", 0)
	foreign.Org = "b"
	s.insert(t, foreign)
	list, err := s.FindScenarios(t.Context(), "a", agenttest.ScenarioFilter{Limit: 10})
	wantIDs(t, "list", list, err, listedID, "s3", "s2", "s1")
	if len(list) != 3 || list[0].Recent != nil || list[1].Recent == nil || list[1].Recent.ID != "r5" || list[2].Recent == nil {
		t.Fatalf("got %+v", list)
	}
	want := run("r3", "s1", 7)
	want.Outcome, want.Summary = nil, ""
	wantSame(t, *list[2].Recent, nil, want)
}

func tellsRequired(t *testing.T, s subject) {
	for i := range 6 {
		sc := aScenario(fmt.Sprint("s", i))
		sc.Enabled, sc.Required = i != 0, i != 1
		if i == 2 {
			sc.Pathway = "p2"
		}
		s.insert(t, sc)
	}
	changed := aScenario("s4")
	changed.Enabled, changed.Required = true, true
	do(t, s.UpdateScenario(t.Context(), changed))
	got, err := s.RequiredScenarios(t.Context(), "a", "p1", 10)
	if err != nil || fmt.Sprint(got) != "map[s3:1 s4:2 s5:1]" {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err = s.RequiredScenarios(t.Context(), "a", "p1", 2); err != nil || len(got) != 2 {
		t.Errorf("of at most 2 got %v, %v", got, err)
	}
	if got, err = s.RequiredScenarios(t.Context(), "a", "p3", 2); err != nil || len(got) != 0 {
		t.Errorf("of a pathway without scenarios got %v, %v", got, err)
	}
}

// deletesScenario checks that a scenario is deleted with its runs, and that a snapshot remains if a run of another scenario shares it.
func deletesScenario(t *testing.T, s subject) {
	done := aBatch("b1")
	done.State = run.Passed
	of := func(r run.Run, of, snapshot string) run.Run {
		r.Scenario, r.Snapshot = of, snapshot
		return r
	}
	foreign := of(aRun("r5"), "s1", "snap4")
	foreign.Org = "b"
	s.insert(t, aScenario("s1"), aScenario("s2"), done,
		of(aRun("r1"), "s1", "snap1"), of(running("r2", "n"), "s1", "snap1"), in(of(ended("r3", 9), "s1", "snap2"), "b1", 0),
		of(aRun("r4"), "s2", "snap2"), foreign, in(of(ended("r6", 9), "s1", "snap3"), "gone", 0))
	for i := 1; i <= 4; i++ {
		s.insert(t, aSnapshot(fmt.Sprint("snap", i)))
	}
	do(t, s.AppendAnswer(t.Context(), "a", "r2", "n", "k", []byte("x")), s.DeleteScenario(t.Context(), "a", "s1"))
	s.wantGone(t, "r1", "r2", "r3", "r6", "snap1", "snap3")
	s.wantThere(t, "r4", "snap2", "snap4")
	_, err := s.Run(t.Context(), "b", "r5")
	do(t, err)
	_, err = s.Scenario(t.Context(), "a", "s1")
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"get": err, "delete again": s.DeleteScenario(t.Context(), "a", "s1"), "update": s.UpdateScenario(t.Context(), aScenario("s1")),
	})
	// A new run with the same id starts with an empty journal.
	s.insert(t, running("r2", "n"))
	if answers, err := s.Answers(t.Context(), "a", "r2"); err != nil || len(answers) != 0 {
		t.Errorf("the journal of a run that is gone has %d answers, %v", len(answers), err)
	}
}

func deletesNoOpenRuns(t *testing.T, s subject) {
	waiting, set := aBatch("b2"), aBatch("b3")
	waiting.State, set.Kind = run.Pending, group.Simulations
	s.insert(t, aScenario("s1"), aBatch("b1"), waiting, set)
	for i := 1; i <= 3; i++ {
		batch := fmt.Sprint("b", i)
		r := in(ended(fmt.Sprint("r", i), 9), batch, 0)
		r.Snapshot = fmt.Sprint("snap", i)
		s.insert(t, r, aSnapshot(r.Snapshot))
	}
	shared := aRun("r4")
	shared.Snapshot = "snap1"
	s.insert(t, shared)
	do(t, s.DeleteScenario(t.Context(), "a", "s1"))
	s.wantGone(t, "r4")
	s.wantThere(t, "r1", "r2", "r3", "snap1", "snap2", "snap3")
}

// has reports whether organization a has a run or, if id begins with "snap", a snapshot.
func (s subject) has(t *testing.T, id string) bool {
	t.Helper()
	_, err := s.Run(t.Context(), "a", id)
	if strings.HasPrefix(id, "snap") {
		_, err = s.Snapshot(t.Context(), "a", id)
	}
	if err != nil && callwright.CodeOf(err) != callwright.CodeNotFound {
		t.Fatal(err)
	}
	return err == nil
}

func (s subject) wantGone(t *testing.T, ids ...string) {
	t.Helper()
	if i := slices.IndexFunc(ids, func(id string) bool { return s.has(t, id) }); i >= 0 {
		t.Errorf("%s is still there", ids[i])
	}
}

func (s subject) wantThere(t *testing.T, ids ...string) {
	t.Helper()
	if i := slices.IndexFunc(ids, func(id string) bool { return !s.has(t, id) }); i >= 0 {
		t.Errorf("%s is gone", ids[i])
	}
}

func encryptsScenario(t *testing.T, s subject) {
	sc := aScenario(callwrighttest.VisibleID)
	sc.Description, sc.CallerPrompt, sc.Instructions, sc.CallerName = "hunter2-desc", "hunter2-prom", "hunter2-inst", "hunter2-name"
	sc.Messages = []scenario.Message{{Text: "hunter2-line"}}
	sc.RequestData = map[string]any{"key": "hunter2-data"}
	sc.Webhooks = []scenario.WebhookMock{{URL: "hunter2-mock", Body: json.RawMessage(`"hunter2-body"`), Delay: time.Second}}
	sc.Assertions = []assert.Assertion{{ID: "a1", Name: "hunter2-asse", Config: json.RawMessage(`{"key":"hunter2-conf"}`)}}
	sc.Metadata = json.RawMessage(`{"key":"hunter2-meta"}`)
	s.atRest.Check(t, s.Store, func() error {
		if err := s.InsertScenario(t.Context(), sc); err != nil {
			return err
		}
		return s.UpdateScenario(t.Context(), sc)
	}, "hunter2-desc", "hunter2-prom", "hunter2-inst", "hunter2-name", "hunter2-line", "hunter2-data", "hunter2-mock", "hunter2-body",
		"hunter2-asse", "hunter2-conf", "hunter2-meta")
}
