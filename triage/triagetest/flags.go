package triagetest

import (
	"context"
	"errors"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/triage"
)

// RunFlags is the conformance suite of triage.Flags. newStore returns an empty store and its transactions.
func RunFlags(t *testing.T, newStore func(t *testing.T) (triage.Store, callwright.Atomic)) {
	t.Helper()
	run(t, "flags", newStore, map[string]func(*testing.T, subject){
		"keeps every field":                keepsFlag,
		"shares no memory":                 sharesNoFlag,
		"hides other organizations' flags": hidesFlags,
		"refuses an id twice":              refusesFlagTwice,
		"refuses one of an absent issue":   refusesOrphanFlag,
		"lists in order":                   listsFlags,
		"deletes":                          deletesFlag,
		"rolls back":                       rollsBackFlags,
	})
}

func aFlag(id, issue string) triage.Flag {
	return triage.Flag{ID: id, Org: "a", IssueID: issue, CallID: "call", Type: "wrong", CreatedAt: at}
}

func fullFlag(id string) triage.Flag {
	index := 3
	return triage.Flag{
		ID: id, Org: "a", IssueID: "i1", CallID: "call", Type: words, Note: "of " + words, NodeID: "n1", NodeName: words,
		MessageIndex: &index, MessageText: words, CreatedBy: "u1", CreatedAt: later(1),
	}
}

func (s subject) insertFlags(t *testing.T, all ...triage.Flag) {
	t.Helper()
	for _, f := range all {
		if err := s.InsertFlag(t.Context(), f); err != nil {
			t.Fatalf("insert %s: %v", f.ID, err)
		}
	}
}

func (s subject) wantFlag(t *testing.T, want triage.Flag) {
	t.Helper()
	got, err := s.Flag(t.Context(), want.Org, want.IssueID, want.ID)
	wantSame(t, got, err, want)
	all, err := s.FlagsOf(t.Context(), want.Org, want.IssueID)
	wantSame(t, all, err, []triage.Flag{want})
}

func flagID(f triage.Flag) string { return f.ID }

func keepsFlag(t *testing.T, s subject) {
	callwrighttest.Full(t, fullFlag("f1"))
	s.insertFlags(t, fullFlag("f1"), aFlag("f2", "i2"))
	s.wantFlag(t, fullFlag("f1"))
	s.wantFlag(t, aFlag("f2", "i2"))
	first, index := aFlag("f3", "j1"), 0
	first.Org, first.MessageIndex = "b", &index // a MessageIndex of 0 must not become nil
	s.insertFlags(t, first)
	s.wantFlag(t, first)
}

func sharesNoFlag(t *testing.T, s subject) {
	given := fullFlag("f1")
	s.insertFlags(t, given)
	callwrighttest.Spoil(&given)
	for range 2 {
		s.wantFlag(t, fullFlag("f1"))
		one, err := s.Flag(t.Context(), "a", "i1", "f1")
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.FlagsOf(t.Context(), "a", "i1")
		if err != nil {
			t.Fatal(err)
		}
		callwrighttest.Spoil(&one)
		callwrighttest.Spoil(&all)
	}
}

func hidesFlags(t *testing.T, s subject) {
	s.insertFlags(t, aFlag("f1", "i1"))
	attempts := map[string]error{}
	for name, of := range map[string]struct {
		org       callwright.OrgID
		issue, id string
	}{
		"foreign": {"b", "i1", "f1"}, "of a foreign issue": {"b", "j1", "f1"}, "of another issue": {"a", "i2", "f1"},
		"absent": {"a", "i1", "f9"},
	} {
		_, attempts[name+": get"] = s.Flag(t.Context(), of.org, of.issue, of.id)
		attempts[name+": delete"] = s.DeleteFlag(t.Context(), of.org, of.issue, of.id)
	}
	wantErr(t, callwright.ErrNotFound, attempts)
	for _, of := range []struct {
		org   callwright.OrgID
		issue string
	}{{"b", "i1"}, {"b", "j1"}, {"a", "i2"}, {"a", "i9"}} {
		all, err := s.FlagsOf(t.Context(), of.org, of.issue)
		wantIDs(t, all, err, flagID)
	}
	s.wantFlag(t, aFlag("f1", "i1"))
}

func refusesFlagTwice(t *testing.T, s subject) {
	s.insertFlags(t, aFlag("f1", "i1"))
	foreign := aFlag("f1", "j1")
	foreign.Org = "b"
	wantErr(t, callwright.ErrConflict, map[string]error{
		"the same":                s.InsertFlag(t.Context(), aFlag("f1", "i1")),
		"in another issue":        s.InsertFlag(t.Context(), aFlag("f1", "i2")),
		"in another organization": s.InsertFlag(t.Context(), foreign),
	})
	s.wantFlag(t, aFlag("f1", "i1"))
}

func refusesOrphanFlag(t *testing.T, s subject) {
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"an absent issue": s.InsertFlag(t.Context(), aFlag("f1", "i9")),
		"a foreign issue": s.InsertFlag(t.Context(), aFlag("f1", "j1")),
	})
}

func listsFlags(t *testing.T, s subject) {
	for _, f := range []struct {
		id     string
		second int
	}{{"f4", 2}, {"f3", 1}, {"f5", 0}, {"f2", 1}, {"f1", 2}} {
		flag := aFlag(f.id, "i1")
		flag.CreatedAt = later(f.second)
		s.insertFlags(t, flag)
	}
	s.insertFlags(t, aFlag("f6", "i2"))
	all, err := s.FlagsOf(t.Context(), "a", "i1")
	wantIDs(t, all, err, flagID, "f5", "f2", "f3", "f1", "f4")
}

func deletesFlag(t *testing.T, s subject) {
	s.insertFlags(t, aFlag("f1", "i1"), aFlag("f2", "i1"))
	if err := s.DeleteFlag(t.Context(), "a", "i1", "f1"); err != nil {
		t.Fatal(err)
	}
	_, getErr := s.Flag(t.Context(), "a", "i1", "f1")
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"get": getErr, "delete again": s.DeleteFlag(t.Context(), "a", "i1", "f1"),
	})
	s.wantFlag(t, aFlag("f2", "i1"))
}

func rollsBackFlags(t *testing.T, s subject) {
	s.insertFlags(t, fullFlag("f1"))
	s.rollBack(t, func(ctx context.Context) error {
		return errors.Join(s.DeleteFlag(ctx, "a", "i1", "f1"), s.InsertFlag(ctx, aFlag("f2", "i1")))
	})
	s.wantFlag(t, fullFlag("f1"))
}
