package triagetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/triage"
)

// RunSessions is the conformance suite of triage.Sessions. newStore returns an empty store and its transactions.
func RunSessions(t *testing.T, newStore func(t *testing.T) (triage.Store, callwright.Atomic)) {
	t.Helper()
	run(t, "sessions", newStore, map[string]func(*testing.T, subject){
		"keeps every field":                   keepsSession,
		"keeps a large state":                 keepsState,
		"shares no memory":                    sharesNoSession,
		"hides other organizations' sessions": hidesSessions,
		"refuses an id twice":                 refusesSessionTwice,
		"refuses one of an absent issue":      refusesOrphanSession,
		"updates by compare-and-set":          updatesSession,
		"lists those that go on, in order":    listsSessions,
		"finds those of which nothing comes":  findsSilentSessions,
		"counts analyses that run":            countsAnalyses,
		"rolls back":                          rollsBackSessions,
	})
}

func aSession(id, issue string) triage.Session {
	return triage.Session{
		ID: id, Org: "a", IssueID: issue, AgentName: "Agent", Status: triage.SessionPending, StartedBy: triage.System(),
		CreatedAt: at, UpdatedAt: at, Revision: 1,
	}
}

func fullSession(id string) triage.Session {
	ended := later(3)
	return triage.Session{
		ID: id, Org: "a", IssueID: "i1", ProfileID: "p1", AgentName: words, Status: triage.SessionActive,
		StartedBy: fullActor("u1"), CreatedAt: later(1), UpdatedAt: later(2), EndedAt: &ended, Entries: 4,
		Pending: []string{"a1", "a2"}, Revision: 1,
		Analysis: &triage.Analysis{
			Prompt: words, Answers: []string{words, "", "yes"}, Step: 5, Since: later(4),
			State: json.RawMessage(`{"b":[1,null,"\u2603"],"a":{"deep":[{}]},"n":1.5}`),
		},
	}
}

func (s subject) insertSessions(t *testing.T, all ...triage.Session) {
	t.Helper()
	for _, a := range all {
		if err := s.InsertSession(t.Context(), a); err != nil {
			t.Fatalf("insert %s: %v", a.ID, err)
		}
	}
}

func (s subject) wantSession(t *testing.T, want triage.Session) {
	t.Helper()
	got, err := s.Session(t.Context(), want.Org, want.IssueID, want.ID)
	wantSame(t, got, err, want)
}

func sessionID(a triage.Session) string { return a.ID }

// keepsSession checks that an insert stores all fields. An update must be able to clear the mutable fields and to set them again, and must
// change no other field.
func keepsSession(t *testing.T, s subject) {
	want := fullSession("s1")
	callwrighttest.Full(t, want)
	given := want
	given.Revision = 7
	s.insertSessions(t, given)
	s.wantSession(t, want)
	found, err := s.SessionsOf(t.Context(), "a", "i1")
	wantSame(t, found, err, []triage.Session{want})
	found, err = s.SilentSessions(t.Context(), later(9), at, 9)
	wantSame(t, found, err, []triage.Session{want})

	bare := triage.Session{
		ID: "s1", Org: "a", IssueID: "i2", AgentName: "Bare", Status: triage.SessionError, StartedBy: triage.System(),
		CreatedAt: later(8), UpdatedAt: later(9), Revision: 1,
	}
	if err := s.UpdateSession(t.Context(), bare); err != nil {
		t.Fatal(err)
	}
	bare.IssueID, bare.StartedBy, bare.CreatedAt, bare.Revision = want.IssueID, want.StartedBy, want.CreatedAt, 2
	s.wantSession(t, bare)
	got, err := s.Session(t.Context(), "a", "i1", "s1")
	if err != nil || got.Analysis != nil || got.EndedAt != nil {
		t.Errorf("what was taken away is there: %+v, %v", got, err)
	}

	again := want
	again.Revision = 2
	if err := s.UpdateSession(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	again.Revision = 3
	s.wantSession(t, again)
}

// keepsState checks that sessions store a large state of an analysis, and that an analysis without a state has a nil State after it is
// read.
func keepsState(t *testing.T, s subject) {
	none, large := aSession("s1", "i1"), aSession("s2", "i1")
	none.Analysis = &triage.Analysis{Since: at}
	large.Analysis = &triage.Analysis{
		Prompt: strings.Repeat("\u96ea", triage.MaxPrompt/3), Since: at,
		State: json.RawMessage(`{"seen":"` + strings.Repeat(`\u00e9\"`, 20<<10) + `"}`),
	}
	s.insertSessions(t, none, large)
	s.wantSession(t, none)
	s.wantSession(t, large)
	got, err := s.Session(t.Context(), "a", "i1", "s1")
	if err != nil || got.Analysis == nil || got.Analysis.State != nil {
		t.Errorf("an analysis without a state is %+v, %v", got.Analysis, err)
	}
}

func sharesNoSession(t *testing.T, s subject) {
	given := fullSession("s1")
	s.insertSessions(t, given)
	callwrighttest.Spoil(&given)
	for range 2 {
		s.wantSession(t, fullSession("s1"))
		one, err := s.Session(t.Context(), "a", "i1", "s1")
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.SessionsOf(t.Context(), "a", "i1")
		if err != nil {
			t.Fatal(err)
		}
		silent, err := s.SilentSessions(t.Context(), later(9), at, 9)
		if err != nil {
			t.Fatal(err)
		}
		callwrighttest.Spoil(&one)
		callwrighttest.Spoil(&all)
		callwrighttest.Spoil(&silent)
	}
	given = fullSession("s1")
	if err := s.UpdateSession(t.Context(), given); err != nil {
		t.Fatal(err)
	}
	callwrighttest.Spoil(&given)
	want := fullSession("s1")
	want.Revision = 2
	s.wantSession(t, want)
}

func hidesSessions(t *testing.T, s subject) {
	s.insertSessions(t, aSession("s1", "i1"))
	foreign, absent := aSession("s1", "i1"), aSession("s9", "i1")
	foreign.Org = "b"
	attempts := map[string]error{
		"update": s.UpdateSession(t.Context(), foreign), "update absent": s.UpdateSession(t.Context(), absent),
	}
	_, attempts["get"] = s.Session(t.Context(), "b", "i1", "s1")
	_, attempts["get of a foreign issue"] = s.Session(t.Context(), "b", "j1", "s1")
	_, attempts["get of another issue"] = s.Session(t.Context(), "a", "i2", "s1")
	_, attempts["get absent"] = s.Session(t.Context(), "a", "i1", "s9")
	wantErr(t, callwright.ErrNotFound, attempts)
	for _, of := range []struct {
		org   callwright.OrgID
		issue string
	}{{"b", "i1"}, {"b", "j1"}, {"a", "i2"}, {"a", "i9"}} {
		all, err := s.SessionsOf(t.Context(), of.org, of.issue)
		wantIDs(t, all, err, sessionID)
	}
	s.wantSession(t, aSession("s1", "i1"))
}

func refusesSessionTwice(t *testing.T, s subject) {
	s.insertSessions(t, aSession("s1", "i1"))
	foreign := aSession("s1", "j1")
	foreign.Org = "b"
	wantErr(t, callwright.ErrConflict, map[string]error{
		"the same":                s.InsertSession(t.Context(), aSession("s1", "i1")),
		"in another issue":        s.InsertSession(t.Context(), aSession("s1", "i2")),
		"in another organization": s.InsertSession(t.Context(), foreign),
	})
	s.wantSession(t, aSession("s1", "i1"))
}

func refusesOrphanSession(t *testing.T, s subject) {
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"an absent issue": s.InsertSession(t.Context(), aSession("s1", "i9")),
		"a foreign issue": s.InsertSession(t.Context(), aSession("s1", "j1")),
	})
}

func updatesSession(t *testing.T, s subject) {
	s.insertSessions(t, aSession("s1", "i1"))
	changed := func(writer int) triage.Session {
		a := aSession("s1", "i1")
		a.Entries = writer
		return a
	}
	want := changed(callwrighttest.Race(t, func(writer int) error { return s.UpdateSession(t.Context(), changed(writer)) }))
	want.Revision = 2
	s.wantSession(t, want)
}

// listsSessions checks that exactly the open sessions of an issue are listed in order, including sessions with equal timestamps.
func listsSessions(t *testing.T, s subject) {
	var want []string
	for n, status := range slices.Concat(triage.SessionStatuses(), triage.SessionStatuses()) {
		a := aSession(fmt.Sprintf("s%02d", 20-n), "i1")
		a.Status, a.CreatedAt = status, later(-n/5)
		s.insertSessions(t, a)
		if !status.Ended() {
			want = append(want, a.ID)
		}
	}
	s.insertSessions(t, aSession("other", "i2"))
	slices.Reverse(want)
	all, err := s.SessionsOf(t.Context(), "a", "i1")
	wantIDs(t, all, err, sessionID, want...)
}

// findsSilentSessions checks the search for silent sessions, with sessions in every state whose last update is just before, at, and just
// after the two limits.
func findsSilentSessions(t *testing.T, s subject) {
	silent, waiting := at, at.Add(-time.Hour)
	var want []string
	for _, status := range triage.SessionStatuses() {
		for n, since := range []time.Time{waiting, silent} {
			for _, off := range []time.Duration{-time.Microsecond, 0, time.Microsecond} {
				a := aSession(fmt.Sprintf("%s %d %s", status, n, off), "i1")
				if n == 1 {
					a.Org, a.IssueID = "b", "j1" // the search covers all organizations
				}
				a.Status, a.UpdatedAt = status, since.Add(off)
				s.insertSessions(t, a)
				until := silent
				if status == triage.SessionAwaitingInput {
					until = waiting
				}
				if !status.Ended() && a.UpdatedAt.Before(until) {
					want = append(want, a.ID)
				}
			}
		}
	}
	slices.Sort(want)
	found, err := s.SilentSessions(t.Context(), silent, waiting, 100)
	slices.SortFunc(found, func(a, b triage.Session) int { return strings.Compare(a.ID, b.ID) })
	wantIDs(t, found, err, sessionID, want...)
	// A sweep in small batches finds every silent session if it ends the found ones.
	for left := len(want); left > 0; {
		few, err := s.SilentSessions(t.Context(), silent, waiting, 4)
		if err != nil || len(few) != min(4, left) {
			t.Fatalf("got %d sessions of %d, at most 4; %v", len(few), left, err)
		}
		for _, a := range few {
			a.Status = triage.SessionError
			if err := s.UpdateSession(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		left -= len(few)
	}
	found, err = s.SilentSessions(t.Context(), silent, waiting, 4)
	wantIDs(t, found, err, sessionID)
}

// countsAnalyses checks that only working analyses of an organization count. It inserts analyses of two organizations and sessions without
// an analysis, in every state.
func countsAnalyses(t *testing.T, s subject) {
	for _, status := range triage.SessionStatuses() {
		for _, of := range []struct{ org, issue, id string }{{"a", "i1", "one"}, {"a", "i2", "two"}, {"b", "j1", "foreign"}, {"a", "i1", "outside"}} {
			session := aSession(of.id+" "+string(status), of.issue)
			session.Org, session.Status, session.Analysis = callwright.OrgID(of.org), status, &triage.Analysis{Since: at}
			if of.id == "outside" {
				session.Analysis = nil
			}
			s.insertSessions(t, session)
		}
	}
	for org, want := range map[callwright.OrgID]int{"a": 4, "b": 2, "c": 0} {
		if count, err := s.CountAnalyses(t.Context(), org); err != nil || count != want {
			t.Errorf("%d analyses of %s run, want %d; %v", count, org, want, err)
		}
	}
}

func rollsBackSessions(t *testing.T, s subject) {
	s.insertSessions(t, fullSession("s1"))
	s.rollBack(t, func(ctx context.Context) error {
		a := fullSession("s1")
		a.Status, a.Pending = triage.SessionCancelled, nil
		return errors.Join(s.UpdateSession(ctx, a), s.InsertSession(ctx, aSession("s2", "i1")))
	})
	s.wantSession(t, fullSession("s1"))
	_, err := s.Session(t.Context(), "a", "i1", "s2")
	wantErr(t, callwright.ErrNotFound, map[string]error{"what was rolled back": err})
}
