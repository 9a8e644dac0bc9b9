package siptest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip/setup"
)

// RunDrafts tests a setup.Store. newStore returns an empty one; atRest may be nil.
func RunDrafts(t *testing.T, newStore func(t *testing.T) setup.Store, atRest callwrighttest.AtRest[setup.Store]) {
	t.Helper()
	tests := map[string]func(*testing.T, setup.Store){
		"keeps every field":                 keepsDraft,
		"refuses a taken id and too many":   refusesDrafts,
		"adds no more at once":              addsDraftsAtOnce,
		"updates by compare-and-set":        comparesDrafts,
		"hides other organizations' drafts": hidesDrafts,
		"lists the last changed first":      listsDrafts,
		"forgets old ones":                  forgetsDrafts,
		"encrypts the password":             func(t *testing.T, s setup.Store) { encryptsDraft(t, s, atRest) },
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

// draft returns a draft of the organization a that was changed some seconds after at.
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

func keepsDraft(t *testing.T, s setup.Store) {
	d := filled[setup.Draft](t)
	insertDrafts(t, s, d)
	d.Version = 1
	for range 2 {
		got, err := s.Draft(t.Context(), d.Org, d.ID)
		if err != nil || !reflect.DeepEqual(got, d) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, d)
		}
		d.Step, d.Password, d.UpdatedAt = setup.StepNumbers, "", at.Add(time.Hour)
		if err := s.UpdateDraft(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		d.Version++
	}
}

func refusesDrafts(t *testing.T, s setup.Store) {
	old := draft("old", -1) // does not count
	insertDrafts(t, s, old, draft("d1", 0), draft("d2", 1))
	if err := s.InsertDraft(t.Context(), draft("d1", 0), mostDrafts, at); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("a taken id gave %v, want a conflict", err)
	}
	if err := s.InsertDraft(t.Context(), draft("d3", 0), 2, at); callwright.CodeOf(err) != callwright.CodeInvalidState {
		t.Errorf("one more than may be gave %v, want %s", err, callwright.CodeInvalidState)
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

func comparesDrafts(t *testing.T, s setup.Store) {
	insertDrafts(t, s, draft("d1", 0))
	winner := callwrighttest.Race(t, func(i int) error {
		mine := draft("d1", 0)
		mine.Numbers = fmt.Sprint(i)
		return s.UpdateDraft(t.Context(), mine)
	})
	if got, err := s.Draft(t.Context(), "a", "d1"); err != nil || got.Numbers != fmt.Sprint(winner) || got.Version != 2 {
		t.Errorf("writer %d has won; stored is %+v, %v", winner, got, err)
	}
}

func hidesDrafts(t *testing.T, s setup.Store) {
	insertDrafts(t, s, draft("d1", 0))
	foreign := draft("d1", 0)
	foreign.Org = "b"
	if _, err := s.Draft(t.Context(), "b", "d1"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization's draft gave %v, want not found", err)
	}
	if err := s.UpdateDraft(t.Context(), foreign); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization's change gave %v, want not found", err)
	}
	if got, err := s.DraftsOf(t.Context(), "b", at, 10); err != nil || len(got) != 0 {
		t.Errorf("another organization lists %+v, %v", got, err)
	}
	if err := s.DeleteDraft(t.Context(), "b", "d1"); err != nil {
		t.Errorf("another organization's removal gave %v", err)
	}
	if got, err := s.Draft(t.Context(), "a", "d1"); err != nil || got.Version != 1 {
		t.Errorf("afterwards it is %+v, %v", got, err)
	}
	if err := s.DeleteDraft(t.Context(), "a", "d1"); err != nil {
		t.Errorf("removal: %v", err)
	}
	if _, err := s.Draft(t.Context(), "a", "d1"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a removed draft gave %v, want not found", err)
	}
	if err := s.UpdateDraft(t.Context(), draft("d1", 0)); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a change of a removed draft gave %v, want not found", err)
	}
}

// draftIDs returns the ids of a's drafts that were changed since.
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
	insertDrafts(t, s, draft("d1", 1), draft("d3", 3), draft("d2", 2), draft("d0", 0), foreign)
	if got := draftIDs(t, s, at.Add(time.Second), 10); got != "d3 d2 d1" {
		t.Errorf("got %s", got)
	}
	if got := draftIDs(t, s, at, 2); got != "d3 d2" {
		t.Errorf("the first two are %s", got)
	}
}

func forgetsDrafts(t *testing.T, s setup.Store) {
	insertDrafts(t, s, draft("d0", 0), draft("d1", 1), draft("d2", 2), draft("d3", 3))
	for _, want := range []int{2, 1, 0} {
		if n, err := s.DeleteOldDrafts(t.Context(), at.Add(3*time.Second), 2); err != nil || n != want {
			t.Errorf("forgot %d, %v; want %d", n, err, want)
		}
	}
	if got := draftIDs(t, s, at, 10); got != "d3" {
		t.Errorf("left is %s", got)
	}
}

// encryptsDraft stores a draft with a password, and looks for it in the data at rest.
func encryptsDraft(t *testing.T, s setup.Store, atRest callwrighttest.AtRest[setup.Store]) {
	d := draft(callwrighttest.VisibleID, 0)
	d.Password = "hunter2-pass"
	atRest.Check(t, s, func() error {
		if err := s.InsertDraft(t.Context(), d, mostDrafts, at); err != nil {
			return err
		}
		return s.UpdateDraft(t.Context(), d)
	}, "hunter2-pass")
}
