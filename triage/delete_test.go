package triage_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// delete deletes an issue of the organization "acme".
func (h house) delete(id string) {
	h.t.Helper()
	if err := h.Delete(h.t.Context(), "acme", bob, id); err != nil {
		h.t.Fatal(err)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := openDepot(t, func(c *triage.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	i, other := s.issue(triage.Draft{}), s.issue(triage.Draft{})
	deeds := s.deeds(i.ID, other.ID)
	sess, err := s.StartSession(t.Context(), "acme", ada, i.ID, triage.SessionDraft{AgentName: "Ann"})
	if err != nil {
		t.Fatal(err)
	}
	s.refuses(t, i.ID, callwright.CodeNotFound, "", func() error { return s.Delete(t.Context(), "other", ada, i.ID) })
	s.refuses(t, i.ID, callwright.CodeBadRequest, "actor.id", func() error {
		return s.Delete(t.Context(), "acme", triage.Actor{Kind: triage.ActorUser}, i.ID)
	})
	s.delete(i.ID)
	_, getErr := s.Get(t.Context(), "acme", i.ID)
	_, feedErr := s.Activity(t.Context(), "acme", i.ID, triage.PageRequest{})
	_, sessionErr := s.Session(t.Context(), "acme", i.ID, sess.ID)
	_, stepErr := s.Append(t.Context(), "acme", i.ID, sess.ID, triage.Step{Type: triage.TypeThought})
	_, relateErr := func() (triage.Relation, error) {
		r, _, err := s.Relate(t.Context(), "acme", ada, other.ID, i.ID, triage.RelatedTo)
		return r, err
	}()
	for name, err := range map[string]error{
		"again": s.Delete(t.Context(), "acme", ada, i.ID), "get": getErr, "feed": feedErr, "session": sessionErr, "step": stepErr,
		"view": s.View(t.Context(), "acme", "ada", i.ID), "relate to it": relateErr,
	} {
		if !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s gave %v", name, err)
		}
	}
	for name, do := range deeds {
		if err := do(t.Context(), "acme", ada, i.ID); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s gave %v", name, err)
		}
	}
	if next := s.issue(triage.Draft{}); next.Number != other.Number+1 {
		t.Errorf("the next issue is %s", next.Name())
	}
	if line := log.String(); !strings.Contains(line, "issue deleted") || !strings.Contains(line, "triage_id=T-1001") ||
		!strings.Contains(line, "actor_id=bob") {
		t.Errorf("the log has %q", line)
	}
}

// TestDeleteCutsRelations checks that issues which were related to a deleted issue, or merged into it, lose these relations and record the
// loss. Other issues must not change.
func TestDeleteCutsRelations(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	i, friend, twin, far := s.issue(triage.Draft{Title: "I"}), s.issue(triage.Draft{}), s.issue(triage.Draft{}), s.issue(triage.Draft{})
	for _, r := range []struct {
		from, to string
		kind     triage.RelationType
	}{{i.ID, friend.ID, triage.RelatedTo}, {friend.ID, i.ID, triage.Blocks}, {friend.ID, far.ID, triage.Blocks}} {
		if _, _, err := s.Relate(t.Context(), "acme", ada, r.from, r.to, r.kind); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Merge(t.Context(), "acme", ada, twin.ID, i.ID); err != nil {
		t.Fatal(err)
	}
	seen := s.kept(far.ID)
	merged := s.get(twin.ID)
	s.delete(i.ID)
	cut := func(kind triage.RelationType, direction string) triage.Entry {
		return triage.Entry{
			Type: triage.TypeRelationRemoved, Actor: bob, Referenced: []triage.IssueRef{i.Ref()},
			Metadata: map[string]any{"relation_type": string(kind), "direction": direction, "deleted": true},
		}
	}
	s.wantLast(t, friend.ID, cut(triage.RelatedTo, "incoming"), cut(triage.Blocks, "outgoing"))
	s.wantLast(t, twin.ID, cut(triage.DuplicateOf, "outgoing"))
	if k := s.kept(friend.ID); k.Issue.Relations != 1 || len(k.Relations) != 1 || k.Issue.Version != friend.Version {
		t.Errorf("the related issue is %+v with %+v", k.Issue, k.Relations)
	}
	k := s.kept(twin.ID)
	if k.Issue.MergedInto != "" || k.Issue.Status != triage.StatusClosed || k.Issue.Relations != 0 || len(k.Relations) != 0 ||
		k.Issue.Version != merged.Version+1 {
		t.Errorf("the issue that was merged into it is %+v with %+v", k.Issue, k.Relations)
	}
	if got := s.kept(far.ID); !reflect.DeepEqual(got, seen) {
		t.Errorf("an issue without a relation to it is %+v, want %+v", got, seen)
	}
	todo := triage.StatusTodo
	if _, err := s.Update(t.Context(), "acme", ada, twin.ID, triage.Change{Status: &todo}); err != nil {
		t.Errorf("it does not open again: %v", err)
	}
}

// TestDeleteAMergedIssue checks that the target of a merge keeps its reports and attachments when the merged issue is deleted.
func TestDeleteAMergedIssue(t *testing.T) {
	t.Parallel()
	s := openDepot(t)
	from, into := s.report("busy", "call-0"), s.issue(triage.Draft{})
	if _, err := s.Merge(t.Context(), "acme", ada, from.ID, into.ID); err != nil {
		t.Fatal(err)
	}
	s.delete(from.ID)
	if k := s.kept(into.ID); k.Issue.Relations != 0 || len(k.Relations) != 0 || len(k.Resources) != 1 {
		t.Errorf("the target is %+v with %+v", k.Issue, k)
	}
	if i := s.report("busy", "call-1"); i.ID != into.ID {
		t.Errorf("the next report came to %+v", i)
	}
}

// TestReportAfterADeletion checks that a report opens a new issue if the issue of its key is deleted before or during the report.
func TestReportAfterADeletion(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]struct {
		ended  bool
		before int // number of the report's transaction before which the issue is deleted; 0 means before the report
	}{"before": {}, "before, ended": {true, 0}, "meanwhile": {false, 1}, "meanwhile, ended": {true, 1}, "later": {true, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := new(meddler)
			s := openDepot(t, func(c *triage.Config) {
				m.Atomic = c.Atomic
				c.Atomic = m
			})
			first := s.report("busy").ID
			if done := triage.StatusDone; at.ended {
				if _, err := s.Update(t.Context(), "acme", ada, first, triage.Change{Status: &done}); err != nil {
					t.Fatal(err)
				}
			}
			m.before, m.do = at.before, func() { s.delete(first) }
			if at.before == 0 {
				m.do()
			}
			if i := s.report("busy", "call-0"); i.Number != triage.FirstNumber+1 || i.Resources != 1 || i.Relations != 0 {
				t.Errorf("the report came to %+v", i)
			}
		})
	}
}

// TestDeleteWhileRelationsChange checks that Delete succeeds if a relation is added, or a related issue is deleted, just before its
// transaction.
func TestDeleteWhileRelationsChange(t *testing.T) {
	t.Parallel()
	for _, deletes := range []bool{false, true} {
		m := new(meddler)
		s := openDepot(t, func(c *triage.Config) {
			m.Atomic = c.Atomic
			c.Atomic = m
		})
		i, other, third := s.issue(triage.Draft{}), s.issue(triage.Draft{}), s.issue(triage.Draft{})
		relate := func(to string) {
			if _, _, err := s.Relate(t.Context(), "acme", ada, i.ID, to, triage.Blocks); err != nil {
				t.Error(err)
			}
		}
		relate(other.ID)
		m.before, m.do = 1, func() {
			if deletes {
				s.delete(other.ID)
			}
			relate(third.ID)
		}
		s.delete(i.ID)
		if k := s.kept(third.ID); k.Issue.Relations != 0 || len(k.Relations) != 0 || k.Feed[len(k.Feed)-1].Type != triage.TypeRelationRemoved {
			t.Errorf("the third issue is %+v with %+v", k.Issue, k.Relations)
		}
	}
}

// TestDeleteEndsWatchers checks that waiting watchers of a deleted issue end: immediately on the same node, and within seconds on another.
func TestDeleteEndsWatchers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		i, spared := h.issue(triage.Draft{}), h.issue(triage.Draft{})
		here, there, still := h.watch(i.ID, ""), openOver(t, h.memory).watch(i.ID, ""), h.watch(spared.ID, "")
		ends := func(w *triage.Watcher, most time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			entries, err := w.Next(ctx)
			if took := time.Since(began); !errors.Is(err, callwright.ErrNotFound) || took > most {
				t.Errorf("after %s a watcher heard %+v, %v", took, entries, err)
			}
		}
		go func() {
			time.Sleep(300 * time.Millisecond)
			h.delete(i.ID)
		}()
		ends(here, 300*time.Millisecond)
		ends(there, 15*time.Second)
		ends(here, 15*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if entries, err := still.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a watcher of another issue heard %+v, %v", entries, err)
		}
	})
}

// TestDeleteStopsAnalysis checks that the running step of an analysis is canceled when its issue is deleted, and that its task ends without
// a warning.
func TestDeleteStopsAnalysis(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		thinking := make(chan struct{})
		asked := 0
		s := openStudy(t, taking(func(ctx context.Context, _ triage.Case) (triage.Progress, error) {
			asked++
			close(thinking)
			<-ctx.Done()
			return triage.Progress{}, ctx.Err()
		}), systemClock, func(c *triage.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		s.works()
		sess := s.analyze("")
		<-thinking
		s.delete(sess.IssueID)
		time.Sleep(time.Minute)
		if asked != 1 || strings.Contains(log.String(), "level=WARN") || strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("it was asked %d times, and the log has %q", asked, log.String())
		}
		if n, err := s.store().CountAnalyses(t.Context(), "acme"); n != 0 || err != nil {
			t.Errorf("%d analyses run, %v", n, err)
		}
	})
}

// TestDeleteBeforeAStepIsKept checks that the task of a step runs again and then ends, if its issue is deleted before the step is stored.
func TestDeleteBeforeAStepIsKept(t *testing.T) {
	t.Parallel()
	var s study
	var issue string
	var log bytes.Buffer
	s = openStudy(t, taking(func(context.Context, triage.Case) (triage.Progress, error) {
		s.delete(issue)
		return thinks("hm", triage.SessionActive), nil
	}), func(c *triage.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	for attempt := 1; attempt <= 4; attempt++ {
		sess := s.analyze("")
		issue = sess.IssueID
		err := s.step(t.Context(), sess, 0, attempt)
		if _, again := callwright.RetryAfter(err); !again && attempt <= 3 {
			t.Errorf("attempt %d gave %v", attempt, err)
		}
		if attempt == 4 { // the last attempt does not call the analyst
			s.delete(issue)
		}
		if err := s.step(t.Context(), sess, 0, attempt+1); err != nil {
			t.Errorf("attempt %d gave %v", attempt+1, err)
		}
	}
	if strings.Contains(log.String(), "level=WARN") {
		t.Errorf("the log has %q", log.String())
	}
}

// TestSweepOfADeletedIssue checks that the sweep ignores a silent session whose issue is deleted meanwhile.
func TestSweepOfADeletedIssue(t *testing.T) {
	t.Parallel()
	var h depot
	var i triage.Issue
	h, sweep := swept(t, func(c *triage.Config) { c.Store = slow{c.Store, func() { h.delete(i.ID) }} })
	i = h.issue(triage.Draft{})
	h.begin(i.ID)
	h.clock.move(time.Hour)
	if err := sweep(); err != nil {
		t.Errorf("the sweep gave %v", err)
	}
}
