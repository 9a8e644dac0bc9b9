package agentstest

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
)

// at is a time as both databases keep it.
var at = time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)

// RunNumberStore tests an agents.Store. newStore gives an empty one.
func RunNumberStore(t *testing.T, newStore func(t *testing.T) agents.Store) {
	t.Helper()
	warmth := 0.3
	full := agents.InboundNumber{
		Org: "a", Number: "+15550000001", CreatedAt: at, UpdatedAt: at, Version: 1,
		Agent: call.Agent{
			Task: "Take the order.\nBe kind.", Voice: "slt", Language: "en-US", Model: "base", Temperature: &warmth,
			FirstSentence: "Hello!", WaitForGreeting: true, Record: true, MaxDuration: 7 * time.Minute,
			TransferTo: "+15550000009", Webhook: "https://example.com/hook",
		},
	}
	t.Run("keeps every field", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		insertNumber(t, s, full)
		if got, err := s.Number(t.Context(), "a", full.Number); err != nil || !reflect.DeepEqual(got, full) {
			t.Fatalf("got  %+v, %v\nwant %+v", got, err, full)
		}
	})
	t.Run("refuses a number twice, but not of two organizations", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		insertNumber(t, s, full)
		if err := s.InsertNumber(t.Context(), full); !errors.Is(err, callwright.ErrConflict) {
			t.Errorf("got %v, want a conflict", err)
		}
		other := full
		other.Org = "b"
		insertNumber(t, s, other)
	})
	t.Run("hides other organizations' numbers", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		insertNumber(t, s, full)
		if _, err := s.Number(t.Context(), "b", full.Number); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("get gave %v", err)
		}
		foreign := full
		foreign.Org = "b"
		if err := s.UpdateNumber(t.Context(), foreign); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("update gave %v", err)
		}
		if got, err := s.Numbers(t.Context(), "b"); err != nil || len(got) != 0 {
			t.Errorf("list gave %+v, %v", got, err)
		}
	})
	t.Run("lists by number", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		second := full
		second.Number = "+15550000000"
		insertNumber(t, s, full)
		insertNumber(t, s, second)
		got, err := s.Numbers(t.Context(), "a")
		if err != nil || len(got) != 2 || got[0].Number != second.Number {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("updates by compare-and-set", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		insertNumber(t, s, full)
		changed := full
		changed.Agent = call.Agent{Task: "other"}
		if err := s.UpdateNumber(t.Context(), changed); err != nil {
			t.Fatal(err)
		}
		if err := s.UpdateNumber(t.Context(), full); !errors.Is(err, callwright.ErrConflict) {
			t.Errorf("a stale update gave %v, want a conflict", err)
		}
		got, err := s.Number(t.Context(), "a", full.Number)
		if changed.Version = 2; err != nil || !reflect.DeepEqual(got, changed) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, changed)
		}
	})
}

func insertNumber(t *testing.T, s agents.Store, n agents.InboundNumber) {
	t.Helper()
	if err := s.InsertNumber(t.Context(), n); err != nil {
		t.Fatalf("insert %s: %v", n.Number, err)
	}
}
