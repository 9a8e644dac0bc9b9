package siptest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip/setup"
)

// RunDrafts tests a setup.Store. newStore returns an empty store. If atRest is nil, encryption at rest is not tested.
func RunDrafts(t *testing.T, newStore func(t *testing.T) setup.Store, atRest callwrighttest.AtRest[setup.Store]) {
	t.Helper()
	callwrighttest.RunRows(t, callwrighttest.RowsHarness[setup.Store, setup.Draft]{
		New:     newStore,
		Org:     func(d *setup.Draft) *callwright.OrgID { return &d.Org },
		Version: func(d *setup.Draft) *int64 { return &d.Version },
		Insert: func(s setup.Store, ctx context.Context, d setup.Draft) error {
			return s.InsertDraft(ctx, d, mostDrafts, at)
		},
		Find: func(s setup.Store, ctx context.Context, d setup.Draft) (setup.Draft, error) {
			return s.Draft(ctx, d.Org, d.ID)
		},
		Change: func(d *setup.Draft, writer int) {
			d.Step, d.Password, d.UpdatedAt, d.Numbers = setup.StepNumbers, "", at.Add(time.Hour), fmt.Sprint(writer)
		},
		Replace:   setup.Store.UpdateDraft,
		Delete:    func(s setup.Store, ctx context.Context, d setup.Draft) error { return s.DeleteDraft(ctx, d.Org, d.ID) },
		DeleteOld: setup.Store.DeleteOldDrafts,
		Time:      func(d setup.Draft) time.Time { return d.UpdatedAt },
		Secret: func(*testing.T) setup.Draft {
			d := draft(callwrighttest.VisibleID, 0)
			d.Password = "hunter2-pass"
			return d
		},
		Secrets: []string{"hunter2-pass"},
		AtRest:  atRest,
	})
	tests := map[string]func(*testing.T, setup.Store){
		"refuses a taken id and too many": refusesDrafts,
		"adds no more at once":            addsDraftsAtOnce,
		"lists the last changed first":    listsDrafts,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

// draft returns a draft of organization a that was changed the given number of seconds after the time in the variable at.
func draft(id string, seconds int) setup.Draft {
	changed := at.Add(time.Duration(seconds) * time.Second)
	return setup.Draft{ID: id, Org: "a", Directions: setup.BothWays, Step: setup.StepFirewall, CreatedAt: at, UpdatedAt: changed, Version: 1}
}

const mostDrafts = 20

func insertDrafts(t *testing.T, s setup.Store, all ...setup.Draft) {
	t.Helper()
	for _, d := range all {
		if err := s.InsertDraft(t.Context(), d, mostDrafts, at); err != nil {
			t.Fatalf("insert %s: %v", d.ID, err)
		}
	}
}

func refusesDrafts(t *testing.T, s setup.Store) {
	old := draft("old", -1) // changed before the time in the variable at: the limit does not count it
	insertDrafts(t, s, old, draft("d1", 0), draft("d2", 1))
	if err := s.InsertDraft(t.Context(), draft("d1", 0), mostDrafts, at); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("a taken id gave %v, want a conflict", err)
	}
	if err := s.InsertDraft(t.Context(), draft("d3", 0), 2, at); callwright.CodeOf(err) != callwright.CodeInvalidState {
		t.Errorf("one more than may be gave %v, want %s", err, callwright.CodeInvalidState)
	}
	both := s.InsertDraft(t.Context(), draft("d1", 0), 2, at)
	if !errors.Is(both, callwright.ErrConflict) && callwright.CodeOf(both) != callwright.CodeInvalidState {
		t.Errorf("a taken id beyond the limit gave %v, want a conflict or %s", both, callwright.CodeInvalidState)
	}
	foreign := draft("d4", 0)
	foreign.Org = "b"
	if err := s.InsertDraft(t.Context(), foreign, 1, at); err != nil {
		t.Errorf("another organization's gave %v", err)
	}
	if err := s.InsertDraft(t.Context(), draft("d5", 0), 3, at); err != nil {
		t.Errorf("the last that may be gave %v", err)
	}
}

func addsDraftsAtOnce(t *testing.T, s setup.Store) {
	const most = 3
	var adding sync.WaitGroup
	for i := range 8 {
		adding.Go(func() {
			err := s.InsertDraft(t.Context(), draft(fmt.Sprint("d", i), i), most, at)
			if err != nil && callwright.CodeOf(err) != callwright.CodeInvalidState {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	adding.Wait()
	if got, err := s.DraftsOf(t.Context(), "a", at, mostDrafts); err != nil || len(got) != most {
		t.Errorf("%d are there, %v; want %d", len(got), err, most)
	}
}

// draftIDs returns the ids of organization a's drafts that were changed at the given time or later, but not more ids than limit.
func draftIDs(t *testing.T, s setup.Store, since time.Time, limit int) string {
	t.Helper()
	got, err := s.DraftsOf(t.Context(), "a", since, limit)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, d := range got {
		ids = append(ids, d.ID)
	}
	return strings.Join(ids, " ")
}

func listsDrafts(t *testing.T, s setup.Store) {
	foreign := draft("d9", 5)
	foreign.Org = "b"
	insertDrafts(t, s, draft("d1", 1), draft("d3", 3), draft("d2", 2), draft("d4", 2), draft("d0", 0), foreign)
	if got := draftIDs(t, s, at.Add(time.Second), 10); got != "d3 d4 d2 d1" {
		t.Errorf("got %s", got)
	}
	if got := draftIDs(t, s, at, 2); got != "d3 d4" {
		t.Errorf("the first two are %s", got)
	}
}
