package orgstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
)

// TestOldAnswersAreForgotten wants the table not to grow for ever.
func TestOldAnswersAreForgotten(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		answers := orgstore.IdempotencyStore{DB: db}
		at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
		keep := func(key string, since time.Time, at time.Time) {
			t.Helper()
			if err := answers.Keep(t.Context(), "o", key, nil, []byte(key), since, at); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 30 {
			keep(fmt.Sprint("old ", i), at.Add(-time.Hour), at)
		}
		later := at.Add(time.Hour)
		keep("new 1", at, later)
		if _, answer, err := answers.Find(t.Context(), "o", "old 0", at); err != nil || string(answer) != "old 0" {
			t.Errorf("an answer that still counts gave %q, %v", answer, err)
		}
		keep("new 2", later, later)
		keep("new 3", later, later)
		if left := storetest.Dump(t, db, "answers", "key"); strings.Contains(left, "old") || strings.Count(left, "new") != 3 {
			t.Errorf("left are %s", left)
		}
		if _, _, err := answers.Find(t.Context(), "o", "old 0", at); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("found with %v", err)
		}
	})
}
