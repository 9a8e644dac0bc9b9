package documenttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting/document"
)

func (s store) deleteUnused(t *testing.T, before time.Time, limit, want int) {
	t.Helper()
	if n, err := s.DeleteUnused(t.Context(), before, limit); n != want || err != nil {
		t.Errorf("%d documents are deleted, %v; want %d", n, err, want)
	}
}

func deletesUnused(t *testing.T, s store) {
	young := aDocument("d3", "a")
	young.CreatedAt = later(1)
	used := aDocument("d2", "a")
	s.insert(t, aDocument("d1", "a"), used, young, aDocument("d4", "b"))
	s.use(t, "a", "r1", "d2")
	s.deleteUnused(t, at, enough, 0)
	s.deleteUnused(t, later(1), enough, 2)
	s.wantAbsent(t, "a", "d1")
	s.wantAbsent(t, "b", "d4")
	used.Requests = []string{"r1"}
	s.want(t, used)
	s.want(t, young)
	s.wantUnused(t, "a", 1)
	s.deleteUnused(t, later(1), enough, 0)
}

func deletesSome(t *testing.T, s store) {
	for i := range 5 {
		s.insert(t, aDocument(fmt.Sprint("d", i), "a"))
	}
	s.deleteUnused(t, later(1), 2, 2)
	s.wantUnused(t, "a", 3)
	s.deleteUnused(t, later(1), enough, 3)
	s.wantUnused(t, "a", 0)
}

// deletesOrUses deletes documents while requests mark them as used: each document must then be either used or absent.
func deletesOrUses(t *testing.T, s store) {
	const many = 8
	for i := range many {
		s.insert(t, aDocument(fmt.Sprint("d", i), "a"))
	}
	absent := make([]bool, many)
	errs := atOnce(many+1, func(i int) error {
		if i == many {
			_, err := s.DeleteUnused(t.Context(), later(1), enough)
			return err
		}
		return s.atomic.Do(t.Context(), func(ctx context.Context) error {
			ids, err := s.UseDocuments(ctx, "a", "r1", []string{fmt.Sprint("d", i)})
			absent[i] = len(ids) > 0
			return err
		})
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	s.deleteUnused(t, later(1), enough, 0)
	for i := range many {
		d, err := s.Document(t.Context(), "a", fmt.Sprint("d", i))
		switch {
		case absent[i] && !errors.Is(err, callwright.ErrNotFound):
			t.Errorf("an absent document is %v, %v", d, err)
		case !absent[i] && (err != nil || !slices.Equal(d.Requests, []string{"r1"})):
			t.Errorf("a document that was there to use is %v, %v", d, err)
		}
	}
}

func tellsHashes(t *testing.T, s store) {
	with := func(id string, org callwright.OrgID, digit string) document.Document {
		d := aDocument(id, org)
		d.SHA256 = aHash(digit)
		return d
	}
	s.insert(t, with("d1", "a", "1"), with("d2", "b", "1"), with("d3", "b", "2"), with("d4", "b", "3"))
	want := func(want ...string) {
		t.Helper()
		got, err := s.HashesInUse(t.Context(), []string{aHash("4"), aHash("2"), "no hash", aHash("1")})
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v are in use, %v; want %v", got, err, want)
		}
	}
	want(aHash("1"), aHash("2"))
	s.use(t, "b", "r1", "d3")
	s.deleteUnused(t, later(1), enough, 3)
	want(aHash("2"))
	if got, err := s.HashesInUse(t.Context(), nil); len(got) > 0 || err != nil {
		t.Errorf("of no hashes, %v are in use, %v", got, err)
	}
}
