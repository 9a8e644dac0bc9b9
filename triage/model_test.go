package triage_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// TestIssuesAgreeWithAModel checks that the counters of issues match the stored parts after random operations, and that refused and failed
// operations change nothing.
func TestIssuesAgreeWithAModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		m := newModel(t, r)
		actions := map[string]func(*rapid.T){
			"comment": m.comment, "edit": m.edit, "delete": m.remove, "attach": m.attach, "detach": m.detach, "flag": m.flag,
			"unflag": m.unflag, "relate": m.relate, "unrelate": m.unrelate, "alert": m.alert, "report": m.report,
			"start": m.start, "step": m.step, "answer": m.answer, "cancel": m.cancel, "sweep": m.sweepNow,
			"status": m.status, "merge": m.merge, "erase": m.erase, "": m.check,
		}
		r.Repeat(actions)
	})
}

// model holds the expected content of the store.
type model struct {
	t      *testing.T
	house  depot
	sweep  func() error
	faults *faulty
	issues []*modelIssue
	open   string // id of the issue that receives reports, or empty

	relations []modelRelation
}

type modelIssue struct {
	id       string
	status   triage.Status
	into     *modelIssue // target of its merge, or nil
	entries  int
	calls    map[string]string // call id to attachment id
	flags    map[string]string // flag id to call id
	comments []*modelComment
	sessions []*modelSession // in the order of their start
}

type modelComment struct {
	id      string
	author  triage.Actor
	deleted bool
}

type modelSession struct {
	id     string
	status triage.SessionStatus
	heard  time.Time
}

type modelRelation struct {
	id       string
	kind     triage.RelationType
	from, to *modelIssue
}

// faulty is a store that, if fails is set, fails to append entries and to delete issues, late in a transaction.
type faulty struct {
	triage.Store
	fails bool
}

var errFault = errors.New("the disk is full")

func (f *faulty) AppendEntries(ctx context.Context, org callwright.OrgID, issue string, entries []triage.Entry) error {
	if f.fails {
		return errFault
	}
	return f.Store.AppendEntries(ctx, org, issue, entries)
}

// DeleteIssue deletes the issue, and then returns an error if fails is set.
func (f *faulty) DeleteIssue(ctx context.Context, org callwright.OrgID, id string) error {
	if err := f.Store.DeleteIssue(ctx, org, id); err != nil || !f.fails {
		return err
	}
	return errFault
}

func newModel(t *testing.T, r *rapid.T) *model {
	m := &model{t: t, faults: new(faulty)}
	m.house, m.sweep = swept(t, func(c *triage.Config) {
		m.faults.Store = c.Store
		c.Store = m.faults
	})
	for range rapid.IntRange(2, 4).Draw(r, "issues") {
		m.issues = append(m.issues, newModelIssue(m.house.issue(triage.Draft{}).ID))
	}
	return m
}

func newModelIssue(id string) *modelIssue {
	return &modelIssue{id: id, status: triage.StatusBacklog, entries: 1, calls: map[string]string{}, flags: map[string]string{}}
}

// pick draws an element of a list. ok is false for an empty list.
func pick[T any](r *rapid.T, what string, all []T) (one T, ok bool) {
	if len(all) == 0 {
		return one, false
	}
	return rapid.SampledFrom(all).Draw(r, what), true
}

func (m *model) issue(r *rapid.T) *modelIssue { return rapid.SampledFrom(m.issues).Draw(r, "issue") }

func (m *model) actor(r *rapid.T) triage.Actor {
	return rapid.SampledFrom([]triage.Actor{ada, bob, triage.System(), reporter}).Draw(r, "actor")
}

// try runs an operation, sometimes after a failed attempt, and reports whether it succeeded. refused lists the conditions under which it
// must be refused; the first true one determines the code.
func (m *model) try(r *rapid.T, do func() error, refused ...refusal) bool {
	m.house.clock.move(rapid.SampledFrom([]time.Duration{-time.Second, 0, 0, time.Microsecond, time.Minute}).Draw(r, "later"))
	var want callwright.Code
	for _, f := range slices.Backward(refused) {
		if f.when {
			want = f.code
		}
	}
	if want == "" && rapid.IntRange(0, 3).Draw(r, "fault") == 0 {
		before := m.all()
		m.faults.fails = true
		err := do()
		m.faults.fails = false
		if err != nil && !errors.Is(err, errFault) {
			r.Fatalf("the fault gave %v", err)
		}
		if after := m.all(); !reflect.DeepEqual(after, before) {
			r.Fatalf("a fault left\n%+v\nfor\n%+v", after, before)
		}
	}
	before := m.all()
	err := do()
	if err != nil && want == "" || callwright.CodeOf(err) != want {
		r.Fatalf("got %v, want %q", err, want)
	}
	if err != nil && !reflect.DeepEqual(m.all(), before) {
		r.Fatalf("what was refused left\n%+v\nfor\n%+v", m.all(), before)
	}
	return err == nil
}

type refusal struct {
	when bool
	code callwright.Code
}

func merged(i *modelIssue) refusal { return refusal{i.into != nil, callwright.CodeInvalidState} }

func (m *model) all() []kept {
	var all []kept
	for _, i := range m.issues {
		all = append(all, m.house.kept(i.id))
	}
	return all
}

// check compares all stored issues with the model.
func (m *model) check(r *rapid.T) {
	for n, i := range m.issues {
		if err := m.differs(i); err != "" {
			r.Fatalf("issue %d: %s", n, err)
		}
	}
}

func (m *model) differs(i *modelIssue) string {
	k := m.house.kept(i.id)
	relations := 0
	for _, have := range m.relations {
		if have.from == i || have.to == i {
			relations++
		}
	}
	working := 0
	var latest *triage.SessionRef
	for _, sess := range i.sessions {
		stored := m.house.session(i.id, sess.id)
		if stored.Status != sess.status || (stored.EndedAt != nil) != sess.status.Ended() {
			return fmt.Sprintf("the session %+v is in the model %+v", stored, sess)
		}
		if sess.status.Working() {
			working++
		}
		ref := stored.Ref()
		latest = &ref
	}
	got := []int{k.Issue.Resources, k.Issue.Flags, k.Issue.Relations, k.Issue.Working, len(k.Feed)}
	want := []int{len(k.Resources), len(k.Flags), len(k.Relations), working, i.entries}
	modelled := []int{len(i.calls), len(i.flags), relations, working, i.entries}
	if !slices.Equal(got, want) || !slices.Equal(got, modelled) || !reflect.DeepEqual(k.Issue.Session, latest) ||
		k.Issue.Status != i.status || (k.Issue.MergedInto != "") != (i.into != nil) {
		return fmt.Sprintf("%+v counts %d, has %d, and has in the model %d and the session %+v", k.Issue, got, want, modelled, latest)
	}
	last := time.Time{}
	ids := map[string]bool{}
	for _, e := range k.Feed {
		if !e.CreatedAt.After(last) || ids[e.ID] || (e.Kind == triage.KindAgent) != (e.Session != nil) {
			return fmt.Sprintf("the entry %+v comes after %s", e, last)
		}
		last, ids[e.ID] = e.CreatedAt, true
	}
	if !k.Issue.LastActivityAt.Equal(last) {
		return fmt.Sprintf("the last activity is %s, that of the feed %s", k.Issue.LastActivityAt, last)
	}
	return ""
}
