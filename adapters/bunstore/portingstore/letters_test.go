package portingstore_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/porting"
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

// TestLettersUseIndexes runs every query of Letters and fails if a query scans a whole table.
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

// TestLetterDocuments fails if a member of the sealed part of a letter or of an event is renamed, because stored rows could then not be
// read.
func TestLetterDocuments(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 9, 8, 7, 0, time.UTC)
	l := loa.Letter{Content: loa.Content{
		Provider: "Acme Telecom", Request: "r", Date: at, Numbers: []callwright.PhoneNumber{"+14155550100"}, CustomerType: porting.Business, BusinessName: "b", FirstName: "f",
		LastName: "l", AccountNumber: "a", Email: "e",
		Address:    porting.Address{Street: "s", Street2: "s2", City: "c", State: "st", Zip: "z", Country: "co"},
		TargetDate: at, Template: "t",
	}}
	e := loa.Event{
		Number: 1, At: at, Kind: loa.EventSigned, Email: "e", SHA256: "s", Name: "n", Title: "t", Disclosure: "d",
		Origin: loa.Origin{IP: "i", UserAgent: "u"}, Reason: "r", Previous: "p", Hash: "h",
	}
	callwrighttest.Full(t, l.Content)
	callwrighttest.Full(t, e)
	got, err := portingstore.LetterDocuments(l, e)
	want, readErr := os.ReadFile("testdata/letter.json")
	if err := errors.Join(err, readErr); err != nil || strings.TrimSpace(string(want)) != string(got) {
		t.Errorf("got %s, %v", got, err)
	}
}
