package triage_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// broom is a Work that records the handler of the periodic sweep instead of scheduling it.
type broom struct {
	callwright.Work
	sweep callwright.Handler
}

func (b *broom) Every(_ callwright.Queue, _ string, _ time.Duration, h callwright.Handler) {
	b.sweep = h
}

// swept returns a depot and a function that runs the sweep of the depot's service.
func swept(t testing.TB, change ...func(*triage.Config)) (depot, func() error) {
	t.Helper()
	b := new(broom)
	s := openDepot(t, append(change, func(c *triage.Config) {
		b.Work = c.Work
		c.Work = b
	})...)
	return s, func() error { return b.sweep(t.Context(), callwright.Task{}, 1) }
}

func TestSilentSessionsEnd(t *testing.T) {
	t.Parallel()
	for status, at := range map[triage.SessionStatus]struct {
		after time.Duration
		why   string
	}{
		triage.SessionPending:       {triage.SilentAfter, "The agent has sent nothing for 30 minutes."},
		triage.SessionActive:        {triage.SilentAfter, "The agent has sent nothing for 30 minutes."},
		triage.SessionAwaitingInput: {triage.WaitsAtMost, "Nobody has answered for 7 days."},
	} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			h, sweep := swept(t)
			i := h.issue(triage.Draft{})
			sess := h.beginAs(i.ID, status)
			h.clock.move(at.after)
			if err := sweep(); err != nil {
				t.Fatal(err)
			}
			if got := h.session(i.ID, sess.ID); !reflect.DeepEqual(got, sess) {
				t.Fatalf("it was ended too early: %+v", got)
			}
			h.clock.move(time.Microsecond)
			if err := sweep(); err != nil {
				t.Fatal(err)
			}
			got, ended := h.session(i.ID, sess.ID), h.clock.Now()
			want := sess
			want.Status, want.UpdatedAt, want.EndedAt = triage.SessionError, ended, &ended
			want.Entries, want.Revision = sess.Entries+2, sess.Revision+1
			if !reflect.DeepEqual(got, want) {
				t.Errorf("the session is %+v, want %+v", got, want)
			}
			before, ref := sess.Ref(), got.Ref()
			if status == triage.SessionPending { // the error entry activates a pending session
				before.Status = triage.SessionActive
			}
			h.wantLast(t, i.ID,
				triage.Entry{Kind: triage.KindAgent, Type: triage.TypeError, Actor: triage.System(), Detail: at.why, Session: &before},
				triage.Entry{Kind: triage.KindAgent, Type: triage.TypeSessionStopped, Actor: triage.System(), Session: &ref})
			if got := h.get(i.ID); got.Working != 0 || *got.Session != ref {
				t.Errorf("the issue is %+v", got)
			}
			k := h.kept(i.ID)
			h.clock.move(time.Hour)
			if err := sweep(); err != nil || !reflect.DeepEqual(h.kept(i.ID), k) {
				t.Errorf("another sweep wrote again, %v", err)
			}
			h.refusesStep(t, got, callwright.CodeInvalidState, "", func() error {
				_, err := h.Append(t.Context(), "acme", i.ID, sess.ID, triage.Step{Type: triage.TypeThought})
				return err
			})
		})
	}
}

// TestSessionsThatSpeakGoOn checks that a session continues as long as each step follows the previous one within SilentAfter.
func TestSessionsThatSpeakGoOn(t *testing.T) {
	t.Parallel()
	h, sweep := swept(t)
	i := h.issue(triage.Draft{})
	sess := h.begin(i.ID)
	for range 4 {
		h.clock.move(triage.SilentAfter - time.Second)
		if _, err := h.Append(t.Context(), "acme", i.ID, sess.ID, triage.Step{Type: triage.TypeThought}); err != nil {
			t.Fatal(err)
		}
		if err := sweep(); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.session(i.ID, sess.ID); got.Status != triage.SessionActive {
		t.Errorf("it is %+v", got)
	}
}

// slow is a store that calls the function meanwhile after its search for silent sessions, before it returns the result.
type slow struct {
	triage.Store
	meanwhile func()
}

func (s slow) SilentSessions(ctx context.Context, silent, waiting time.Time, limit int) ([]triage.Session, error) {
	found, err := s.Store.SilentSessions(ctx, silent, waiting, limit)
	s.meanwhile()
	return found, err
}

func TestSweepLooksAgain(t *testing.T) {
	t.Parallel()
	var h depot
	var i triage.Issue
	var sess triage.Session
	h, sweep := swept(t, func(c *triage.Config) {
		c.Store = slow{c.Store, func() {
			if _, err := h.Append(t.Context(), "acme", i.ID, sess.ID, triage.Step{Type: triage.TypeThought}); err != nil {
				t.Error(err)
			}
		}}
	})
	i = h.issue(triage.Draft{})
	sess = h.begin(i.ID)
	h.clock.move(time.Hour)
	if err := sweep(); err != nil {
		t.Fatal(err)
	}
	if got := h.session(i.ID, sess.ID); got.Status != triage.SessionActive {
		t.Errorf("it was ended though it spoke: %+v", got)
	}
}

// stuck is a store that fails to hold one issue.
type stuck struct {
	triage.Store
	issue *string
}

var errStuck = errors.New("the row is stuck")

func (s stuck) Hold(ctx context.Context, org callwright.OrgID, id string) (triage.Issue, error) {
	if id == *s.issue {
		return triage.Issue{}, errStuck
	}
	return s.Store.Hold(ctx, org, id)
}

func TestSweepOfManyGoesOnAfterAnError(t *testing.T) {
	t.Parallel()
	var bad string
	h, sweep := swept(t, func(c *triage.Config) { c.Store = stuck{c.Store, &bad} })
	var sessions []triage.Session
	for range 9 {
		sessions = append(sessions, h.begin(h.issue(triage.Draft{}).ID))
	}
	bad = sessions[4].IssueID
	h.clock.move(time.Hour)
	if err := sweep(); !errors.Is(err, errStuck) {
		t.Errorf("the sweep gave %v", err)
	}
	for n, sess := range sessions {
		if got := h.session(sess.IssueID, sess.ID); (got.Status == triage.SessionError) != (n != 4) {
			t.Errorf("session %d is %s", n, got.Status)
		}
	}
	bad = ""
	if err := sweep(); err != nil || h.session(sessions[4].IssueID, sessions[4].ID).Status != triage.SessionError {
		t.Errorf("the next sweep gave %v", err)
	}
}
