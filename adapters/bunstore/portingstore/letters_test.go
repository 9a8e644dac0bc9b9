package portingstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/porting/loa/loatest"
)

func TestLetters(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		loatest.RunStore(t, func(t *testing.T) (loa.Store, callwright.Atomic) {
			t.Helper()
			db := open(t)
			return portingstore.Letters{DB: db}, db
		}, func(t *testing.T, s loa.Store) []byte {
			t.Helper()
			return storetest.AtRest(t, s.(portingstore.Letters).DB) //nolint:forcetypeassert // it is ours
		})
	})
}

// TestLettersUseIndexes wants no query of letters to read a whole table.
func TestLettersUseIndexes(t *testing.T) {
	t.Parallel()
	storetest.UsesIndexes(t, func(ctx context.Context, db *bunstore.DB, now time.Time) []error {
		s := portingstore.Letters{DB: db}
		_, err := s.Letter(ctx, "a", "r")
		_, linkErr := s.LetterByLink(ctx, "link")
		_, pdfErr := s.PDF(ctx, "a", "r", true)
		_, eventsErr := s.Events(ctx, "a", "r")
		_, dueErr := s.DueLetters(ctx, now, 10)
		return []error{err, linkErr, pdfErr, eventsErr, dueErr, s.UpdateLetter(ctx, loa.Letter{Org: "a", Request: "r"}, nil)}
	})
}

func TestLetterRaces(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		loatest.RunRaces(t, func(t *testing.T) loatest.Stores {
			t.Helper()
			db := open(t)
			return loatest.Stores{Requests: portingstore.Requests{DB: db}, Letters: portingstore.Letters{DB: db}, Atomic: db}
		})
	})
}
