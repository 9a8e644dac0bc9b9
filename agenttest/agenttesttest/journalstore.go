package agenttesttest

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/callwrighttest"
)

// RunJournals tests a run.Journals with RunJournal and further tests. The arguments are those of RunStore.
func RunJournals(t *testing.T, newStore NewStore, atRest callwrighttest.AtRest[agenttest.Store]) {
	t.Helper()
	checkStore(t, "journals", newStore, atRest, map[string]func(*testing.T, subject){
		"is an engine's journal":           isJournal,
		"takes answers of its node only":   takesOfNodeOnly,
		"takes judgements of ended runs":   takesJudgements,
		"gives a key to one of many":       givesKeyOnce,
		"hides other organizations'":       hidesJournals,
		"shares no memory":                 sharesNoAnswer,
		"deletes one journal":              deletesJournal,
		"ends with a transaction":          rollsBackAnswer,
		"goes with the run that is old":    goesWithOldRun,
		"encrypts what models have said":   encryptsAnswer,
		"takes answers after being closed": takesAfterDeletion,
	})
}

func (s subject) append(t *testing.T, run, node, key, answer string) error {
	t.Helper()
	return s.AppendAnswer(t.Context(), "a", run, node, key, []byte(answer))
}

// wantAnswers checks the journal of a run. want is the map of the answers by key, as fmt.Sprint formats it.
func (s subject) wantAnswers(t *testing.T, run, want string) {
	t.Helper()
	got, err := s.Answers(t.Context(), "a", run)
	texts := map[string]string{}
	for key, answer := range got {
		texts[key] = string(answer)
	}
	if err != nil || fmt.Sprint(texts) != want {
		t.Errorf("the journal of %s is %v, %v; want %s", run, texts, err, want)
	}
}

func isJournal(t *testing.T, s subject) {
	n := 0
	RunJournal(t, func(t *testing.T) func() engine.Journal {
		t.Helper()
		n++
		id := fmt.Sprint("r", n)
		s.insert(t, running(id, "n"))
		return func() engine.Journal { return storedJournal{s, id} }
	})
}

// storedJournal implements engine.Journal for a run of organization a on node n.
type storedJournal struct {
	store subject
	run   string
}

func (j storedJournal) Answers(ctx context.Context) (map[string][]byte, error) {
	return j.store.Answers(ctx, "a", j.run)
}

func (j storedJournal) Append(ctx context.Context, key string, answer []byte) error {
	return j.store.AppendAnswer(ctx, "a", j.run, "n", key, answer)
}

func takesOfNodeOnly(t *testing.T, s subject) {
	s.insert(t, running("r1", "n"), aRun("r2"), ended("r3", 9))
	waiting := aRun("r4")
	waiting.Node = "n"
	s.insert(t, waiting)
	do(t, s.append(t, "r1", "n", "k", "x"))
	wantErr(t, callwright.ErrConflict, map[string]error{
		"another node": s.append(t, "r1", "m", "k2", "x"), "no node": s.append(t, "r1", "", "k2", "x"),
		"a run that waits": s.append(t, "r2", "", "k", "x"), "one that waits again": s.append(t, "r4", "n", "k", "x"),
		"a run that has ended": s.append(t, "r3", "node 1", "k", "x"),
	})
	wantErr(t, callwright.ErrNotFound, map[string]error{"absent": s.append(t, "r5", "n", "k", "x")})
	s.wantAnswers(t, "r1", "map[k:x]")
	// Another node claims the run and continues its journal.
	do(t, s.update(t, running("r1", "m")), s.append(t, "r1", "m", "k2", ""))
	wantErr(t, callwright.ErrConflict, map[string]error{"the node of before": s.append(t, "r1", "n", "k3", "x")})
	s.wantAnswers(t, "r1", "map[k:x k2:]")
}

func takesJudgements(t *testing.T, s subject) {
	over := aBatch("over")
	over.State, over.EndedAt = run.Passed, later(9)
	s.insert(t, aBatch("open"), over, in(ended("r1", 2), "open", 0), in(ended("r2", 2), "over", 0), ended("r3", 2),
		in(running("r4", "n"), "open", 1))
	judge := func(org callwright.OrgID, run, key string) error {
		return s.AppendJudgement(t.Context(), org, run, key, []byte("x"))
	}
	do(t, judge("a", "r1", "k"), judge("a", "r1", "l"))
	wantErr(t, callwright.ErrConflict, map[string]error{
		"a key twice": judge("a", "r1", "k"), "a group that has ended": judge("a", "r2", "k"), "no group": judge("a", "r3", "k"),
		"a run that goes on": judge("a", "r4", "k"),
	})
	wantErr(t, callwright.ErrNotFound, map[string]error{"absent": judge("a", "r5", "k"), "another organization's": judge("b", "r1", "m")})
	s.wantAnswers(t, "r1", "map[k:x l:x]")
	do(t, s.DeleteAnswers(t.Context(), "a", "r1"))
	s.wantAnswers(t, "r1", "map[]")
}

func givesKeyOnce(t *testing.T, s subject) {
	s.insert(t, running("r1", "n"))
	winner := callwrighttest.Race(t, func(writer int) error { return s.append(t, "r1", "n", "k", fmt.Sprint(writer)) })
	s.wantAnswers(t, "r1", fmt.Sprintf("map[k:%d]", winner))
}

func hidesJournals(t *testing.T, s subject) {
	s.insert(t, running("r1", "n"))
	do(t, s.append(t, "r1", "n", "k", "x"))
	err := s.AppendAnswer(t.Context(), "b", "r1", "n", "k2", []byte("x"))
	wantErr(t, callwright.ErrNotFound, map[string]error{"append": err})
	if got, err := s.Answers(t.Context(), "b", "r1"); err != nil || len(got) != 0 {
		t.Errorf("another organization reads %q, %v", got, err)
	}
	do(t, s.DeleteAnswers(t.Context(), "b", "r1"))
	s.wantAnswers(t, "r1", "map[k:x]")
}

func sharesNoAnswer(t *testing.T, s subject) {
	s.insert(t, running("r1", "n"))
	given := []byte("said")
	do(t, s.AppendAnswer(t.Context(), "a", "r1", "n", "k", given))
	copy(given, "spoilt")
	for range 2 {
		got, err := s.Answers(t.Context(), "a", "r1")
		if err != nil || !bytes.Equal(got["k"], []byte("said")) {
			t.Fatalf("got %q, %v", got, err)
		}
		copy(got["k"], "spoilt")
		got["more"] = nil
	}
}

func deletesJournal(t *testing.T, s subject) {
	s.insert(t, running("r1", "n"), running("r2", "n"))
	do(t, s.append(t, "r1", "n", "k", "x"), s.append(t, "r1", "n", "l", "y"), s.append(t, "r2", "n", "k", "z"))
	do(t, s.DeleteAnswers(t.Context(), "a", "r1"), s.DeleteAnswers(t.Context(), "a", "absent"))
	s.wantAnswers(t, "r1", "map[]")
	s.wantAnswers(t, "r2", "map[k:z]")
}

func takesAfterDeletion(t *testing.T, s subject) {
	s.insert(t, running("r1", "n"))
	do(t, s.append(t, "r1", "n", "k", "x"), s.DeleteAnswers(t.Context(), "a", "r1"), s.append(t, "r1", "n", "k", "y"))
	s.wantAnswers(t, "r1", "map[k:y]")
}

func goesWithOldRun(t *testing.T, s subject) {
	s.insert(t, running("r1", "n"))
	do(t, s.append(t, "r1", "n", "k", "x"), s.update(t, ended("r1", 2)))
	if n, err := s.DeleteRuns(t.Context(), later(3), 10); err != nil || n != 1 {
		t.Fatalf("removed %d, %v", n, err)
	}
	s.insert(t, running("r1", "n"))
	s.wantAnswers(t, "r1", "map[]")
}

func encryptsAnswer(t *testing.T, s subject) {
	s.insert(t, running(callwrighttest.VisibleID, "n"))
	s.atRest.Check(t, s.Store, func() error {
		return s.append(t, callwrighttest.VisibleID, "n", "k", `{"text":"hunter2-said"}`)
	}, "hunter2-said")
}
