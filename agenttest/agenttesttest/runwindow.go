package agenttesttest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/stats"
)

// tellsEndedRuns checks that EachEnded returns only the runs that satisfy all conditions of a window.
func tellsEndedRuns(t *testing.T, s subject) {
	for i, change := range []func(*run.Run){
		func(r *run.Run) { r.Scenario, r.Version = "s2", 7 },
		func(r *run.Run) { r.State, r.Scripted = run.Failed, true },
		func(r *run.Run) { r.State = run.Error },
		func(r *run.Run) { r.State = run.Cancelled },
		func(r *run.Run) { r.State, r.EndedAt = run.Running, time.Time{} },
		func(r *run.Run) { r.State, r.EndedAt = run.Pending, time.Time{} },
		func(r *run.Run) { r.Pathway = "p2" },
		func(r *run.Run) { r.Pathway, r.Persona = "", "x1" },
		func(r *run.Run) { r.Org = "b" },
		func(r *run.Run) { r.CreatedAt, r.Summary = at, "" },
		func(r *run.Run) { r.Experiment = true },
	} {
		r := ended(fmt.Sprint("r", i), 99)
		r.CreatedAt, r.Summary = later(60-i/2), analytics.Summary(fmt.Sprintf("1 0.5 - n%d", i))
		change(&r)
		s.insert(t, r)
	}
	for want, w := range map[string]run.Window{
		"r1 r0 r3 r2 r9": {Pathway: "p1", From: at},
		"r1 r0 r3 r2":    {Pathway: "p1", From: at.Add(time.Microsecond)},
		"r1 r0":          {Pathway: "p1", From: later(60)},
		"r1 r0 r3":       {Pathway: "p1", From: at, Limit: 3},
		"r6":             {Pathway: "p2", From: at, Limit: 2},
		"":               {Pathway: "p3", From: at},
	} {
		var got []string
		err := s.EachEnded(t.Context(), "a", w, func(r analytics.Run) { got = append(got, r.ID) })
		if text := strings.Join(got, " "); err != nil || text != want {
			t.Errorf("%+v: got %s, %v; want %s", w, text, err, want)
		}
	}
	var all []analytics.Run
	do(t, s.EachEnded(t.Context(), "a", run.Window{Pathway: "p1", From: at}, func(r analytics.Run) { all = append(all, r) }))
	score := 0.5
	for i, want := range []analytics.Run{
		{ID: "r1", Scenario: "s1", Version: 1, State: stats.Failed, CreatedAt: later(60), Summary: analytics.NewSummary(&score, []string{"n1"}, ""), Scripted: true},
		{ID: "r0", Scenario: "s2", Version: 7, State: stats.Passed, CreatedAt: later(60), Summary: analytics.NewSummary(&score, []string{"n0"}, "")},
		{ID: "r3", Scenario: "s1", Version: 1, State: stats.Cancelled, CreatedAt: later(59), Summary: analytics.NewSummary(&score, []string{"n3"}, "")},
		{ID: "r2", Scenario: "s1", Version: 1, State: stats.Error, CreatedAt: later(59), Summary: analytics.NewSummary(&score, []string{"n2"}, "")},
		{ID: "r9", Scenario: "s1", Version: 1, State: stats.Passed, CreatedAt: at},
	} {
		if i >= len(all) || all[i] != want {
			t.Errorf("run %d of %+v is not %+v", i, all, want)
		}
	}
}

// tellsEndOfRun checks that a run appears in a window when it has ended, and disappears when it is deleted.
func tellsEndOfRun(t *testing.T, s subject) {
	s.insert(t, running("r1", "node 1"), aScenario("s1"))
	look := func() (found string) {
		do(t, s.EachEnded(t.Context(), "a", run.Window{Pathway: "p1", From: at}, func(r analytics.Run) { found += string(r.Summary) }))
		return found
	}
	if found := look(); found != "" {
		t.Errorf("a run that goes on is found: %q", found)
	}
	over := ended("r1", 5)
	over.Summary = "1 - 0 start"
	do(t, s.update(t, over))
	if found := look(); found != "1 - 0 start" {
		t.Errorf("a run that has ended has the summary %q", found)
	}
	do(t, s.DeleteScenario(t.Context(), "a", "s1"))
	if found := look(); found != "" {
		t.Errorf("a run that was deleted is found: %q", found)
	}
}
