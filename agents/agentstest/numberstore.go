package agentstest

import (
	"encoding/json"
	"errors"
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
	full := agents.InboundNumber{
		Org: "a", Number: "+15550000001", CreatedAt: at, UpdatedAt: at, Version: 1, Agent: fullAgent(),
	}
	t.Run("keeps every field", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		insertNumber(t, s, full)
		if got, err := s.Number(t.Context(), "a", full.Number); err != nil || !sameJSON(t, got, full) {
			t.Fatalf("got  %+v, %v\nwant %+v", got, err, full)
		}
	})
	t.Run("tells nothing from an empty list", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		none, empty := full, full
		none.Agent, empty.Number = call.Agent{}, "+15550000002"
		empty.Agent = call.Agent{Tools: []json.RawMessage{}, DynamicData: []call.DynamicData{}}
		for _, want := range []agents.InboundNumber{none, empty} {
			insertNumber(t, s, want)
			if got, err := s.Number(t.Context(), "a", want.Number); err != nil || !sameJSON(t, got, want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
			}
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
		if changed.Version = 2; err != nil || !sameJSON(t, got, changed) {
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
