package agentstest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
)

func filtersCalls(t *testing.T, s call.Store) {
	first, second, third := aCall("c1", "a"), aCall("c2", "a"), aCall("c3", "a")
	first.Inbound, first.Queue = true, call.QueueComplete
	second.CreatedAt, second.From = at.Add(time.Second), "+15550000007"
	third.CreatedAt, third.To, third.Queue = at.Add(2*time.Second), "+15550000008", call.QueueCallError
	insertCalls(t, s, first, second, third)
	yes, no := true, false
	for name, test := range map[string]struct {
		filter call.Filter
		want   []string
	}{
		"all":          {call.Filter{}, []string{"c3", "c2", "c1"}},
		"oldest first": {call.Filter{OldestFirst: true}, []string{"c1", "c2", "c3"}},
		"from":         {call.Filter{From: "+15550000007"}, []string{"c2"}},
		"to":           {call.Filter{To: "+15550000008"}, []string{"c3"}},
		"inbound":      {call.Filter{Inbound: &yes}, []string{"c1"}},
		"outbound":     {call.Filter{Inbound: &no}, []string{"c3", "c2"}},
		"completed":    {call.Filter{Completed: &yes}, []string{"c3", "c1"}},
		"under way":    {call.Filter{Completed: &no}, []string{"c2"}},
		"since":        {call.Filter{Since: at.Add(time.Second)}, []string{"c3", "c2"}},
		"before":       {call.Filter{Before: at.Add(time.Second)}, []string{"c1"}},
	} {
		page, total, err := s.List(t.Context(), "a", test.filter)
		if got := ids(page.Items); err != nil || !slices.Equal(got, test.want) || total != len(test.want) {
			t.Errorf("%s: got %v of %d, %v; want %v", name, got, total, err, test.want)
		}
	}
}

func filtersOutcomes(t *testing.T, s call.Store) {
	outcome := func(id string, length time.Duration, by call.AnsweredBy, status call.Status, pathwayID string) call.Call {
		c := aCall(id, "a")
		started, ended := at, at.Add(length)
		c.Queue, c.StartedAt, c.EndedAt, c.AnsweredBy, c.Status = call.QueueComplete, &started, &ended, by, status
		c.Agent.Pathway.ID = pathwayID
		return c
	}
	short := outcome("c1", 10*time.Second, call.AnsweredByHuman, call.StatusCompleted, "p1")
	long := outcome("c2", time.Hour+time.Microsecond, call.AnsweredByVoicemail, call.StatusCompleted, "p2")
	missed := outcome("c3", 0, call.AnsweredByNobody, call.StatusNoAnswer, "p1")
	missed.StartedAt = nil
	running := aCall("c4", "a")
	running.Queue, running.StartedAt = call.QueueStarted, short.StartedAt
	insertCalls(t, s, short, long, missed, running)
	for name, test := range map[string]struct {
		filter call.Filter
		want   []string
	}{
		"answered by":       {call.Filter{AnsweredBy: call.AnsweredByVoicemail}, []string{"c2"}},
		"status":            {call.Filter{Status: call.StatusCompleted}, []string{"c2", "c1"}},
		"pathway":           {call.Filter{Pathway: "p1"}, []string{"c3", "c1"}},
		"longer":            {call.Filter{LongerThan: 10*time.Second - 1}, []string{"c2", "c1"}},
		"longer, not equal": {call.Filter{LongerThan: 10 * time.Second}, []string{"c2"}},
		"a little longer":   {call.Filter{LongerThan: time.Hour}, []string{"c2"}},
		"shorter":           {call.Filter{ShorterThan: 10*time.Second + 1}, []string{"c3", "c1"}},
		"shorter, no equal": {call.Filter{ShorterThan: 10 * time.Second}, []string{"c3"}},
		"between":           {call.Filter{LongerThan: 1, ShorterThan: time.Hour}, []string{"c1"}},
		"several":           {call.Filter{Pathway: "p1", Status: call.StatusNoAnswer}, []string{"c3"}},
		"none":              {call.Filter{Pathway: "p2", AnsweredBy: call.AnsweredByHuman}, []string{}},
	} {
		page, total, err := s.List(t.Context(), "a", test.filter)
		if got := ids(page.Items); err != nil || !slices.Equal(got, test.want) || total != len(test.want) {
			t.Errorf("%s: got %v of %d, %v; want %v", name, got, total, err, test.want)
		}
	}

	// Filters find a changed call by its new values.
	running.Queue, running.EndedAt = call.QueueComplete, long.EndedAt
	if err := s.Update(t.Context(), running); err != nil {
		t.Fatal(err)
	}
	page, _, err := s.List(t.Context(), "a", call.Filter{LongerThan: time.Minute})
	if err != nil || !slices.Contains(ids(page.Items), "c4") {
		t.Errorf("after the update, got %v, %v", ids(page.Items), err)
	}
}

// listsLightly checks that List omits the large fields of a call, because a page may contain a thousand calls of a megabyte.
func listsLightly(t *testing.T, s call.Store) {
	c := aCall("c1", "a")
	c.Agent.Pathway = agents.PathwayRef{ID: "p1", Version: pathway.Selector{Number: 3}, StartNode: "n1"}
	c.RequestData, c.Variables, c.Metadata = map[string]any{"a": "b"}, map[string]any{"a": "b"}, map[string]any{"a": "b"}
	c.Plan.SummaryPrompt = "Be short."
	insertCalls(t, s, c)
	page, _, err := s.List(t.Context(), "a", call.Filter{})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("got %d calls, %v", len(page.Items), err)
	}
	want := getCall(t, s, "a", "c1")
	want.Agent, want.Plan = agents.Agent{Pathway: c.Agent.Pathway}, call.Plan{}
	want.RequestData, want.Variables, want.Metadata = nil, nil, nil
	if got := page.Items[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("the list has %+v\nwant %+v", got, want)
	}
}

// countsCalls checks that Hours counts calls by the hour of their creation, and that inserts and updates change the counts.
func countsCalls(t *testing.T, s call.Store) {
	hour := at.Truncate(time.Hour)
	for i, c := range []struct {
		org   callwright.OrgID
		after time.Duration
		queue call.QueueStatus
		by    call.AnsweredBy
	}{
		{"a", -time.Second, call.QueueComplete, call.AnsweredByHuman},
		{"a", 0, call.QueueComplete, call.AnsweredByHuman},
		{"a", time.Minute, call.QueueComplete, call.AnsweredByNobody},
		{"a", time.Minute, call.QueueComplete, ""},
		{"a", time.Hour - time.Second, call.QueueQueued, ""},
		{"a", 2 * time.Hour, call.QueueComplete, call.AnsweredByUnknown},
		{"a", 3 * time.Hour, call.QueueComplete, call.AnsweredByHuman},
		{"b", time.Minute, call.QueueComplete, call.AnsweredByHuman},
	} {
		made := aCall(fmt.Sprint("t", i), c.org)
		made.CreatedAt, made.Queue, made.AnsweredBy = hour.Add(c.after), c.queue, c.by
		insertCalls(t, s, made)
	}
	want := func(org callwright.OrgID, want ...call.Hour) {
		t.Helper()
		if got, err := s.Hours(t.Context(), org, hour, hour.Add(3*time.Hour)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s has %+v, %v, want %+v", org, got, err, want)
		}
	}
	third := call.Hour{Start: hour.Add(2 * time.Hour), Tally: call.Tally{Calls: 1, Ended: 1, Answered: 1}}
	want("a", call.Hour{Start: hour, Tally: call.Tally{Calls: 4, Ended: 3, Answered: 1}}, third)
	want("b", call.Hour{Start: hour, Tally: call.Tally{Calls: 1, Ended: 1, Answered: 1}})
	want("c")
	for _, step := range []struct {
		queue call.QueueStatus
		by    call.AnsweredBy
		want  call.Tally
	}{
		{call.QueueStarted, call.AnsweredByUnknown, call.Tally{Calls: 4, Ended: 3, Answered: 1}},
		{call.QueueComplete, call.AnsweredByUnknown, call.Tally{Calls: 4, Ended: 4, Answered: 2}},
		{call.QueueComplete, call.AnsweredByHuman, call.Tally{Calls: 4, Ended: 4, Answered: 2}},
		{call.QueueComplete, call.AnsweredByNobody, call.Tally{Calls: 4, Ended: 4, Answered: 1}},
	} {
		c, err := s.Get(t.Context(), "a", "t4")
		if err != nil {
			t.Fatal(err)
		}
		c.Queue, c.AnsweredBy = step.queue, step.by
		if err := s.Update(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		want("a", call.Hour{Start: hour, Tally: step.want}, third)
	}
}

// scansCalls checks the pages and the revisions of several filters with a small Scan. Most of the filters match few calls.
func scansCalls(t *testing.T, s call.Store) {
	const count = 23
	for i := range count {
		c := aCall(fmt.Sprintf("c%02d", i), "a")
		c.CreatedAt = at.Add(time.Duration(i/3) * time.Second)
		c.From, c.To, c.Inbound, c.Agent.Pathway.ID = fmt.Sprint("+1555000000", i%2), fmt.Sprint("+1555000001", i%3), i%11 == 0, fmt.Sprint("p", i%4)
		c.Queue = call.QueueStarted
		if i%5 > 0 {
			c.Queue = call.QueueComplete
		}
		insertCalls(t, s, c)
	}
	insertCalls(t, s, aCall("b", "b"))
	for name, f := range map[string]call.Filter{
		"all": {}, "few": {Inbound: new(true)}, "caller": {From: "+15550000001"}, "callee": {To: "+15550000012", Inbound: new(false)},
		"both": {From: "+15550000000", To: "+15550000010", Pathway: "p2"}, "pathway": {Pathway: "p0", Completed: new(true)},
		"running": {Completed: new(false)}, "none": {AnsweredBy: call.AnsweredByVoicemail}, "times": {Since: at.Add(2 * time.Second), Before: at.Add(6 * time.Second)},
	} {
		for _, f.OldestFirst = range []bool{false, true} {
			f.Scan, f.Limit, f.After = 0, 0, callwright.Keyset{}
			want, _, err := s.List(t.Context(), "a", f)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.Revisions(t.Context(), "a", f); err != nil || !slices.Equal(got, call.RevisionsOf(want.Items)) {
				t.Errorf("%s: the revisions are %v, %v; want %v", name, got, err, call.RevisionsOf(want.Items))
			}
			all, _, err := s.List(t.Context(), "a", f.Scanned())
			if err != nil {
				t.Fatal(err)
			}
			f.Scan, f.Limit = 4, 3
			var got []string
			pages := 0
			for ; pages == 0 || !f.After.IsZero(); pages++ {
				page, _, err := s.List(t.Context(), "a", f)
				if err != nil || len(page.Items) > f.Limit || pages > count {
					t.Fatalf("%s: page %d has %d calls, %v", name, pages, len(page.Items), err)
				}
				got, f.After = append(got, ids(page.Items)...), page.Next
			}
			if least := (len(all.Items) + f.Scan - 1) / f.Scan; !slices.Equal(got, ids(want.Items)) || pages < least {
				t.Errorf("%s: %d pages of at least %d have %v, want %v", name, pages, least, got, ids(want.Items))
			}
		}
	}
}

// tellsChanges checks that Position reflects every kind of change of a call, and no change of another call.
func tellsChanges(t *testing.T, s call.Store) {
	c := aCall("c1", "a")
	c.Queue = call.QueueStarted
	insertCalls(t, s, aCall("c2", "a"), c)
	want := call.Position{Version: 1, Turn: -1}
	for name, change := range []func() error{
		func() error { return nil },
		func() error { want.Version = 2; return s.Update(t.Context(), c) },
		func() error { want.StopRequested = true; return s.RequestStop(t.Context(), "a", "c1") },
		func() error { want.Line = 3; return s.Append(t.Context(), "a", "c1", call.Entry{Seq: 3}) },
		func() error { return s.Append(t.Context(), "a", "c1", call.Entry{Seq: 2}) },
		func() error { want.Turn = 0; return s.AppendLog(t.Context(), "a", "c1", pathway.Log{}) },
		func() error { return s.Append(t.Context(), "a", "c2", call.Entry{Seq: 9}) },
	} {
		if err := change(); err != nil {
			t.Fatal(name, err)
		}
		if got, err := s.Position(t.Context(), "a", "c1"); err != nil || got != want {
			t.Errorf("after change %d it is %+v, %v; want %+v", name, got, err, want)
		}
	}
	if got, err := s.Revisions(t.Context(), "a", call.Filter{Limit: 1, OldestFirst: true}); err != nil || !slices.Equal(got, []call.Revision{{ID: "c1", Version: 2}}) {
		t.Errorf("the page has %v, %v", got, err)
	}
	for _, of := range []struct {
		org callwright.OrgID
		id  string
	}{{"b", "c1"}, {"a", "c9"}} {
		if _, err := s.Position(t.Context(), of.org, of.id); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%v gave %v", of, err)
		}
	}
}

// pagesCalls checks the pages of List in both orders. Most calls have equal creation times.
func pagesCalls(t *testing.T, s call.Store) {
	const count = 25
	for i := range count {
		c := aCall(fmt.Sprintf("c%02d", i), "a")
		c.CreatedAt = at.Add(time.Duration(i/10) * time.Second)
		insertCalls(t, s, c)
	}
	if page, total, err := s.List(t.Context(), "a", call.Filter{Limit: 4, SkipCount: true}); err != nil || total != 0 || len(page.Items) != 4 {
		t.Errorf("without a count: %d calls of %d, %v", len(page.Items), total, err)
	}
	for _, oldest := range []bool{false, true} {
		f := call.Filter{Limit: 4, OldestFirst: oldest}
		var seen []string
		for range count {
			page, total, err := s.List(t.Context(), "a", f)
			if err != nil || total != count {
				t.Fatalf("page: %v, total %d", err, total)
			}
			seen = append(seen, ids(page.Items)...)
			if page.Next.IsZero() {
				break
			}
			f.After = page.Next
		}
		if !oldest {
			slices.Reverse(seen)
		}
		if len(seen) != count || !slices.IsSorted(seen) {
			t.Errorf("oldest first %t: saw %v", oldest, seen)
		}
	}
}
