package callwrighttest

import (
	"errors"
	"testing"
	"time"

	"github.com/callwright/callwright"
)

// RunIdempotencyStore tests a callwright.IdempotencyStore. newStore must return an empty store. atRest returns everything that the store
// wrote outside of the process; it is nil if the store keeps everything in memory.
func RunIdempotencyStore(
	t *testing.T, newStore func(t *testing.T) callwright.IdempotencyStore, atRest AtRest[callwright.IdempotencyStore],
) {
	t.Helper()
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	since := at.Add(-time.Hour)
	keep := func(t *testing.T, s callwright.IdempotencyStore, org callwright.OrgID, since, at time.Time, text string) error {
		t.Helper()
		return s.StoreAnswer(t.Context(), org, "key", []byte("digest of "+text), []byte(text), since, at)
	}
	t.Run("keeps the first answer", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		if err := keep(t, s, "a", since, at, "first"); err != nil {
			t.Fatal(err)
		}
		if err := keep(t, s, "a", since, at, "second"); !errors.Is(err, callwright.ErrConflict) {
			t.Errorf("a second answer gave %v, want a conflict", err)
		}
		digest, answer, err := s.Find(t.Context(), "a", "key", since)
		if err != nil || string(digest) != "digest of first" || string(answer) != "first" {
			t.Errorf("found %q, %q, %v", digest, answer, err)
		}
	})
	t.Run("encrypts answers", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		atRest.Check(t, s, func() error {
			return s.StoreAnswer(t.Context(), VisibleID, "key", []byte("hunter2-digest-"), []byte("hunter2-answer-"), since, at)
		}, "hunter2-digest-", "hunter2-answer-")
	})
	t.Run("forgets an old answer", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		if err := keep(t, s, "a", since, at, "old"); err != nil {
			t.Fatal(err)
		}
		later := at.Add(time.Second)
		if _, _, err := s.Find(t.Context(), "a", "key", later); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("found with %v, want not found", err)
		}
		if err := keep(t, s, "a", later, later, "new"); err != nil {
			t.Fatalf("replacing it: %v", err)
		}
		if _, answer, err := s.Find(t.Context(), "a", "key", later); err != nil || string(answer) != "new" {
			t.Errorf("found %q, %v", answer, err)
		}
	})
	t.Run("keeps organizations apart", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		if err := keep(t, s, "a", since, at, "theirs"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Find(t.Context(), "b", "key", since); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("found with %v, want not found", err)
		}
		if err := keep(t, s, "b", since, at, "ours"); err != nil {
			t.Errorf("keeping another organization's: %v", err)
		}
	})
}
