package access_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
)

func signIn(t *testing.T, s *access.Service, k access.NewKey) (token string, session callwright.Session) {
	t.Helper()
	token, session, err := s.SignIn(t.Context(), k.Key.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	return token, session
}

// wantSession checks that a token is accepted if good is true, and refused otherwise.
func wantSession(t *testing.T, what string, s *access.Service, token string, good bool) {
	t.Helper()
	p, session, err := s.Session(t.Context(), token)
	if good && (err != nil || p.Org == "" || p.Org != session.Org || p.KeyID != session.KeyID) {
		t.Errorf("%s: got %+v, %+v, %v", what, p, session, err)
	}
	if !good && (!errors.Is(err, callwright.ErrAuthFailure) || p.Org != "" || session.ID != "") {
		t.Errorf("%s: got %+v, %+v, %v; want it refused", what, p, session, err)
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	key := h.key(t, 0)
	token, made := signIn(t, h.Service, key)
	p, session, err := h.Session(t.Context(), token)
	if err != nil || p.Org != h.org.ID || p.KeyID != key.Record.ID || p.KeyName != "ci" || !p.Entitled(callwright.EntitlementSIP) ||
		session.ID != made.ID || !session.CreatedAt.Equal(h.clock.now) {
		t.Errorf("got %+v, %+v, %v", p, session, err)
	}
	if end := session.CreatedAt.Add(access.SessionLife); !p.ExpiresAt.Equal(end) {
		t.Errorf("the session ends at %s, want %s", p.ExpiresAt, end)
	}
	short := h.key(t, time.Hour)
	brief, _ := signIn(t, h.Service, short)
	if p, _, err := h.Session(t.Context(), brief); err != nil || !p.ExpiresAt.Equal(*short.Record.ExpiresAt) {
		t.Errorf("the session of a key that expires ends at %s, want %s", p.ExpiresAt, short.Record.ExpiresAt)
	}
	other, _ := signIn(t, h.Service, key)
	for name, wrong := range map[string]string{
		"nothing": "", "changed": token[:len(token)-2] + "-_", "longer": token + "A", "shorter": token[:len(token)-1],
		"other case": strings.ToUpper(token), "key": key.Key.Reveal(), "hash": string(made.Hash), "id": made.ID,
	} {
		wantSession(t, name, h.Service, wrong, false)
	}
	if _, err := h.CheckKey(t.Context(), token); !errors.Is(err, callwright.ErrAuthFailure) {
		t.Errorf("a token as a key gave %v", err)
	}
	if _, _, err := h.SignIn(t.Context(), token); !errors.Is(err, callwright.ErrAuthFailure) {
		t.Errorf("signing in with a token gave %v", err)
	}
	for range 2 { // the second time, the session is absent
		if err := h.SignOut(t.Context(), token); err != nil {
			t.Error(err)
		}
	}
	if err := h.SignOut(t.Context(), "nothing"); err != nil {
		t.Error(err)
	}
	wantSession(t, "signed out", h.Service, token, false)
	wantSession(t, "the other session", h.Service, other, true)
}

// TestSessionEnds checks that a session ends SessionIdle after its last use, when its key is revoked or expires, or when the overlap after
// its key's rotation ends.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	lasting, expiring, revoked, rotated := h.key(t, 0), h.key(t, time.Hour), h.key(t, 0), h.key(t, 0)
	idle, _ := signIn(t, h.Service, lasting)
	short, _ := signIn(t, h.Service, expiring)
	gone, _ := signIn(t, h.Service, revoked)
	old, _ := signIn(t, h.Service, rotated)
	if err := h.RevokeKey(t.Context(), h.org.ID, revoked.Record.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := h.RotateKey(t.Context(), h.org.ID, rotated.Record.ID, 2*time.Hour); err != nil {
		t.Fatal(err)
	}
	begin := h.clock.now
	for _, step := range []struct {
		after                  time.Duration
		idle, short, gone, old bool
		listed                 int
	}{
		{0, true, true, false, true, 3},
		{time.Hour - 1, true, true, false, true, 3},
		{time.Hour, true, false, false, true, 2},
		{2 * time.Hour, true, false, false, false, 1},
		{access.SessionIdle - 1000, true, false, false, false, 1},
		{access.SessionIdle, false, false, false, false, 0},
	} {
		h.clock.now = begin.Add(step.after)
		wantSession(t, fmt.Sprint("idle after ", step.after), h.Service, idle, step.idle)
		wantSession(t, fmt.Sprint("key expires, after ", step.after), h.Service, short, step.short)
		wantSession(t, fmt.Sprint("key revoked, after ", step.after), h.Service, gone, step.gone)
		wantSession(t, fmt.Sprint("key rotated, after ", step.after), h.Service, old, step.old)
		page, err := h.Sessions(t.Context(), h.org.ID, callwright.Keyset{}, 10)
		if err != nil || len(page.Items) != step.listed {
			t.Errorf("after %s the sessions are %+v, %v; want %d", step.after, page.Items, err, step.listed)
		}
	}
	if _, _, err := h.SignIn(t.Context(), revoked.Key.Reveal()); !errors.Is(err, callwright.ErrAuthFailure) {
		t.Errorf("signing in with a revoked key gave %v", err)
	}
}

func TestSessionsOfAnOrganization(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	other, err := h.CreateOrganization(t.Context(), "other", "Other")
	if err != nil {
		t.Fatal(err)
	}
	key := h.key(t, 0)
	tokens := map[string]string{}
	for range 3 {
		h.clock.now = h.clock.now.Add(time.Second)
		token, session := signIn(t, h.Service, key)
		tokens[session.ID] = token
	}
	first, err := h.Sessions(t.Context(), h.org.ID, callwright.Keyset{}, 2)
	if err != nil || len(first.Items) != 2 || first.Next.IsZero() || !first.Items[0].CreatedAt.Equal(h.clock.now) {
		t.Fatalf("got %+v, %v", first, err)
	}
	last, err := h.Sessions(t.Context(), h.org.ID, first.Next, 2)
	if err != nil || len(last.Items) != 1 || !last.Next.IsZero() {
		t.Fatalf("got %+v, %v", last, err)
	}
	if page, err := h.Sessions(t.Context(), other.ID, callwright.Keyset{}, 2); err != nil || len(page.Items) > 0 {
		t.Errorf("another organization has %+v, %v", page, err)
	}
	_, err = h.Sessions(t.Context(), "absent", callwright.Keyset{}, 2)
	wantError(t, "no organization", err, callwright.CodeNotFound, "")
	_, err = h.Sessions(t.Context(), h.org.ID, callwright.Keyset{}, 0)
	wantError(t, "a wrong limit", err, callwright.CodeBadRequest, "limit")

	ended := last.Items[0].ID
	wantError(t, "a foreign session", h.DeleteSession(t.Context(), other.ID, ended), callwright.CodeNotFound, "")
	wantSession(t, "ended by another organization", h.Service, tokens[ended], true)
	if err := h.DeleteSession(t.Context(), h.org.ID, ended); err != nil {
		t.Error(err)
	}
	wantError(t, "an ended session", h.DeleteSession(t.Context(), h.org.ID, ended), callwright.CodeNotFound, "")
	for id, token := range tokens {
		wantSession(t, id, h.Service, token, id != ended)
	}
}

// TestSessionsOfAKeyAreBounded signs in more than MaxSessions times, also concurrently: the oldest sessions end, and sessions of other keys
// stay.
func TestSessionsOfAKeyAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	key, beside := h.key(t, 0), h.key(t, 0)
	spared, _ := signIn(t, h.Service, beside)
	var tokens []string
	for range access.MaxSessions + 2 {
		h.clock.now = h.clock.now.Add(time.Second)
		token, _ := signIn(t, h.Service, key)
		tokens = append(tokens, token)
	}
	for i, token := range tokens {
		wantSession(t, fmt.Sprint("session ", i), h.Service, token, i >= 2)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			token, _, err := h.SignIn(t.Context(), key.Key.Reveal())
			if err == nil {
				_, _, err = h.Session(t.Context(), token)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	page, err := h.Sessions(t.Context(), h.org.ID, callwright.Keyset{}, access.MaxPage)
	if err != nil || len(page.Items) != access.MaxSessions+1 {
		t.Errorf("there are %d sessions, %v", len(page.Items), err)
	}
	wantSession(t, "of another key", h.Service, spared, true)
}

func TestTokenIsShownOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token, session := signIn(t, h.Service, h.key(t, 0))
	stored, err := h.tenants.SessionByHash(t.Context(), session.Hash)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		fmt.Sprintf("%+v %#v %s %q", session, session, session.Hash, session.ID), fmt.Sprintf("%+v %s", stored, stored.Session.Hash), fmt.Sprintf("%+v", h.Service),
	} {
		if strings.Contains(text, token[4:]) {
			t.Errorf("the token can be read in %q", text)
		}
	}
	if again, other := signIn(t, h.Service, h.key(t, 0)); again == token || other.ID == session.ID {
		t.Error("two sessions are alike")
	}
}

// TestUsedSessionsGoOn uses one of two sessions for two days: the used session stays valid, and the unused session ends and is deleted.
func TestUsedSessionsGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{Tenants: orgstore.Tenants{Store: memstore.New()}}
		s, stop := node(t, w)
		k := newKey(t, s)
		used, _ := signIn(t, s, k)
		idle, left := signIn(t, s, k)
		begin := time.Now()
		for time.Since(begin) < 48*time.Hour {
			time.Sleep(time.Hour)
			wantSession(t, "used", s, used, true)
		}
		synctest.Wait()
		wantSession(t, "idle", s, idle, false)
		if _, err := w.SessionByHash(t.Context(), left.Hash); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("the idle session is stored: %v", err)
		}
		if last := lastUse(t, w, k); time.Since(last) > access.UseInterval {
			t.Errorf("the key was used last %s ago", time.Since(last))
		}
		wantSession(t, "used", s, used, true)
		stop()
		if got, _, err := s.Session(t.Context(), used); err != nil || got.KeyID != k.Record.ID {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// TestUsedSessionsEndAfterAWeek uses a session to its end, and checks that it is neither accepted nor listed afterwards.
func TestUsedSessionsEndAfterAWeek(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, stop := node(t, &watched{Tenants: orgstore.Tenants{Store: memstore.New()}})
		defer stop()
		k := newKey(t, s)
		used, first := signIn(t, s, k)
		for time.Since(first.CreatedAt) < access.SessionLife-time.Hour {
			time.Sleep(time.Hour)
			wantSession(t, "used", s, used, true)
		}
		later, _ := signIn(t, s, k)
		time.Sleep(time.Hour)
		wantSession(t, "a week old", s, used, false)
		wantSession(t, "an hour old", s, later, true)
		page, err := s.Sessions(t.Context(), first.Org, callwright.Keyset{}, 10)
		if err != nil || len(page.Items) != 1 || page.Items[0].ID == first.ID {
			t.Errorf("the sessions are %+v, %v", page.Items, err)
		}
	})
}

// TestManyIdleSessionsAreDeleted checks that Run needs only seconds to delete 2,500 idle sessions, which are more than one batch.
func TestManyIdleSessionsAreDeleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{Tenants: orgstore.Tenants{Store: memstore.New()}}
		for i := range 2500 {
			id, at := fmt.Sprint("s", i), time.Now().Add(-access.SessionIdle)
			err := w.InsertSession(t.Context(), callwright.Session{ID: id, Org: "o", KeyID: id, Hash: []byte(id), CreatedAt: at, UsedAt: at})
			if err != nil {
				t.Fatal(err)
			}
		}
		_, stop := node(t, w)
		time.Sleep(5 * time.Second)
		if left, err := w.DeleteSessions(t.Context(), time.Now(), 10000); err != nil || left > 0 {
			t.Errorf("%d idle sessions are left, %v", left, err)
		}
		stop()
	})
}
