// Package documenttest contains the conformance suites for the ports of package document.
package documenttest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting/document"
)

// NewStore returns an empty store, and the callwright.Atomic of its transactions.
type NewStore func(t *testing.T) (document.Store, callwright.Atomic)

// RunStore tests a document.Store from newStore; every test uses a new store.
func RunStore(t *testing.T, newStore NewStore) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, store){
		"keeps every field":                     keepsDocument,
		"hides other organizations'":            hidesDocuments,
		"refuses an id twice":                   refusesDocumentTwice,
		"bounds unused documents":               boundsUnused,
		"bounds unused documents of many":       boundsUnusedOfMany,
		"names absent documents":                namesAbsent,
		"marks a use once":                      marksUseOnce,
		"lists some of many requests":           listsSomeRequests,
		"ends a use with its transaction":       rollsBackUse,
		"deletes what is old and unused":        deletesUnused,
		"deletes no more than asked":            deletesSome,
		"deletes nothing that is used meantime": deletesOrUses,
		"tells hashes in use":                   tellsHashes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, atomic := newStore(t)
			test(t, store{s, atomic})
		})
	}
}

// store wraps the store under test with helpers.
type store struct {
	document.Store

	atomic callwright.Atomic
}

var at = time.Date(2026, 3, 2, 9, 8, 7, 123456000, time.UTC)

func later(seconds int) time.Time { return at.Add(time.Duration(seconds) * time.Second) }

// enough is a limit above the number of documents or blobs of any test.
const enough = 1000

func aHash(digit string) string { return strings.Repeat(digit, 64) }

func aDocument(id string, org callwright.OrgID) document.Document {
	return document.Document{ID: id, Org: org, Type: "image/png", Size: 1, SHA256: aHash("0"), CreatedAt: at}
}

func (s store) insert(t *testing.T, all ...document.Document) {
	t.Helper()
	for _, d := range all {
		if err := s.InsertDocument(t.Context(), d, enough); err != nil {
			t.Fatalf("insert %s: %v", d.ID, err)
		}
	}
}

func (s store) want(t *testing.T, want document.Document) {
	t.Helper()
	got, err := s.Document(t.Context(), want.Org, want.ID)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v, %v\nwant %#v", got, err, want)
	}
}

func (s store) use(t *testing.T, org callwright.OrgID, request string, ids ...string) (absent []string) {
	t.Helper()
	absent, err := s.UseDocuments(t.Context(), org, request, ids)
	if err != nil {
		t.Fatal(err)
	}
	return absent
}

func (s store) wantUnused(t *testing.T, org callwright.OrgID, want int) {
	t.Helper()
	if n, err := s.CountUnused(t.Context(), org); n != want || err != nil {
		t.Errorf("%d documents of %s are unused, %v; want %d", n, org, err, want)
	}
}

// wantAbsent checks that the organization has none of these documents.
func (s store) wantAbsent(t *testing.T, org callwright.OrgID, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if _, err := s.Document(t.Context(), org, id); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("document %s of %s: %v", id, org, err)
		}
	}
}

func keepsDocument(t *testing.T, s store) {
	full := document.Document{
		ID: "d1", Org: "a", Type: "application/pdf", Size: document.MaxSize, SHA256: aHash("a"), Locked: true, Active: true, CreatedAt: at,
	}
	s.insert(t, full, aDocument("d2", "a"))
	s.want(t, full)
	s.want(t, aDocument("d2", "a"))
	if absent := s.use(t, "a", "r2", "d1"); len(absent) > 0 {
		t.Errorf("%v are absent", absent)
	}
	s.use(t, "a", "r1", "d1")
	full.Requests = []string{"r1", "r2"}
	s.want(t, full)
	got, err := s.Document(t.Context(), "a", "d1")
	if err != nil {
		t.Fatal(err)
	}
	got.Requests[0] = "spoiled"
	s.want(t, full)
}

func hidesDocuments(t *testing.T, s store) {
	s.insert(t, aDocument("d1", "a"), aDocument("d2", "b"))
	s.wantAbsent(t, "b", "d1")
	s.wantAbsent(t, "a", "d2")
	if absent := s.use(t, "a", "r1", "d2"); !slices.Equal(absent, []string{"d2"}) {
		t.Errorf("of another organization's documents, %v are absent", absent)
	}
	s.want(t, aDocument("d2", "b"))
	s.wantUnused(t, "b", 1)
}

func refusesDocumentTwice(t *testing.T, s store) {
	s.insert(t, aDocument("d1", "a"))
	for _, org := range []callwright.OrgID{"a", "b"} {
		again := aDocument("d1", org)
		again.Size = 2
		if err := s.InsertDocument(t.Context(), again, enough); !errors.Is(err, callwright.ErrConflict) {
			t.Errorf("the same id of %s gave %v", org, err)
		}
	}
	s.want(t, aDocument("d1", "a"))
}

func boundsUnused(t *testing.T, s store) {
	s.insert(t, aDocument("d1", "a"), aDocument("d2", "a"), aDocument("d3", "b"))
	if err := s.InsertDocument(t.Context(), aDocument("d4", "a"), 2); !errors.Is(err, callwright.ErrTooManyRequests) {
		t.Errorf("a third document gave %v", err)
	}
	s.wantAbsent(t, "a", "d4")
	s.wantUnused(t, "a", 2)
	s.use(t, "a", "r1", "d1")
	s.wantUnused(t, "a", 1)
	if err := s.InsertDocument(t.Context(), aDocument("d4", "a"), 2); err != nil {
		t.Errorf("a document after another is used gave %v", err)
	}
}

func boundsUnusedOfMany(t *testing.T, s store) {
	const many, most = 12, 5
	errs := atOnce(many, func(i int) error {
		return s.InsertDocument(t.Context(), aDocument(fmt.Sprint("d", i), "a"), most)
	})
	taken := 0
	for _, err := range errs {
		switch {
		case err == nil:
			taken++
		case !errors.Is(err, callwright.ErrTooManyRequests):
			t.Error(err)
		}
	}
	if taken != most {
		t.Errorf("of %d documents at once, %d are taken, not %d", many, taken, most)
	}
	s.wantUnused(t, "a", most)
}

// atOnce calls f concurrently for each number below n, and returns the errors in the order of the numbers.
func atOnce(n int, f func(i int) error) []error {
	errs := make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { errs[i] = f(i) })
	}
	running.Wait()
	return errs
}

func namesAbsent(t *testing.T, s store) {
	s.insert(t, aDocument("d1", "a"), aDocument("d2", "a"), aDocument("d3", "b"))
	absent := s.use(t, "a", "r1", "x2", "d2", "d3", "x1", "d1", "x2")
	if want := []string{"x2", "d3", "x1"}; !slices.Equal(absent, want) {
		t.Errorf("%v are absent, want %v", absent, want)
	}
	if absent := s.use(t, "a", "r1"); len(absent) > 0 {
		t.Errorf("of no documents, %v are absent", absent)
	}
}

func marksUseOnce(t *testing.T, s store) {
	s.insert(t, aDocument("d1", "a"))
	s.use(t, "a", "r1", "d1", "d1")
	s.use(t, "a", "r1", "d1")
	used := aDocument("d1", "a")
	used.Requests = []string{"r1"}
	s.want(t, used)
}

func listsSomeRequests(t *testing.T, s store) {
	s.insert(t, aDocument("d1", "a"))
	used := aDocument("d1", "a")
	err := s.atomic.Do(t.Context(), func(ctx context.Context) error {
		used.Requests = nil
		for i := range document.MaxListed + 2 {
			request := fmt.Sprintf("r%03d", i)
			if _, err := s.UseDocuments(ctx, "a", request, []string{"d1"}); err != nil {
				return err
			}
			used.Requests = append(used.Requests, request)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	used.Requests = used.Requests[:document.MaxListed]
	s.want(t, used)
}

func rollsBackUse(t *testing.T, s store) {
	s.insert(t, aDocument("d1", "a"))
	failed := errors.New("failed")
	err := s.atomic.Do(t.Context(), func(ctx context.Context) error {
		if absent, err := s.UseDocuments(ctx, "a", "r1", []string{"d1", "d2"}); err != nil || len(absent) != 1 {
			t.Errorf("in a transaction, %v are absent, %v", absent, err)
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	s.want(t, aDocument("d1", "a"))
	s.wantUnused(t, "a", 1)
}
