package callwrighttest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/callwright/callwright"
)

// runSessions tests the sessions of a store. filled must return a store that contains the key and its organization.
func runSessions(t *testing.T, filled func(*testing.T) callwright.Tenants, key callwright.APIKey) {
	t.Helper()
	t.Run("keeps sessions", func(t *testing.T) {
		t.Parallel()
		keepsSessions(t, filled(t), key)
	})
	t.Run("keeps the last use of a session", func(t *testing.T) {
		t.Parallel()
		touchesSessions(t, filled(t), key)
	})
	t.Run("lists live sessions", func(t *testing.T) {
		t.Parallel()
		listsSessions(t, filled(t), key)
	})
	t.Run("deletes sessions that are not used", func(t *testing.T) {
		t.Parallel()
		deletesSessions(t, filled(t), key)
	})
}

// session returns a session of a key, with a value in every field.
func session(id string, key callwright.APIKey) callwright.Session {
	return callwright.Session{
		ID: id, Org: key.Org, KeyID: key.ID, KeyName: key.Name, Hash: append([]byte{0, 255}, id...),
		CreatedAt: key.CreatedAt, UsedAt: key.CreatedAt,
	}
}

func insertSessions(t *testing.T, s callwright.Tenants, sessions ...callwright.Session) {
	t.Helper()
	for _, one := range sessions {
		if err := s.InsertSession(t.Context(), one); err != nil {
			t.Fatal(err)
		}
	}
}

// wantSessions checks the ids of an organization's live sessions, newest first. Sessions live for an hour after their last use.
func wantSessions(t *testing.T, s callwright.Tenants, org callwright.OrgID, now time.Time, want ...string) {
	t.Helper()
	found, err := s.Sessions(t.Context(), org, now, time.Hour, callwright.Keyset{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, one := range found {
		ids = append(ids, one.ID)
	}
	if !reflect.DeepEqual(ids, want) {
		t.Errorf("the live sessions of %s are %v, want %v", org, ids, want)
	}
}

func keepsSessions(t *testing.T, s callwright.Tenants, key callwright.APIKey) {
	first, second := session("s1", key), session("s2", key)
	first.UsedAt = first.CreatedAt.Add(time.Minute)
	orphan := session("s3", key)
	orphan.KeyID = "absent"
	insertSessions(t, s, first, second)
	_ = s.InsertSession(t.Context(), orphan) // a store may refuse a session whose key does not exist
	for _, want := range []callwright.Session{first, second} {
		found, err := s.SessionByHash(t.Context(), want.Hash)
		if err != nil || !reflect.DeepEqual(found.Session, want) || !reflect.DeepEqual(found.Key, key) {
			t.Errorf("got %+v, %v; want %+v of %+v", found, err, want, key)
		}
		if org, err := s.Organization(t.Context(), key.Org); err != nil || !reflect.DeepEqual(found.Organization, org) {
			t.Errorf("got the organization %+v, %v; want %+v", found.Organization, err, org)
		}
	}
	sameID, sameHash := session("s4", key), session("s5", key)
	sameID.ID, sameHash.Hash = first.ID, first.Hash
	for _, taken := range []callwright.Session{sameID, sameHash} {
		if err := s.InsertSession(t.Context(), taken); !errors.Is(err, callwright.ErrConflict) {
			t.Errorf("got %v, want a conflict", err)
		}
	}
	_, absentErr := s.SessionByHash(t.Context(), []byte{0, 255, 's'})
	_, orphanErr := s.SessionByHash(t.Context(), orphan.Hash)
	foreignErr, unknownErr := s.DeleteSession(t.Context(), "b", "s1"), s.DeleteSession(t.Context(), "a", "s9")
	deleteErr := s.DeleteSession(t.Context(), "a", "s1")
	_, deletedErr := s.SessionByHash(t.Context(), first.Hash)
	for i, err := range []error{absentErr, orphanErr, foreignErr, unknownErr, deletedErr, s.DeleteSession(t.Context(), "a", "s1")} {
		if !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%d: got %v, want not found", i, err)
		}
	}
	if deleteErr != nil {
		t.Errorf("deleting a session gave %v", deleteErr)
	}
	wantSessions(t, s, "a", key.CreatedAt, "s2")
}

func touchesSessions(t *testing.T, s callwright.Tenants, key callwright.APIKey) {
	one := session("s1", key)
	insertSessions(t, s, one)
	for _, step := range []struct{ use, want time.Duration }{
		{-time.Minute, 0},                              // before the last use
		{time.Minute - time.Microsecond, 0},            // less than a minute after it
		{time.Minute, time.Minute},                     // exactly a minute after it
		{time.Hour, time.Hour},                         // much later
		{time.Hour - 2*time.Minute, time.Hour},         // late call of another node
		{2*time.Hour - time.Minute, 119 * time.Minute}, // much later again
	} {
		if err := s.TouchSession(t.Context(), "s1", one.CreatedAt.Add(step.use), time.Minute); err != nil {
			t.Fatal(err)
		}
		found, err := s.SessionByHash(t.Context(), one.Hash)
		if got := found.Session; err != nil || !got.UsedAt.Equal(one.CreatedAt.Add(step.want)) {
			t.Errorf("after a use at %s: got %+v, %v", step.use, got, err)
		}
	}
	if err := s.TouchSession(t.Context(), "s2", one.CreatedAt, time.Minute); err != nil {
		t.Errorf("the use of an absent session gave %v", err)
	}
	wantSessions(t, s, "a", key.CreatedAt.Add(time.Minute), "s1")
}

// listsSessions checks that only live sessions of an organization are listed. Key k2 does not expire, and the given key expires after an
// hour.
func listsSessions(t *testing.T, s callwright.Tenants, key callwright.APIKey) {
	lasting, foreign := key, key
	lasting.ID, lasting.Prefix, lasting.ExpiresAt = "k2", "cwk_k2", nil
	foreign.ID, foreign.Name, foreign.Prefix, foreign.Org, foreign.ExpiresAt = "k3", "desk", "cwk_k3", "b", nil
	insertOrganization(t, s, foreign.Org, foreign.CreatedAt)
	if err := errors.Join(s.InsertKey(t.Context(), lasting), s.InsertKey(t.Context(), foreign)); err != nil {
		t.Fatal(err)
	}
	at := key.CreatedAt
	insertSessions(t, s, session("s1", key), session("x", foreign))
	for i, later := range []time.Duration{0, time.Second, time.Second, time.Minute} { // two are equal
		one := session(fmt.Sprint("t", i), lasting)
		one.CreatedAt, one.UsedAt = at.Add(later), at.Add(later)
		insertSessions(t, s, one)
	}
	wantSessions(t, s, "b", at, "x")
	renamed := session("x2", foreign)
	renamed.KeyName = "another key's"
	insertSessions(t, s, renamed)
	found, err := s.Sessions(t.Context(), "b", at, time.Hour, callwright.Keyset{}, 10)
	if want := []callwright.Session{session("x2", foreign), session("x", foreign)}; err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("the sessions of b are %+v, %v; want %+v", found, err, want)
	}
	wantSessions(t, s, "a", at, "t3", "t2", "t1", "t0", "s1")
	wantSessions(t, s, "a", at.Add(time.Hour-time.Microsecond), "t3", "t2", "t1", "t0", "s1")
	wantSessions(t, s, "a", at.Add(time.Hour), "t3", "t2", "t1")
	for _, size := range []int{1, 2, 5} {
		var ids []string
		for after := (callwright.Keyset{}); ; {
			page, err := s.Sessions(t.Context(), "a", at, time.Hour, after, size)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range page {
				ids = append(ids, one.ID)
				after = callwright.Keyset{At: one.CreatedAt, ID: one.ID}
			}
			if len(page) < size {
				break
			}
		}
		if want := []string{"t3", "t2", "t1", "t0", "s1"}; !reflect.DeepEqual(ids, want) {
			t.Errorf("pages of %d: got %v, want %v", size, ids, want)
		}
	}
	if err := s.RevokeKey(t.Context(), "a", "k2", at); err != nil {
		t.Fatal(err)
	}
	wantSessions(t, s, "a", at, "s1")
}

// deletesSessions checks that TrimSessions keeps the most recently used sessions of one key, and that DeleteSessions deletes at most limit
// unused sessions.
func deletesSessions(t *testing.T, s callwright.Tenants, key callwright.APIKey) {
	other := key
	other.ID, other.Prefix = "k2", "cwk_k2"
	if err := s.InsertKey(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	at := key.CreatedAt
	insertSessions(t, s, session("other", other))
	for i := range 6 {
		one := session(fmt.Sprint("s", i), key)
		one.UsedAt = at.Add(time.Duration(i) * time.Minute)
		insertSessions(t, s, one)
	}
	if err := errors.Join(s.TrimSessions(t.Context(), "k1", 9), s.TrimSessions(t.Context(), "k1", 4)); err != nil {
		t.Fatal(err)
	}
	wantSessions(t, s, "a", at, "s5", "s4", "s3", "s2", "other")
	for _, step := range []struct {
		until       time.Duration
		limit, want int
	}{
		{-time.Microsecond, 10, 0}, {0, 10, 1}, {4 * time.Minute, 2, 2}, {4 * time.Minute, 2, 1},
	} {
		if n, err := s.DeleteSessions(t.Context(), at.Add(step.until), step.limit); err != nil || n != step.want {
			t.Errorf("until %s: deleted %d, %v; want %d", step.until, n, err, step.want)
		}
	}
	wantSessions(t, s, "a", at, "s5")
}
