package agenttesttest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/callwrighttest"
)

// RunRuns tests a run.Store. The arguments are those of RunStore.
func RunRuns(t *testing.T, newStore NewStore, atRest callwrighttest.AtRest[agenttest.Store]) {
	t.Helper()
	checkStore(t, "runs", newStore, atRest, map[string]func(*testing.T, subject){
		"keeps every field":                       keepsRun,
		"keeps every field of a snapshot":         keepsSnapshot,
		"keeps texts that no database has":        keepsOddTexts,
		"shares no memory":                        sharesNoRun,
		"hides other organizations' runs":         hidesRuns,
		"inserts all or none":                     insertsAllOrNone,
		"inserts nothing":                         insertsNothing,
		"inserts many":                            insertsManyRuns,
		"gives a trial to one of many writers":    givesTrialOnce,
		"updates by compare-and-set":              updatesRun,
		"updates only what changes":               updatesPartOfRun,
		"updates all or none":                     updatesAllOrNone,
		"pages without gaps":                      pagesRuns,
		"skips runs":                              skipsRuns,
		"filters and counts":                      filtersRuns,
		"lists without outcomes":                  listsWithoutOutcomes,
		"tells which runs have ended":             tellsEndedRuns,
		"tells a run when it has ended":           tellsEndOfRun,
		"tells which organizations wait":          tellsWaiting,
		"tells which runs are abandoned":          tellsAbandoned,
		"tells which runs are to be cancelled":    tellsCancelled,
		"cancels a run that a node executes":      cancelsRun,
		"looks beyond groups":                     looksBeyondGroups,
		"deletes old runs":                        deletesOldRuns,
		"deletes groups with their last run":      deletesEmptyGroups,
		"encrypts what people and systems say":    encryptsRun,
		"encrypts what people and systems expect": encryptsSnapshot,
		"counts what has not ended":               countsUnended,
		"holds starts":                            holdsStarts,
		"holds snapshots":                         holdsSnapshots,
	})
}

func (s subject) wantRun(t *testing.T, want run.Run) {
	t.Helper()
	got, err := s.Run(t.Context(), want.Org, want.ID)
	wantSame(t, got, err, want)
}

func (s subject) update(t *testing.T, runs ...run.Run) error {
	t.Helper()
	return s.UpdateRuns(t.Context(), runs)
}

func runID(r run.Run) string { return r.ID }

func keepsRun(t *testing.T, s subject) {
	want := FullRun("r1")
	callwrighttest.Full(t, want)
	given := want
	given.Revision = 9 // the store must ignore it
	s.insert(t, given, aRun("bare"))
	s.wantRun(t, want)
	s.wantRun(t, aRun("bare"))

	bare := want
	bare.State, bare.Node, bare.Attempt, bare.Scripted = run.Pending, "", 0, false
	bare.Outcome, bare.Result, bare.Summary = nil, run.Result{}, ""
	bare.StartedAt, bare.EndedAt = aRun("r1").StartedAt, aRun("r1").EndedAt
	do(t, s.update(t, bare))
	bare.Revision = 2
	s.wantRun(t, bare)
	want.Revision = 2
	do(t, s.update(t, want))
	want.Revision = 3
	s.wantRun(t, want)
}

func keepsSnapshot(t *testing.T, s subject) {
	want, other := FullSnapshot("snap1"), aSnapshot("snap2")
	callwrighttest.Full(t, want)
	do(t, s.InsertSnapshots(t.Context(), []run.Snapshot{want, other}))
	for _, want := range []run.Snapshot{want, other} {
		got, err := s.Snapshot(t.Context(), "a", want.ID)
		wantSame(t, got, err, want)
	}
}

// keepsOddTexts checks that a run can end with texts of models that contain unusual characters, such as NUL.
func keepsOddTexts(t *testing.T, s subject) {
	const odd = "it's \x00 \\u0000 ? ?0 \u2028 <&>"
	s.insert(t, running("r1", "n"))
	want, out := ended("r1", 2), FullOutcome()
	out.Evidence.Turns[0].Text, out.Evidence.Variables = odd, map[string]any{odd: odd}
	want.Outcome, want.Result.Error = &out, odd
	do(t, s.update(t, want))
	want.Revision = 2
	s.wantRun(t, want)
}

func sharesNoRun(t *testing.T, s subject) {
	given, snapshot, updated := FullRun("r1"), FullSnapshot("snap1"), FullRun("r2")
	s.insert(t, given, snapshot, in(aRun("r2"), "b2", 3))
	do(t, s.update(t, updated))
	callwrighttest.Spoil(&given)
	callwrighttest.Spoil(&snapshot)
	callwrighttest.Spoil(&updated)
	for range 2 {
		s.wantRun(t, FullRun("r1"))
		got, err := s.Run(t.Context(), "a", "r1")
		do(t, err)
		callwrighttest.Spoil(&got)
		if got, err = s.Run(t.Context(), "a", "r2"); err != nil || got.Outcome == nil || *got.Outcome.Score != 0.625 {
			t.Fatalf("got %+v, %v", got, err)
		}
		callwrighttest.Spoil(&got)
		list, err := s.FindRuns(t.Context(), "a", run.Filter{Limit: 10})
		if err != nil || len(list) != 2 || *list[0].Result.Score != 0.625 || list[1].Result.Failure.Node != "menu" {
			t.Fatalf("got %+v, %v", list, err)
		}
		callwrighttest.Spoil(&list)
		snapshot, err := s.Snapshot(t.Context(), "a", "snap1")
		wantSame(t, snapshot, err, FullSnapshot("snap1"))
		callwrighttest.Spoil(&snapshot)
	}
}

func hidesRuns(t *testing.T, s subject) {
	s.insert(t, aRun("r1"), aSnapshot("snap1"))
	foreign := aRun("r1")
	foreign.Org = "b"
	_, getErr := s.Run(t.Context(), "b", "r1")
	_, snapErr := s.Snapshot(t.Context(), "b", "snap1")
	_, absentErr := s.Run(t.Context(), "a", "r2")
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"get": getErr, "snapshot": snapErr, "absent": absentErr, "update": s.update(t, foreign), "update absent": s.update(t, aRun("r2")),
	})
	list, listErr := s.FindRuns(t.Context(), "b", run.Filter{Scenario: "s1", Limit: 10})
	n, countErr := s.CountRuns(t.Context(), "b", run.Filter{Pathway: "p1"})
	do(t, listErr, countErr)
	if len(list) != 0 || n != 0 {
		t.Errorf("another organization has %+v, %d", list, n)
	}
	s.wantRun(t, aRun("r1"))
}

func insertsAllOrNone(t *testing.T, s subject) {
	s.insert(t, aRun("r1"), in(aRun("r2"), "b1", 4))
	foreign := aRun("r1")
	foreign.Org = "b"
	for name, runs := range map[string][]run.Run{
		"an id that is taken":         {aRun("x1"), aRun("r1"), aRun("x2")},
		"another organization's id":   {aRun("x1"), foreign},
		"an id twice":                 {aRun("x1"), aRun("x2"), aRun("x1")},
		"a trial that is taken":       {aRun("x1"), in(aRun("x2"), "b1", 4)},
		"a trial twice":               {in(aRun("x1"), "b1", 5), in(aRun("x2"), "b1", 5)},
		"a trial that is taken first": {in(aRun("x1"), "b1", 4), aRun("x2")},
	} {
		if err := s.InsertRuns(t.Context(), runs); callwright.CodeOf(err) != callwright.CodeConflict {
			t.Errorf("%s gave %v, want a conflict", name, err)
		}
		s.wantGone(t, "x1", "x2")
	}
	other := in(aRun("r5"), "b1", 4)
	other.Scenario = "s2"
	do(t, s.InsertRuns(t.Context(), []run.Run{in(aRun("r3"), "b1", 5), in(aRun("r4"), "b2", 4), other, aRun("r6"), aRun("r7")}))
}

func insertsNothing(t *testing.T, s subject) {
	do(t, s.InsertRuns(t.Context(), nil), s.InsertSnapshots(t.Context(), nil), s.UpdateRuns(t.Context(), nil))
}

func insertsManyRuns(t *testing.T, s subject) {
	const count = 500
	runs := make([]run.Run, count)
	for i := range runs {
		runs[i] = in(aRun(fmt.Sprint("r", i)), "b1", i)
	}
	do(t, s.InsertRuns(t.Context(), runs))
	if n, err := s.CountRuns(t.Context(), "a", run.Filter{Batch: "b1"}); err != nil || n != count {
		t.Errorf("there are %d runs, %v", n, err)
	}
}

func givesTrialOnce(t *testing.T, s subject) {
	callwrighttest.Race(t, func(writer int) error {
		return s.InsertRuns(t.Context(), []run.Run{in(aRun(fmt.Sprint("r", writer)), "b1", 0)})
	})
}

func updatesRun(t *testing.T, s subject) {
	s.insert(t, aRun("r1"))
	claimed := func(writer int) run.Run { return running("r1", fmt.Sprint("node ", writer)) }
	want := claimed(callwrighttest.Race(t, func(writer int) error { return s.update(t, claimed(writer)) }))
	want.Revision = 2
	s.wantRun(t, want)
}

func updatesPartOfRun(t *testing.T, s subject) {
	s.insert(t, aRun("r1"))
	changed, want := FullRun("r1"), FullRun("r1")
	changed.CreatedAt = later(99)
	do(t, s.update(t, changed))
	old := aRun("r1")
	want.Scenario, want.Name, want.Pathway, want.Persona, want.Version = old.Scenario, old.Name, old.Pathway, old.Persona, old.Version
	want.Batch, want.Trial, want.Snapshot, want.Webhook, want.CreatedAt = old.Batch, old.Trial, old.Snapshot, old.Webhook, old.CreatedAt
	want.Budget, want.Cancel, want.Experiment = old.Budget, old.Cancel, old.Experiment
	want.Revision = 2
	s.wantRun(t, want)
}

func updatesAllOrNone(t *testing.T, s subject) {
	s.insert(t, aRun("r1"), aRun("r2"))
	stale := running("r2", "n")
	stale.Revision = 2
	wantErr(t, callwright.ErrConflict, map[string]error{"stale": s.update(t, running("r1", "n"), stale)})
	wantErr(t, callwright.ErrNotFound, map[string]error{"absent": s.update(t, running("r1", "n"), running("r3", "n"))})
	s.wantRun(t, aRun("r1"))
	s.wantRun(t, aRun("r2"))
	do(t, s.update(t, running("r1", "n"), running("r2", "n")))
	for _, id := range []string{"r1", "r2"} {
		want := running(id, "n")
		want.Revision = 2
		s.wantRun(t, want)
	}
}

// pagesRuns checks that pages contain each run once and in order, although most runs have equal timestamps.
func pagesRuns(t *testing.T, s subject) {
	const count = 25
	ids := make([]string, count)
	for i := range count {
		ids[i] = fmt.Sprintf("r%02d", i)
		r := aRun(fmt.Sprintf("r%02d", (i*7)%count))
		r.CreatedAt = later((i * 7) % count / 10)
		s.insert(t, r)
	}
	foreign := aRun("other")
	foreign.Org = "b"
	s.insert(t, foreign)
	for _, f := range []run.Filter{
		{Oldest: true}, {}, {Oldest: true, States: run.States()}, {States: run.States()}, {Scenario: "s1"}, {Pathway: "p1"},
	} {
		want := slices.Clone(ids)
		if !f.Oldest {
			slices.Reverse(want)
		}
		f.Limit = 4
		var seen []run.Run
		for {
			list, err := s.FindRuns(t.Context(), "a", f)
			if err != nil || len(list) > 4 {
				t.Fatalf("got %d, %v", len(list), err)
			}
			if len(list) == 0 {
				break
			}
			seen = append(seen, list...)
			f.After = callwright.Keyset{At: list[len(list)-1].CreatedAt, ID: list[len(list)-1].ID}
		}
		wantIDs(t, fmt.Sprintf("%+v", f), seen, nil, runID, want...)
	}
}

func skipsRuns(t *testing.T, s subject) {
	for i := range 6 {
		r := aRun(fmt.Sprint("r", i))
		if i%2 == 0 {
			r = ended(r.ID, 9)
		}
		r.CreatedAt = later(-i)
		s.insert(t, r)
	}
	both := []run.State{run.Pending, run.Passed}
	for _, states := range [][]run.State{nil, both} {
		for want, f := range map[string]run.Filter{
			"r2 r3": {Offset: 2, Limit: 2}, "r5": {Offset: 5, Limit: 2}, "": {Offset: 6, Limit: 2}, "r3 r2": {Offset: 2, Limit: 2, Oldest: true},
			"r4": {Offset: 2, Limit: 1, After: callwright.Keyset{At: later(-1), ID: "r1"}},
		} {
			f.States = states
			list, err := s.FindRuns(t.Context(), "a", f)
			wantIDs(t, fmt.Sprintf("%+v", f), list, err, runID, strings.Fields(want)...)
			if n, err := s.CountRuns(t.Context(), "a", f); err != nil || n != 6 {
				t.Errorf("%+v: counted %d, %v", f, n, err)
			}
		}
	}
}

func filtersRuns(t *testing.T, s subject) {
	for i, change := range []func(*run.Run){
		func(r *run.Run) { r.Scenario = "s2" },
		func(r *run.Run) { r.Pathway, r.State = "p2", run.Failed },
		func(r *run.Run) { r.Pathway, r.Persona, r.State = "", "x1", run.Passed },
		func(r *run.Run) { r.Batch = "b1" },
		func(r *run.Run) { r.Batch, r.Scenario, r.State = "b1", "s2", run.Error },
		func(r *run.Run) { r.State = run.Running },
	} {
		r := aRun(fmt.Sprint("r", i))
		r.CreatedAt = later(-i)
		change(&r)
		s.insert(t, r)
	}
	of := func(states ...run.State) []run.State { return states }
	for name, tt := range map[string]struct {
		f    run.Filter
		want string
	}{
		"all":                  {run.Filter{}, "r0 r1 r2 r3 r4 r5"},
		"scenario":             {run.Filter{Scenario: "s2"}, "r0 r4"},
		"pathway":              {run.Filter{Pathway: "p2"}, "r1"},
		"persona":              {run.Filter{Persona: "x1"}, "r2"},
		"batch":                {run.Filter{Batch: "b1"}, "r3 r4"},
		"a state":              {run.Filter{States: of(run.Pending)}, "r0 r3"},
		"states":               {run.Filter{States: of(run.Running, run.Failed, run.Passed)}, "r1 r2 r5"},
		"a state twice":        {run.Filter{States: of(run.Running, run.Running)}, "r5"},
		"batch and scenario":   {run.Filter{Batch: "b1", Scenario: "s2"}, "r4"},
		"batch and states":     {run.Filter{Batch: "b1", States: of(run.Error, run.Pending)}, "r3 r4"},
		"scenario and a state": {run.Filter{Scenario: "s2", States: of(run.Error)}, "r4"},
		"scenario and pathway": {run.Filter{Scenario: "s2", Pathway: "p2"}, ""},
	} {
		want := strings.Fields(tt.want)
		tt.f.Limit = 10
		list, err := s.FindRuns(t.Context(), "a", tt.f)
		wantIDs(t, name, list, err, runID, want...)
		if n, err := s.CountRuns(t.Context(), "a", tt.f); err != nil || n != len(want) {
			t.Errorf("%s: counted %d, %v; want %d", name, n, err, len(want))
		}
	}
}

func listsWithoutOutcomes(t *testing.T, s subject) {
	want := FullRun("r1")
	s.insert(t, want)
	want.Outcome, want.Summary = nil, ""
	for _, f := range []run.Filter{{}, {Oldest: true}, {States: []run.State{run.Failed, run.Passed}}} {
		f.Limit = 10
		list, err := s.FindRuns(t.Context(), "a", f)
		wantSame(t, list, err, []run.Run{want})
	}
}

func tellsWaiting(t *testing.T, s subject) {
	for i, org := range []callwright.OrgID{"c", "a", "a", "d", "b"} {
		r := aRun(fmt.Sprint("r", i))
		if r.Org = org; org == "d" {
			r.State = run.Running
		}
		s.insert(t, r)
	}
	for limit, want := range map[int]int{0: 0, 1: 1, 2: 2, 3: 3, 10: 3} {
		orgs, err := s.Waiting(t.Context(), limit)
		slices.Sort(orgs)
		if err != nil || len(slices.Compact(orgs)) != want || slices.Contains(orgs, "d") {
			t.Errorf("of at most %d got %v, %v", limit, orgs, err)
		}
	}
}

func tellsAbandoned(t *testing.T, s subject) {
	released := running("r3", "")
	released.Org = "b"
	full := FullRun("r6")
	full.State, full.Node = run.Running, "node 2"
	s.insert(t, running("r1", "node 1"), running("r2", "node 2"), released, aRun("r4"), ended("r5", 9), full)
	for name, tt := range map[string]struct {
		alive []string
		limit int
		want  string
	}{
		"one lives":  {[]string{"node 1"}, 10, "r2 r3 r6"},
		"all live":   {[]string{"node 1", "node 2", "node 3"}, 10, "r3"},
		"none lives": {nil, 10, "r1 r2 r3 r6"},
	} {
		list, err := s.Abandoned(t.Context(), tt.alive, tt.limit)
		slices.SortFunc(list, func(a, b run.Run) int { return strings.Compare(a.ID, b.ID) })
		wantIDs(t, name, list, err, runID, strings.Fields(tt.want)...)
		for _, r := range list {
			if r.ID == "r6" {
				r.Outcome, r.Summary = nil, "" // lists may omit them
				want := full
				want.Outcome, want.Summary = nil, ""
				wantSame(t, r, nil, want)
			}
		}
	}
	for _, limit := range []int{0, 2} {
		if list, err := s.Abandoned(t.Context(), nil, limit); err != nil || len(list) != limit {
			t.Errorf("of at most %d got %d, %v", limit, len(list), err)
		}
	}
}

// deletesOldRuns checks that DeleteRuns deletes only runs that ended before the given time, at most as many as requested, and their
// snapshots unless another run still uses them.
func deletesOldRuns(t *testing.T, s subject) {
	foreign := ended("r2", 2)
	foreign.Org, foreign.Snapshot = "b", "snap2"
	old, young, alone := ended("r1", 1), ended("r3", 3), ended("r4", 2)
	old.Snapshot, young.Snapshot, alone.Snapshot = "snap1", "snap1", "snap4"
	s.insert(t, old, foreign, young, alone, running("r5", "n"), aRun("r6"), aSnapshot("snap1"), aSnapshot("snap4"))
	for i, want := range []int{2, 1, 0} {
		if n, err := s.DeleteRuns(t.Context(), later(3), 2); err != nil || n != want {
			t.Errorf("deletion %d has removed %d, %v; want %d", i, n, err, want)
		}
	}
	s.wantGone(t, "r1", "r4", "snap4")
	s.wantThere(t, "r3", "r5", "r6", "snap1")
	if _, err := s.Run(t.Context(), "b", "r2"); callwright.CodeOf(err) != callwright.CodeNotFound {
		t.Errorf("another organization's old run: %v", err)
	}
	if n, err := s.DeleteRuns(t.Context(), later(4), 2); err != nil || n != 1 {
		t.Errorf("removed %d, %v", n, err)
	}
	s.wantGone(t, "r3", "snap1")
}

func encryptsRun(t *testing.T, s subject) {
	r, out := running(callwrighttest.VisibleID, "n"), FullOutcome()
	r.Webhook = "https://x.example/hunter2-hook"
	done := r
	out.Evidence.Turns[0].Text, out.Results[0].Reasoning, out.Turns[0].Notes[0].Text = "hunter2-said", "hunter2-why-", "hunter2-note"
	out.Evidence.Variables = map[string]any{"card": "hunter2-card"}
	done.State, done.Outcome, done.EndedAt = run.Failed, &out, later(2)
	done.Result = run.Result{Error: "hunter2-erro", Failure: &run.Failure{Reason: "hunter2-reas"}}
	s.atRest.Check(t, s.Store, func() error {
		if err := s.InsertRuns(t.Context(), []run.Run{r}); err != nil {
			return err
		}
		inserted := done
		inserted.ID = "another"
		if err := s.InsertRuns(t.Context(), []run.Run{inserted}); err != nil {
			return err
		}
		return s.update(t, done)
	}, "hunter2-hook", "hunter2-said", "hunter2-why-", "hunter2-note", "hunter2-card", "hunter2-erro", "hunter2-reas")
}

func encryptsSnapshot(t *testing.T, s subject) {
	snapshot := aSnapshot(callwrighttest.VisibleID)
	snapshot.Scenario.CallerPrompt, snapshot.Scenario.RequestData = "hunter2-prom", map[string]any{"key": "hunter2-data"}
	s.atRest.Check(t, s.Store, func() error {
		return s.InsertSnapshots(t.Context(), []run.Snapshot{snapshot})
	}, "hunter2-prom", "hunter2-data")
}
