package agenttesttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/callwrighttest"
)

// RunSessionStore tests a tornado.Store. newStore returns an empty store and its transactions. atRest reads the stored data of the store;
// nil means a store in memory.
func RunSessionStore(t *testing.T, newStore NewSessionStore, atRest callwrighttest.AtRest[tornado.Store]) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, sessions){
		"keeps every field":                      keepsSession,
		"keeps texts that no database has":       keepsOddSession,
		"shares no memory":                       sharesNoSession,
		"hides other organizations'":             hidesSessions,
		"refuses an id twice":                    refusesSessionTwice,
		"has one session run on a pathway":       runsOneOnPathway,
		"gives a pathway to one of many":         givesPathwayOnce,
		"updates by compare-and-set":             updatesSession,
		"updates only what changes":              updatesPartOfSession,
		"ends a session for good":                endsSession,
		"pages without gaps":                     pagesSessions,
		"filters":                                filtersSessions,
		"cancels":                                cancelsSession,
		"tells which sessions are abandoned":     tellsAbandonedSessions,
		"tells which sessions are cancelled":     tellsCancelledSessions,
		"keeps a journal in order":               keepsSteps,
		"keeps large steps":                      keepsLargeSteps,
		"takes steps of its node only":           takesStepsOfNodeOnly,
		"gives a number to one of many":          givesNumberOnce,
		"hides other organizations' journals":    hidesSteps,
		"deletes one journal":                    deletesSteps,
		"deletes old sessions":                   deletesOldSessions,
		"ends with a transaction":                rollsBackSession,
		"encrypts what agents and people say":    encryptsSession,
		"encrypts what is said in the journal":   encryptsSteps,
		"keeps a session apart from its journal": keepsSessionApart,
	} {
		t.Run("sessions: "+name, func(t *testing.T) {
			t.Parallel()
			store, atomic := newStore(t)
			test(t, sessions{store, atomic, atRest})
		})
	}
}

// NewSessionStore returns an empty store and its transactions.
type NewSessionStore func(t *testing.T) (tornado.Store, callwright.Atomic)

// sessions is the store under test, with its transactions.
type sessions struct {
	tornado.Store

	atomic callwright.Atomic
	atRest callwrighttest.AtRest[tornado.Store]
}

func (s sessions) insert(t *testing.T, all ...tornado.Session) {
	t.Helper()
	for _, n := range all {
		do(t, s.InsertSession(t.Context(), n))
	}
}

func (s sessions) want(t *testing.T, want tornado.Session) {
	t.Helper()
	got, err := s.Session(t.Context(), want.Org, want.ID)
	wantSame(t, got, err, want)
}

func (s sessions) wantAbsent(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if n, err := s.Session(t.Context(), "a", id); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("the session %s is %+v, %v; want it absent", id, n, err)
		}
	}
}

func sessionID(n tornado.Session) string { return n.ID }

// isActive reports whether an error is tornado.ErrActive, not just any conflict.
func isActive(err error) bool {
	e, ok := errors.AsType[*callwright.Error](err)
	return ok && e.Code == callwright.CodeConflict && e.Field == "pathway_id"
}

func keepsSession(t *testing.T, s sessions) {
	want, bare := FullSession("t1"), tornado.Session{ID: "bare", Org: "a", Progress: tornado.Progress{State: tornado.Failed}}
	callwrighttest.Full(t, want)
	bare.CreatedAt, bare.Revision = at, 1
	given := want
	given.Revision = 9 // the store must ignore it
	s.insert(t, given, bare, aSession("t2"))
	s.want(t, want)
	s.want(t, bare)
	s.want(t, aSession("t2"))

	less := want
	less.Progress, less.Usage, less.Node = tornado.Progress{State: tornado.Cancelled}, tornado.Usage{}, ""
	less.EndedAt = time.Time{}
	do(t, s.UpdateSession(t.Context(), less))
	less.Revision = 2
	s.want(t, less)
	want.Revision = 2
	do(t, s.UpdateSession(t.Context(), want))
	want.Revision = 3
	s.want(t, want)
}

// keepsOddSession checks that a session and a step of its journal can contain texts of models with unusual characters, such as NUL.
func keepsOddSession(t *testing.T, s sessions) {
	const odd = "it's \x00 \\u0000 ? ?0 \u2028 <&>"
	want := onNode(aSession("t1"), "n")
	s.insert(t, want)
	step := tornado.Step{Name: words, At: at, Answer: []byte(`{"text":"it's ? ?0 \u0000 <&>","b": 1}`)}
	do(t, s.AppendStep(t.Context(), "a", "t1", "n", 0, step))
	steps, err := s.Steps(t.Context(), "a", "t1")
	wantSame(t, steps, err, []tornado.Step{step})
	want.Detail, want.State, want.EndedAt = odd, tornado.Stuck, later(2)
	want.Iterations[0].Reason = odd
	do(t, s.UpdateSession(t.Context(), want))
	want.Revision = 2
	s.want(t, want)
}

func sharesNoSession(t *testing.T, s sessions) {
	given, running := FullSession("t1"), onNode(FullSession("t2"), "n")
	running.State = tornado.Running
	want := running
	s.insert(t, given, running)
	callwrighttest.Spoil(&given)
	do(t, s.UpdateSession(t.Context(), running))
	want.Revision = 2
	want.Progress, want.Scenarios, want.Limits = FullSession("t2").Progress, FullSession("t2").Scenarios, FullSession("t2").Limits
	want.State = tornado.Running
	callwrighttest.Spoil(&running)
	for range 2 {
		s.want(t, FullSession("t1"))
		got, err := s.Session(t.Context(), "a", "t2")
		wantSame(t, got, err, want)
		callwrighttest.Spoil(&got)
		list, err := s.FindSessions(t.Context(), "a", tornado.Filter{Limit: 10})
		wantSame(t, list, err, []tornado.Session{want, FullSession("t1")})
		callwrighttest.Spoil(&list)
		list, err = s.AbandonedSessions(t.Context(), nil, 10)
		wantSame(t, list, err, []tornado.Session{want})
		callwrighttest.Spoil(&list)
	}
}

func hidesSessions(t *testing.T, s sessions) {
	s.insert(t, aSession("t1"))
	foreign := aSession("t1")
	foreign.Org = "b"
	_, getErr := s.Session(t.Context(), "b", "t1")
	_, absentErr := s.Session(t.Context(), "a", "t2")
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"get": getErr, "absent": absentErr, "update": s.UpdateSession(t.Context(), foreign),
		"update absent": s.UpdateSession(t.Context(), aSession("t2")), "cancel": s.CancelSession(t.Context(), "b", "t1"),
		"cancel absent": s.CancelSession(t.Context(), "a", "t2"),
	})
	for _, f := range []tornado.Filter{{}, {Pathway: "p1"}, {States: tornado.States()}} {
		f.Limit = 10
		list, err := s.FindSessions(t.Context(), "b", f)
		wantIDs(t, "of another organization", list, err, sessionID)
	}
	s.want(t, aSession("t1"))
}

func refusesSessionTwice(t *testing.T, s sessions) {
	s.insert(t, aSession("t1"), over(aSession("t2"), 2))
	again, foreign, ended := aSession("t1"), aSession("t1"), over(aSession("t2"), 2)
	again.Pathway, foreign.Org = "p2", "b"
	for name, n := range map[string]tornado.Session{"on another pathway": again, "another organization's": foreign, "ended": ended} {
		if err := s.InsertSession(t.Context(), n); !errors.Is(err, callwright.ErrConflict) || isActive(err) {
			t.Errorf("%s gave %v, want a plain conflict", name, err)
		}
	}
	s.want(t, aSession("t1"))
	s.want(t, over(aSession("t2"), 2))
}

func runsOneOnPathway(t *testing.T, s sessions) {
	first, second, elsewhere, foreign := aSession("t1"), aSession("t2"), aSession("t3"), aSession("t4")
	elsewhere.Pathway, foreign.Org = "p2", "b"
	s.insert(t, over(aSession("t0"), 2), first, elsewhere, foreign, over(aSession("t5"), 2))
	if err := s.InsertSession(t.Context(), second); !isActive(err) {
		t.Errorf("a second session gave %v, want ErrActive", err)
	}
	s.wantAbsent(t, "t2")
	// A canceled session still occupies its pathway, and so does a session that no node holds.
	do(t, s.CancelSession(t.Context(), "a", "t1"))
	if err := s.InsertSession(t.Context(), second); !isActive(err) {
		t.Errorf("a second session, after the first was cancelled, gave %v, want ErrActive", err)
	}
	do(t, s.UpdateSession(t.Context(), over(first, 3)))
	s.insert(t, second)
	if err := s.InsertSession(t.Context(), aSession("t6")); !isActive(err) {
		t.Errorf("a third session gave %v, want ErrActive", err)
	}
}

// givesPathwayOnce checks that only one of several concurrently inserted sessions occupies a pathway, and that another session can start
// after the winner has ended.
func givesPathwayOnce(t *testing.T, s sessions) {
	for round := range 2 {
		id := func(writer int) string { return fmt.Sprintf("t%d-%d", round, writer) }
		winner := callwrighttest.Race(t, func(writer int) error {
			err := s.InsertSession(t.Context(), aSession(id(writer)))
			if err != nil && !isActive(err) {
				t.Errorf("a writer got %v, want ErrActive", err)
			}
			return err
		})
		running := tornado.Filter{Pathway: "p1", States: []tornado.State{tornado.Running}, Limit: 10}
		list, err := s.FindSessions(t.Context(), "a", running)
		wantIDs(t, "running", list, err, sessionID, id(winner))
		do(t, s.UpdateSession(t.Context(), over(aSession(id(winner)), 2)))
	}
}

func updatesSession(t *testing.T, s sessions) {
	s.insert(t, aSession("t1"))
	taken := func(writer int) tornado.Session { return onNode(aSession("t1"), fmt.Sprint("node ", writer)) }
	want := taken(callwrighttest.Race(t, func(writer int) error { return s.UpdateSession(t.Context(), taken(writer)) }))
	want.Revision = 2
	s.want(t, want)
	early := want
	early.Revision = 3
	wantErr(t, callwright.ErrConflict, map[string]error{"a later revision": s.UpdateSession(t.Context(), early)})
	s.want(t, want)
}

func updatesPartOfSession(t *testing.T, s sessions) {
	s.insert(t, aSession("t1"))
	changed, want := FullSession("t1"), aSession("t1")
	changed.CreatedAt, changed.Pathway, changed.Cancel = later(99), "p2", true
	do(t, s.UpdateSession(t.Context(), changed))
	want.Progress, want.Usage, want.Node, want.EndedAt = changed.Progress, changed.Usage, changed.Node, changed.EndedAt
	want.Revision = 2
	s.want(t, want)
}

func endsSession(t *testing.T, s sessions) {
	s.insert(t, aSession("t1"))
	done := over(aSession("t1"), 2)
	do(t, s.UpdateSession(t.Context(), done))
	again := aSession("t1")
	again.Revision, done.Revision = 2, 2
	wantErr(t, callwright.ErrConflict, map[string]error{"running again": s.UpdateSession(t.Context(), again)})
	s.want(t, done)
	done.Usage = FullSession("t1").Usage
	do(t, s.UpdateSession(t.Context(), done))
	done.Revision = 3
	s.want(t, done)
}

// pagesSessions checks that pages contain each session once and in order, although most sessions have equal timestamps.
func pagesSessions(t *testing.T, s sessions) {
	const count = 25
	want := make([]string, count)
	for i := range count {
		want[count-1-i] = fmt.Sprintf("t%02d", i)
		n := over(aSession(fmt.Sprintf("t%02d", (i*7)%count)), 2)
		n.CreatedAt, n.Persona = later((i*7)%count/10), "x1"
		s.insert(t, n)
	}
	foreign := aSession("other")
	foreign.Org = "b"
	s.insert(t, foreign)
	for _, f := range []tornado.Filter{{}, {Pathway: "p1"}, {Persona: "x1"}, {States: tornado.States()}, {Pathway: "p1", States: tornado.States()}} {
		f.Limit = 4
		var seen []tornado.Session
		for {
			list, err := s.FindSessions(t.Context(), "a", f)
			if err != nil || len(list) > f.Limit {
				t.Fatalf("got %d, %v", len(list), err)
			}
			if len(list) == 0 {
				break
			}
			seen = append(seen, list...)
			f.After = callwright.Keyset{At: list[len(list)-1].CreatedAt, ID: list[len(list)-1].ID}
		}
		wantIDs(t, fmt.Sprintf("%+v", f), seen, nil, sessionID, want...)
	}
	none, err := s.FindSessions(t.Context(), "a", tornado.Filter{})
	wantIDs(t, "none", none, err, sessionID)
}

func filtersSessions(t *testing.T, s sessions) {
	for i, change := range []func(*tornado.Session){
		func(n *tornado.Session) { n.Pathway, n.Persona = "p2", "x1" },
		func(n *tornado.Session) { n.Persona = "x1" },
		func(n *tornado.Session) { *n = over(*n, 2) },
		func(n *tornado.Session) { *n, n.State = over(*n, 2), tornado.Cancelled },
		func(n *tornado.Session) { *n, n.Persona = over(*n, 2), "x1" },
		func(n *tornado.Session) { n.Pathway = "p3" },
	} {
		n := aSession(fmt.Sprint("t", i))
		n.CreatedAt = later(-i)
		change(&n)
		s.insert(t, n)
	}
	of := func(states ...tornado.State) []tornado.State { return states }
	for name, tt := range map[string]struct {
		f    tornado.Filter
		want string
	}{
		"all":               {tornado.Filter{}, "t0 t1 t2 t3 t4 t5"},
		"pathway":           {tornado.Filter{Pathway: "p1"}, "t1 t2 t3 t4"},
		"persona":           {tornado.Filter{Persona: "x1"}, "t0 t1 t4"},
		"both":              {tornado.Filter{Pathway: "p1", Persona: "x1"}, "t1 t4"},
		"running":           {tornado.Filter{States: of(tornado.Running)}, "t0 t1 t5"},
		"states":            {tornado.Filter{States: of(tornado.Cancelled, tornado.Stuck)}, "t2 t3 t4"},
		"running, pathway":  {tornado.Filter{Pathway: "p1", States: of(tornado.Running)}, "t1"},
		"running, persona":  {tornado.Filter{Persona: "x1", States: of(tornado.Running)}, "t0 t1"},
		"ended, persona":    {tornado.Filter{Persona: "x1", States: of(tornado.Stuck, tornado.TimedOut)}, "t4"},
		"unknown pathway":   {tornado.Filter{Pathway: "p4"}, ""},
		"a state that none": {tornado.Filter{States: of(tornado.AllPassed)}, ""},
	} {
		tt.f.Limit = 10
		list, err := s.FindSessions(t.Context(), "a", tt.f)
		wantIDs(t, name, list, err, sessionID, strings.Fields(tt.want)...)
	}
}

func cancelsSession(t *testing.T, s sessions) {
	s.insert(t, onNode(aSession("t1"), "n"), over(aSession("t2"), 2))
	for range 2 {
		do(t, s.CancelSession(t.Context(), "a", "t1"))
	}
	want := onNode(aSession("t1"), "n")
	want.Cancel = true
	s.want(t, want)
	wantErr(t, callwright.ErrInvalidState, map[string]error{"ended": s.CancelSession(t.Context(), "a", "t2")})
	s.want(t, over(aSession("t2"), 2))
	do(t, s.UpdateSession(t.Context(), over(onNode(aSession("t1"), "n"), 3))) // an update by a node that has not read the cancellation
	want = over(want, 3)
	want.Revision = 2
	s.want(t, want)
}

func tellsAbandonedSessions(t *testing.T, s sessions) {
	var all []tornado.Session
	for i, node := range []string{"node 1", "", "node 2", "node 3", "node 2"} {
		n := onNode(FullSession(fmt.Sprint("t", i)), node)
		n.State, n.Pathway, n.EndedAt = tornado.Running, fmt.Sprint("p", i), time.Time{}
		n.CreatedAt = later(-(i / 2)) // t0 and t1, and t2 and t3, have equal timestamps
		all = append(all, n)
	}
	all[1].Org = "b"
	s.insert(t, all...)
	s.insert(t, over(onNode(aSession("t5"), "node 2"), 2), over(aSession("t6"), 2))
	for name, tt := range map[string]struct {
		alive []string
		limit int
		want  []int
	}{
		"one lives":  {[]string{"node 1"}, 10, []int{4, 2, 3, 1}},
		"two live":   {[]string{"node 2", "node 4", "node 3"}, 10, []int{0, 1}},
		"all live":   {[]string{"node 1", "node 2", "node 3"}, 10, []int{1}},
		"none lives": {nil, 10, []int{4, 2, 3, 0, 1}},
		"few":        {[]string{"node 1"}, 2, []int{4, 2}},
		"none":       {nil, 0, nil},
	} {
		got, err := s.AbandonedSessions(t.Context(), tt.alive, tt.limit)
		want := make([]tornado.Session, 0, len(tt.want))
		for _, i := range tt.want {
			want = append(want, all[i])
		}
		t.Run(name, func(t *testing.T) { wantSame(t, append([]tornado.Session{}, got...), err, want) })
	}
	older := aSession("t7")
	older.CreatedAt = later(-9)
	s.insert(t, over(aSession("t8"), 2), older)
	for limit, want := range map[int][]tornado.Session{10: {older, all[1]}, 1: {older}, 0: {}} {
		got, err := s.WaitingSessions(t.Context(), limit)
		wantSame(t, append([]tornado.Session{}, got...), err, want)
	}
}

func tellsCancelledSessions(t *testing.T, s sessions) {
	for i, n := range []tornado.Session{
		onNode(aSession(""), "n"), onNode(aSession(""), "n"), onNode(aSession(""), "m"), aSession(""), onNode(aSession(""), "n"),
		over(onNode(aSession(""), "n"), 2),
	} {
		n.ID, n.Pathway, n.Cancel = fmt.Sprint("t", i), fmt.Sprint("p", i), i != 1
		if i == 4 {
			n.Org = "b"
		}
		s.insert(t, n)
	}
	for node, want := range map[string]string{"n": "[t0 t4]", "m": "[t2]", "": "[t3]", "another": "[]"} {
		ids, err := s.CancelledSessions(t.Context(), node)
		slices.Sort(ids)
		if err != nil || fmt.Sprint(ids) != want {
			t.Errorf("the node %q has %v, %v; want %s", node, ids, err, want)
		}
	}
}

// rollBack calls the function do in a transaction that is then rolled back.
func (s sessions) rollBack(t *testing.T, do func(ctx context.Context) error) {
	t.Helper()
	subject{atomic: s.atomic}.rollBack(t, do)
}
