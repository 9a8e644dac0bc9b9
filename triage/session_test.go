package triage_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// begin starts a session of an external agent.
func (h house) begin(id string) triage.Session {
	h.t.Helper()
	sess, err := h.StartSession(h.t.Context(), "acme", ada, id, triage.SessionDraft{AgentName: "Scout"})
	if err != nil {
		h.t.Fatal(err)
	}
	return sess
}

// beginAs starts a session and moves it to a state.
func (h house) beginAs(id string, status triage.SessionStatus) triage.Session {
	h.t.Helper()
	sess := h.begin(id)
	if status == triage.SessionPending {
		return sess
	}
	if _, err := h.Append(h.t.Context(), "acme", id, sess.ID, triage.Step{Type: triage.TypeResponse, Status: status}); err != nil {
		h.t.Fatal(err)
	}
	return h.session(id, sess.ID)
}

// session returns a stored session.
func (h house) session(id, session string) triage.Session {
	h.t.Helper()
	sess, err := h.Session(h.t.Context(), "acme", id, session)
	if err != nil {
		h.t.Fatal(err)
	}
	return sess
}

// refusesStep checks that an operation is refused with a code and a field, and changes neither the session nor its issue.
func (h house) refusesStep(t *testing.T, sess triage.Session, code callwright.Code, field string, do func() error) {
	t.Helper()
	before := h.session(sess.IssueID, sess.ID)
	h.refuses(t, sess.IssueID, code, field, do)
	if after := h.session(sess.IssueID, sess.ID); !reflect.DeepEqual(after, before) {
		t.Errorf("what was refused left %+v for %+v", after, before)
	}
}

func TestStartSession(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	h.clock.move(time.Minute)
	sess, err := h.StartSession(t.Context(), "acme", bob, i.ID, triage.SessionDraft{
		AgentName: "Scout", ProfileID: "p1", Detail: "Looks into it.",
	})
	want := triage.Session{
		ID: sess.ID, Org: "acme", IssueID: i.ID, ProfileID: "p1", AgentName: "Scout", Status: triage.SessionPending,
		StartedBy: bob, CreatedAt: start.Add(time.Minute), UpdatedAt: start.Add(time.Minute), Entries: 1, Revision: 1,
	}
	if err != nil || sess.ID == "" || !reflect.DeepEqual(sess, want) || !reflect.DeepEqual(h.session(i.ID, sess.ID), want) {
		t.Fatalf("started %+v, %v", sess, err)
	}
	ref := &triage.SessionRef{ID: sess.ID, ProfileID: "p1", AgentName: "Scout", Status: triage.SessionPending}
	h.wantLast(t, i.ID, triage.Entry{
		Kind: triage.KindAgent, Type: triage.TypeSessionStarted, Actor: bob, Detail: "Looks into it.", Session: ref,
	})
	if got := h.get(i.ID); !reflect.DeepEqual(got.Session, ref) || got.Working != 1 {
		t.Errorf("the issue is %+v", got)
	}
	if agent := sess.Agent(); agent != (triage.Actor{Kind: triage.ActorAgent, ID: "p1", Label: "Scout"}) {
		t.Errorf("the agent is %+v", agent)
	}
	if agent := h.begin(i.ID).Agent(); agent.ID == "" || agent.ID == "p1" {
		t.Errorf("an agent without a profile is %+v", agent)
	}
	for _, at := range []struct {
		org     callwright.OrgID
		id, the string
	}{{"other", i.ID, sess.ID}, {"acme", h.issue(triage.Draft{}).ID, sess.ID}, {"acme", i.ID, "nothing"}} {
		_, err := h.Session(t.Context(), at.org, at.id, at.the)
		wantError(t, err, callwright.CodeNotFound, "")
	}
}

func TestStartSessionRefuses(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	start := func(d triage.SessionDraft) func() error {
		return func() error { _, err := h.StartSession(t.Context(), "acme", ada, i.ID, d); return err }
	}
	most := triage.SessionDraft{
		AgentName: strings.Repeat("é", 200), ProfileID: strings.Repeat("é", 64), Detail: strings.Repeat("x", 64<<10),
	}
	if err := start(most)(); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(*triage.SessionDraft){
		"agent_name":       func(d *triage.SessionDraft) { d.AgentName = " " },
		"agent_profile_id": func(d *triage.SessionDraft) { d.ProfileID += "é" },
		"detail":           func(d *triage.SessionDraft) { d.Detail += "x" },
	} {
		d := most
		change(&d)
		h.refuses(t, i.ID, callwright.CodeBadRequest, field, start(d))
	}
	h.refuses(t, i.ID, callwright.CodeBadRequest, "agent_name", start(triage.SessionDraft{AgentName: strings.Repeat("é", 201)}))
}

func TestOpenSessionsAreLimited(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	var last triage.Session
	for n := range triage.MaxOpenSessions {
		last = h.beginAs(i.ID, []triage.SessionStatus{triage.SessionPending, triage.SessionActive, triage.SessionAwaitingInput}[n%3])
	}
	if got := h.get(i.ID).Working; got != 14 {
		t.Errorf("%d work", got)
	}
	h.refuses(t, i.ID, callwright.CodeInvalidState, "", func() error {
		_, err := h.StartSession(t.Context(), "acme", ada, i.ID, triage.SessionDraft{AgentName: "Scout"})
		return err
	})
	if _, err := h.Cancel(t.Context(), "acme", ada, i.ID, last.ID, ""); err != nil {
		t.Fatal(err)
	}
	h.begin(i.ID)
}

// TestTheLatestSession checks that an issue shows the session that was started last, even if another one changes.
func TestTheLatestSession(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	first, second := h.begin(i.ID), h.begin(i.ID)
	shows := func(sess triage.Session, working int) {
		t.Helper()
		if got := h.get(i.ID); *got.Session != sess.Ref() || got.Working != working {
			t.Errorf("the issue shows %+v and %d working, want %+v and %d", got.Session, got.Working, sess.Ref(), working)
		}
	}
	shows(second, 2)
	if _, err := h.Append(t.Context(), "acme", i.ID, first.ID, triage.Step{Type: triage.TypeThought}); err != nil {
		t.Fatal(err)
	}
	shows(second, 2)
	if _, err := h.Append(t.Context(), "acme", i.ID, second.ID, triage.Step{Type: triage.TypeResponse, Status: triage.SessionAwaitingInput}); err != nil {
		t.Fatal(err)
	}
	shows(h.session(i.ID, second.ID), 1)
	if _, err := h.Cancel(t.Context(), "acme", ada, i.ID, first.ID, ""); err != nil {
		t.Fatal(err)
	}
	shows(h.session(i.ID, second.ID), 0)
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, i := t.Context(), h.issue(triage.Draft{})
	for status, becomes := range map[triage.SessionStatus]triage.SessionStatus{
		triage.SessionPending: triage.SessionPending, triage.SessionActive: triage.SessionActive,
		triage.SessionAwaitingInput: triage.SessionActive,
	} {
		sess := h.beginAs(i.ID, status)
		e, err := h.Answer(ctx, "acme", bob, i.ID, sess.ID, "Since March.")
		if err != nil || e.Detail != "Since March." {
			t.Fatal(e, err)
		}
		got := h.session(i.ID, sess.ID)
		if got.Status != becomes || got.Entries != sess.Entries+1 {
			t.Errorf("from %s it became %+v", status, got)
		}
		ref := got.Ref()
		h.wantLast(t, i.ID, triage.Entry{
			Kind: triage.KindAgent, Type: triage.TypePrompt, Actor: bob, Detail: "Since March.", Session: &ref,
		})
	}
	sess := h.beginAs(i.ID, triage.SessionAwaitingInput)
	most := strings.Repeat("x", triage.MaxPrompt)
	if _, err := h.Answer(ctx, "acme", bob, i.ID, sess.ID, most); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", " ", most + "x", "\x00"} {
		h.refusesStep(t, sess, callwright.CodeBadRequest, "detail", func() error {
			_, err := h.Answer(ctx, "acme", bob, i.ID, sess.ID, text)
			return err
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, i := t.Context(), h.issue(triage.Draft{})
	for _, status := range []triage.SessionStatus{triage.SessionPending, triage.SessionActive, triage.SessionAwaitingInput} {
		sess := h.beginAs(i.ID, status)
		h.clock.move(time.Minute)
		e, err := h.Cancel(ctx, "acme", bob, i.ID, sess.ID, "Found it.")
		got := h.session(i.ID, sess.ID)
		if err != nil || e.Detail != "Found it." || got.Status != triage.SessionCancelled || got.EndedAt == nil ||
			!got.EndedAt.Equal(h.clock.Now()) {
			t.Errorf("cancelled %+v, %v", got, err)
		}
		ref := got.Ref()
		h.wantLast(t, i.ID, triage.Entry{
			Kind: triage.KindAgent, Type: triage.TypeSessionStopped, Actor: bob, Detail: "Found it.", Session: &ref,
		})
		h.refusesStep(t, got, callwright.CodeInvalidState, "", func() error {
			_, err := h.Cancel(ctx, "acme", bob, i.ID, sess.ID, "")
			return err
		})
	}
	sess := h.begin(i.ID)
	h.refusesStep(t, sess, callwright.CodeBadRequest, "detail", func() error {
		_, err := h.Cancel(ctx, "acme", bob, i.ID, sess.ID, strings.Repeat("x", 64<<10+1))
		return err
	})
}

// TestSessionsOfOthers checks that operations on an absent session or on a session of another issue are refused, as are operations without
// an actor.
func TestSessionsOfOthers(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, i, other := t.Context(), h.issue(triage.Draft{}), h.issue(triage.Draft{})
	sess := h.begin(i.ID)
	for _, at := range []struct {
		org     callwright.OrgID
		id, the string
	}{{"other", i.ID, sess.ID}, {"acme", other.ID, sess.ID}, {"acme", "nobody", sess.ID}, {"acme", i.ID, "nothing"}} {
		h.refusesStep(t, sess, callwright.CodeNotFound, "", func() error {
			_, err := h.Append(ctx, at.org, at.id, at.the, triage.Step{Type: triage.TypeThought})
			return err
		})
		h.refusesStep(t, sess, callwright.CodeNotFound, "", func() error {
			_, err := h.Answer(ctx, at.org, ada, at.id, at.the, "x")
			return err
		})
		h.refusesStep(t, sess, callwright.CodeNotFound, "", func() error {
			_, err := h.Cancel(ctx, at.org, ada, at.id, at.the, "")
			return err
		})
	}
	h.refusesStep(t, sess, callwright.CodeBadRequest, "actor.kind", func() error {
		_, err := h.Answer(ctx, "acme", triage.Actor{}, i.ID, sess.ID, "x")
		return err
	})
	h.refusesStep(t, sess, callwright.CodeBadRequest, "actor.kind", func() error {
		_, err := h.Cancel(ctx, "acme", triage.Actor{}, i.ID, sess.ID, "x")
		return err
	})
}
