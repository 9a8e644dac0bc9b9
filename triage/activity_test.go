package triage_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

func TestActivity(t *testing.T) {
	t.Parallel()
	triagetest.RunActivity(t, func(*testing.T) (triage.Store, callwright.Atomic) {
		memory := memstore.New()
		return triagestore.Store{Store: memory}, memory
	})
}

// imported returns an issue with size entries. All but the first are imported with equal times.
func imported(h house, size int) triage.Issue {
	h.t.Helper()
	i, entries := h.issue(triage.Draft{}), make([]triage.Entry, size-1)
	for n := range entries {
		entries[n] = triage.Entry{
			ID: fmt.Sprintf("entry %03d of %s", n, i.ID), Org: "acme", IssueID: i.ID, Kind: triage.KindIssue, Type: triage.TypeComment,
			Actor: bob, CreatedAt: start.Add(time.Second),
		}
	}
	if err := h.store().AppendEntries(h.t.Context(), "acme", i.ID, entries); err != nil {
		h.t.Fatal(err)
	}
	return i
}

func TestActivityLimits(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := imported(h, 102)
	for limit, want := range map[int]int{0: 50, 1: 1, 2: 2, 99: 99, 100: 100} {
		page, err := h.Activity(t.Context(), "acme", i.ID, triage.PageRequest{Limit: limit})
		if err != nil || len(page.Items) != want || page.Next == "" || page.Items[0].ID[:9] != "entry 100" {
			t.Errorf("limit %d: %d entries, next %q, %v", limit, len(page.Items), page.Next, err)
		}
	}
	for _, limit := range []int{-1, 101, 1 << 40} {
		_, err := h.Activity(t.Context(), "acme", i.ID, triage.PageRequest{Limit: limit})
		wantError(t, err, callwright.CodeBadRequest, "limit")
	}
}

// TestActivityEnds checks that Next is empty only on the last page, even if that page is full.
func TestActivityEnds(t *testing.T) {
	t.Parallel()
	h := open(t)
	for size, last := range map[int]int{1: 1, 9: 9, 10: 10, 11: 1, 20: 10, 21: 1, 29: 9} {
		i, seen := imported(h, size), 0
		for request := (triage.PageRequest{Limit: 10}); ; {
			page, err := h.Activity(t.Context(), "acme", i.ID, request)
			if err != nil {
				t.Fatal(err)
			}
			seen += len(page.Items)
			if request.Cursor = page.Next; page.Next == "" {
				if len(page.Items) != last {
					t.Errorf("of %d entries the last page has %d, want %d", size, len(page.Items), last)
				}
				break
			}
		}
		if seen != size {
			t.Errorf("%d entries were seen, of %d", seen, size)
		}
	}
}
