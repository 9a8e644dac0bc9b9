package triage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

// taking is an Analyst whose Step calls a function of the test.
type taking func(ctx context.Context, c triage.Case) (triage.Progress, error)

func (taking) Name() string { return "Ann" }

func (f taking) Step(ctx context.Context, c triage.Case) (triage.Progress, error) { return f(ctx, c) }

// thinks returns a progress with one thought, an empty state and the given next status.
func thinks(text string, next triage.SessionStatus) triage.Progress {
	return triage.Progress{
		Steps: []triage.Step{{Type: triage.TypeThought, Detail: text}}, State: json.RawMessage(`{}`), Next: next,
	}
}

// desk is a memstore.Work that records its handlers, so that a test can also call them directly.
type desk struct {
	*memstore.Work
	handlers map[string]callwright.Handler
}

func (d *desk) Handle(q callwright.Queue, kind string, h callwright.Handler) {
	d.handlers[kind] = h
	d.Work.Handle(q, kind, h)
}

// study is a house whose service has an Analyst and a resolver of calls.
type study struct {
	house
	desk  *desk
	calls *triagetest.Resolver
}

func openStudy(t *testing.T, a triage.Analyst, change ...func(*triage.Config)) study {
	t.Helper()
	return openStudyOver(t, memstore.New(), a, change...)
}

func openStudyOver(t *testing.T, memory *memstore.Store, a triage.Analyst, change ...func(*triage.Config)) study {
	t.Helper()
	d := &desk{memstore.NewWork(memory, nil), map[string]callwright.Handler{}}
	calls := new(triagetest.Resolver)
	change = append([]func(*triage.Config){func(c *triage.Config) {
		c.Analyst, c.Work = a, d
		c.Resolvers = map[triage.ResourceType]triage.ResourceResolver{triage.ResourceCall: calls}
	}}, change...)
	return study{openOver(t, memory, change...), d, calls}
}

// systemClock removes the test clock, so that the service uses the time of the synctest bubble.
func systemClock(c *triage.Config) { c.Clock = nil }

// analyze starts an analysis of a new issue and returns its session.
func (s study) analyze(prompt string) triage.Session {
	s.t.Helper()
	sess, err := s.Analyze(s.t.Context(), "acme", ada, s.issue(triage.Draft{}).ID, prompt)
	if err != nil {
		s.t.Fatal(err)
	}
	return sess
}

// step calls the handler of analysis tasks for step n of a session.
func (s study) step(ctx context.Context, sess triage.Session, n, attempt int) error {
	return s.desk.handlers["triage.analyze"](ctx, callwright.Task{
		Kind: "triage.analyze", Org: sess.Org, Key: sess.ID,
		Args: fmt.Appendf(nil, `{"issue":%q,"session":%q,"step":%d}`, sess.IssueID, sess.ID, n),
	}, attempt)
}

// works runs the desk's tasks in the background until the test ends.
func (s study) works() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.desk.Run(ctx)
	}()
	s.t.Cleanup(func() {
		cancel()
		<-done
	})
}

func (s study) session(sess triage.Session) triage.Session {
	s.t.Helper()
	got, err := s.Session(s.t.Context(), sess.Org, sess.IssueID, sess.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// told returns the feed entries of a session's issue that belong to any session, in order.
func (s study) told(sess triage.Session) []triage.Entry {
	return slices.DeleteFunc(s.feed(sess.IssueID), func(e triage.Entry) bool { return e.Session == nil })
}

// wantTold checks a session's status and its entries: a session start and a prompt, then those in want. It also checks the issue's Working
// and Session, and returns the entries.
func (s study) wantTold(sess triage.Session, status triage.SessionStatus, want ...triage.EntryType) []triage.Entry {
	s.t.Helper()
	entries := s.told(sess)
	want = append([]triage.EntryType{triage.TypeSessionStarted, triage.TypePrompt}, want...)
	if got := types(entries); !slices.Equal(got, want) {
		s.t.Fatalf("told is %v, want %v", got, want)
	}
	now, issue := s.session(sess), s.get(sess.IssueID)
	working := 0
	if status.Working() {
		working = 1
	}
	if now.Status != status || now.Entries != len(entries) || issue.Session.Status != status || issue.Working != working {
		s.t.Fatalf("the session is %+v, its issue %+v", now, issue)
	}
	return entries
}

// attach adds calls with evidence to the resolver and attaches them to an issue, sorted by id.
func (s study) attach(issue string, calls map[string]triage.Evidence) {
	s.t.Helper()
	for _, id := range slices.Sorted(maps.Keys(calls)) {
		s.calls.Add("acme", id, triage.Item{Title: "Call " + id}, calls[id])
		_, _, err := s.Attach(s.t.Context(), "acme", ada, issue, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: id})
		if err != nil {
			s.t.Fatal(err)
		}
	}
}
