package loatest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
)

// NewStore returns an empty store, and the callwright.Atomic of its transactions.
type NewStore func(t *testing.T) (loa.Store, callwright.Atomic)

// RunStore tests a loa.Store. atRest returns the data as the store keeps it. If atRest is nil, as for a store in memory, encryption is not
// tested.
func RunStore(t *testing.T, newStore NewStore, atRest callwrighttest.AtRest[loa.Store]) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, store){
		"keeps every field":                 keepsLetter,
		"keeps every field of its events":   keepsEvents,
		"keeps nothing that was removed":    clearsLetter,
		"keeps PDFs byte for byte":          keepsPDFs,
		"shares no memory":                  sharesNoLetter,
		"hides other organizations'":        hidesLetters,
		"has one letter of a request":       refusesLetterTwice,
		"inserts a letter once":             insertsLetterOnce,
		"updates by compare-and-set":        updatesLetter,
		"finds a letter by its newest link": findsByLink,
		"tells what is due":                 tellsDueLetters,
		"ends with a transaction":           rollsBackLetter,
		"encrypts what is read by people":   encryptsLetter,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, atomic := newStore(t)
			test(t, store{s, atomic, atRest})
		})
	}
}

// store wraps the store under test with helpers.
type store struct {
	loa.Store

	atomic callwright.Atomic
	atRest callwrighttest.AtRest[loa.Store]
}

// words contains characters that a faulty store might change: accents, quotes, a line break, markup, an emoji.
const words = "\u00c9va's\n\"<b>&\\ \U0001F600"

// aPDF contains bytes that are not valid UTF-8.
var aPDF = []byte("%PDF-1.4\n\x00\xff\xfe\r\n%%EOF")

// aLetter returns a waiting letter of organization a.
func aLetter(request string) loa.Letter {
	return loa.Letter{
		Org: "a", Request: request, State: loa.Waiting, Content: loa.Content{Request: request, Date: at, TargetDate: later(9)}, SHA256: "5ha",
		Link: 1, LinkHash: "link of " + request, SignBy: later(8), CreatedAt: at, Events: 1, Head: "h1", Revision: 1,
	}
}

// fullLetter returns a letter with every field set.
func fullLetter(request string) loa.Letter {
	return loa.Letter{
		Org: "a", Request: request, State: loa.Signed, Content: loa.Content{
			Request: request, Date: at, Numbers: []callwright.PhoneNumber{"+14155550100", "+14155550101"}, CustomerType: porting.Business,
			BusinessName: words, FirstName: "Robin", LastName: words, AccountNumber: "***31", Email: "robin@example.com",
			Address:    porting.Address{Street: words, Street2: "2", City: "Oakland", State: "CA", Zip: "94607", Country: "US"},
			TargetDate: later(1), Provider: "Acme Telecom", Template: "us-1",
		},
		SHA256: "5ha", SignedSHA256: "5ign", Link: 2, LinkHash: "new link of " + request, SignBy: later(2), Reminders: 3, DueAt: later(3),
		CreatedAt: at, EndedAt: later(4), Events: 5, Head: "h5", Revision: 1,
	}
}

func anEvent(number int) loa.Event {
	return loa.Event{Number: number, At: later(number), Kind: loa.EventSent, Hash: fmt.Sprint("h", number)}
}

// fullEvent returns an event with every field set.
func fullEvent(number int) loa.Event {
	return loa.Event{
		Number: number, At: later(number), Kind: loa.EventSigned, Email: "robin@example.com", SHA256: "5ha", Name: words, Title: "Owner",
		Disclosure: words, Origin: loa.Origin{IP: "2001:db8::7", UserAgent: words}, Reason: words, Previous: "h0", Hash: "h1",
	}
}

func (s store) insert(t *testing.T, all ...loa.Letter) {
	t.Helper()
	for _, l := range all {
		if err := s.InsertLetter(t.Context(), l, aPDF, anEvent(1)); err != nil {
			t.Fatalf("insert %s: %v", l.Request, err)
		}
	}
}

func (s store) update(t *testing.T, l loa.Letter, events ...loa.Event) {
	t.Helper()
	if err := s.UpdateLetter(t.Context(), l, nil, events...); err != nil {
		t.Fatalf("update %s: %v", l.Request, err)
	}
}

func (s store) want(t *testing.T, want loa.Letter) {
	t.Helper()
	got, err := s.Letter(t.Context(), want.Org, want.Request)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v, %v\nwant %#v", got, err, want)
	}
}

func (s store) wantEvents(t *testing.T, request string, want ...loa.Event) {
	t.Helper()
	got, err := s.Events(t.Context(), "a", request)
	if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

// wantPDF checks the content of a stored PDF. If want is nil, the PDF must be absent.
func (s store) wantPDF(t *testing.T, request string, signed bool, want []byte) {
	t.Helper()
	got, err := s.PDF(t.Context(), "a", request, signed)
	if want == nil && !errors.Is(err, callwright.ErrNotFound) || want != nil && (err != nil || !bytes.Equal(got, want)) {
		t.Errorf("the PDF (signed %t) is %q, %v; want %q", signed, got, err, want)
	}
}

func wantCode(t *testing.T, want callwright.Code, errs map[string]error) {
	t.Helper()
	for name, err := range errs {
		if callwright.CodeOf(err) != want {
			t.Errorf("%s gave %v, want %s", name, err, want)
		}
	}
}

func keepsLetter(t *testing.T, s store) {
	full := fullLetter("r1")
	callwrighttest.Full(t, full)
	s.insert(t, full, aLetter("r2"))
	s.want(t, full)
	second := fullLetter("r2")
	s.update(t, second)
	second.Revision = 2
	s.want(t, second)
	s.want(t, full)
}

func keepsEvents(t *testing.T, s store) {
	full := fullEvent(2)
	callwrighttest.Full(t, full)
	l := aLetter("r1")
	s.insert(t, l)
	s.wantEvents(t, "r1", anEvent(1))
	s.update(t, l, full, anEvent(3))
	if err := s.UpdateLetter(t.Context(), l, aPDF, anEvent(4)); !errors.Is(err, callwright.ErrConflict) {
		t.Fatal(err)
	}
	s.wantEvents(t, "r1", anEvent(1), full, anEvent(3))
	s.wantPDF(t, "r1", true, nil)
	s.wantEvents(t, "absent")
}

func clearsLetter(t *testing.T, s store) {
	s.insert(t, fullLetter("r1"))
	bare := aLetter("r1")
	s.update(t, bare)
	bare.Revision = 2
	s.want(t, bare)
}

func keepsPDFs(t *testing.T, s store) {
	l := aLetter("r1")
	s.insert(t, l, aLetter("r2"))
	s.wantPDF(t, "r1", false, aPDF)
	s.wantPDF(t, "r1", true, nil)
	s.wantPDF(t, "absent", false, nil)
	signed := bytes.Repeat(aPDF, 20_000)
	if err := s.UpdateLetter(t.Context(), l, signed); err != nil {
		t.Fatal(err)
	}
	l.Revision = 2
	s.update(t, l)
	s.wantPDF(t, "r1", false, aPDF)
	s.wantPDF(t, "r1", true, signed)
	s.wantPDF(t, "r2", true, nil)
}

func sharesNoLetter(t *testing.T, s store) {
	l, events, pdf, signed := fullLetter("r1"), []loa.Event{fullEvent(1)}, bytes.Clone(aPDF), bytes.Clone(aPDF)
	if err := s.InsertLetter(t.Context(), l, pdf, events...); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateLetter(t.Context(), l, signed); err != nil {
		t.Fatal(err)
	}
	callwrighttest.Spoil(&l)
	callwrighttest.Spoil(&events)
	callwrighttest.Spoil(&pdf)
	callwrighttest.Spoil(&signed)
	want := fullLetter("r1")
	want.Revision = 2
	for range 2 {
		s.want(t, want)
		s.wantEvents(t, "r1", fullEvent(1))
		s.wantPDF(t, "r1", false, aPDF)
		s.wantPDF(t, "r1", true, aPDF)
		got, err := s.Letter(t.Context(), "a", "r1")
		linked, linkErr := s.LetterByLink(t.Context(), want.LinkHash)
		trail, trailErr := s.Events(t.Context(), "a", "r1")
		one, oneErr := s.PDF(t.Context(), "a", "r1", false)
		other, otherErr := s.PDF(t.Context(), "a", "r1", true)
		if err := errors.Join(err, linkErr, trailErr, oneErr, otherErr); err != nil {
			t.Fatal(err)
		}
		callwrighttest.Spoil(&got)
		callwrighttest.Spoil(&linked)
		callwrighttest.Spoil(&trail)
		callwrighttest.Spoil(&one)
		callwrighttest.Spoil(&other)
	}
}

func hidesLetters(t *testing.T, s store) {
	l := aLetter("r1")
	s.insert(t, l)
	foreign := l
	foreign.Org = "b"
	_, err := s.Letter(t.Context(), "b", "r1")
	_, pdfErr := s.PDF(t.Context(), "b", "r1", false)
	wantCode(t, callwright.CodeNotFound, map[string]error{
		"get": err, "PDF": pdfErr, "update": s.UpdateLetter(t.Context(), foreign, aPDF, anEvent(2)),
		"update absent": s.UpdateLetter(t.Context(), aLetter("r2"), aPDF, anEvent(2)),
	})
	if events, err := s.Events(t.Context(), "b", "r1"); err != nil || len(events) > 0 {
		t.Errorf("got %+v, %v", events, err)
	}
	s.want(t, l)
	s.wantEvents(t, "r1", anEvent(1))
	s.wantEvents(t, "r2")
	s.wantPDF(t, "r1", true, nil)
}

func refusesLetterTwice(t *testing.T, s store) {
	s.insert(t, aLetter("r1"))
	again, foreign, linked := aLetter("r1"), aLetter("r1"), aLetter("r2")
	again.LinkHash, foreign.LinkHash, foreign.Org, linked.LinkHash = "another", "a third", "b", aLetter("r1").LinkHash
	wantCode(t, callwright.CodeConflict, map[string]error{
		"its own": s.InsertLetter(t.Context(), again, nil, anEvent(2)), "another's": s.InsertLetter(t.Context(), foreign, nil, anEvent(2)),
		"a link": s.InsertLetter(t.Context(), linked, nil, anEvent(2)),
	})
	s.want(t, aLetter("r1"))
	s.wantEvents(t, "r1", anEvent(1))
	s.wantEvents(t, "r2")
}

func insertsLetterOnce(t *testing.T, s store) {
	winner := callwrighttest.Race(t, func(writer int) error {
		l := aLetter("r1")
		l.LinkHash, l.Reminders = fmt.Sprint("link ", writer), writer
		return s.InsertLetter(t.Context(), l, fmt.Append(nil, writer), anEvent(writer+1))
	})
	want := aLetter("r1")
	want.LinkHash, want.Reminders = fmt.Sprint("link ", winner), winner
	s.want(t, want)
	s.wantEvents(t, "r1", anEvent(winner+1))
	s.wantPDF(t, "r1", false, fmt.Append(nil, winner))
}

func updatesLetter(t *testing.T, s store) {
	s.insert(t, aLetter("r1"))
	changed := func(writer int) loa.Letter {
		l := aLetter("r1")
		l.Reminders, l.LinkHash = writer+1, fmt.Sprint("link ", writer)
		return l
	}
	winner := callwrighttest.Race(t, func(writer int) error {
		return s.UpdateLetter(t.Context(), changed(writer), fmt.Append(nil, writer), anEvent(2))
	})
	want := changed(winner)
	want.Revision = 2
	s.want(t, want)
	s.wantEvents(t, "r1", anEvent(1), anEvent(2))
	s.wantPDF(t, "r1", true, fmt.Append(nil, winner))
}

func findsByLink(t *testing.T, s store) {
	first, foreign := aLetter("r1"), aLetter("r2")
	foreign.Org = "b"
	s.insert(t, first, foreign)
	for _, want := range []loa.Letter{first, foreign} {
		if got, err := s.LetterByLink(t.Context(), want.LinkHash); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	changed := first
	changed.Link, changed.LinkHash = 2, "another"
	s.update(t, changed)
	changed.Revision = 2
	if got, err := s.LetterByLink(t.Context(), "another"); err != nil || !reflect.DeepEqual(got, changed) {
		t.Errorf("got %+v, %v", got, err)
	}
	_, former := s.LetterByLink(t.Context(), first.LinkHash)
	_, absent := s.LetterByLink(t.Context(), "absent")
	_, empty := s.LetterByLink(t.Context(), "")
	wantCode(t, callwright.CodeNotFound, map[string]error{"the former link": former, "an absent one": absent, "none": empty})
}

func tellsDueLetters(t *testing.T, s store) {
	for i, due := range []int{3, 1, 2, 9, 0} {
		l := aLetter(fmt.Sprint("r", i))
		l.Org = callwright.OrgID([]string{"a", "b"}[i%2])
		if due > 0 {
			l.DueAt = later(due)
		}
		s.insert(t, l)
	}
	for _, test := range []struct {
		now, limit int
		want       []porting.Name
	}{
		{0, 9, nil}, {1, 9, []porting.Name{{Org: "b", ID: "r1"}}},
		{3, 9, []porting.Name{{Org: "b", ID: "r1"}, {Org: "a", ID: "r2"}, {Org: "a", ID: "r0"}}},
		{8, 2, []porting.Name{{Org: "b", ID: "r1"}, {Org: "a", ID: "r2"}}}, {8, 0, nil},
	} {
		if got, err := s.DueLetters(t.Context(), later(test.now), test.limit); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("at %d: got %v, %v; want %v", test.now, got, err, test.want)
		}
	}
	l, err := s.Letter(t.Context(), "b", "r1")
	if err != nil {
		t.Fatal(err)
	}
	l.DueAt = time.Time{}
	s.update(t, l)
	if got, err := s.DueLetters(t.Context(), later(1), 9); err != nil || len(got) > 0 {
		t.Errorf("a letter without a reminder is due: %v, %v", got, err)
	}
}

var errRollback = errors.New("roll back")

func rollsBackLetter(t *testing.T, s store) {
	l := aLetter("r1")
	s.insert(t, l)
	err := s.atomic.Do(t.Context(), func(ctx context.Context) error {
		changed := l
		changed.LinkHash, changed.DueAt, changed.State = "another", at, loa.Signed
		return errors.Join(s.UpdateLetter(ctx, changed, aPDF, anEvent(2)), s.InsertLetter(ctx, aLetter("r2"), aPDF, anEvent(1)), errRollback)
	})
	if !errors.Is(err, errRollback) || errors.Is(err, callwright.ErrConflict) {
		t.Fatal(err)
	}
	s.want(t, l)
	s.wantEvents(t, "r1", anEvent(1))
	s.wantEvents(t, "r2")
	s.wantPDF(t, "r1", true, nil)
	s.wantPDF(t, "r2", false, nil)
	_, linkErr := s.LetterByLink(t.Context(), "another")
	_, getErr := s.Letter(t.Context(), "a", "r2")
	wantCode(t, callwright.CodeNotFound, map[string]error{"the link": linkErr, "the second": getErr})
	if got, err := s.LetterByLink(t.Context(), l.LinkHash); err != nil || !reflect.DeepEqual(got, l) {
		t.Errorf("the former link gives %+v, %v", got, err)
	}
	if due, err := s.DueLetters(t.Context(), later(1), 9); err != nil || len(due) > 0 {
		t.Errorf("%v are due, %v", due, err)
	}
}

func encryptsLetter(t *testing.T, s store) {
	l := aLetter(callwrighttest.VisibleID)
	l.Content = loa.Content{
		BusinessName: "hunter2-firm", FirstName: "hunter2-frst", LastName: "hunter2-last", AccountNumber: "hunter2-acct", Email: "hunter2-mail",
		Address: porting.Address{Street: "hunter2-road", Street2: "hunter2-flat", City: "hunter2-city", Zip: "hunter2-zips"},
	}
	e := loa.Event{
		Number: 1, At: at, Kind: loa.EventSigned, Email: "hunter2-mlto", Name: "hunter2-name", Title: "hunter2-titl",
		Origin: loa.Origin{IP: "hunter2-addr", UserAgent: "hunter2-agnt"}, Reason: "hunter2-reas",
	}
	again := e
	again.Number = 2
	s.atRest.Check(t, s.Store, func() error {
		return errors.Join(
			s.InsertLetter(t.Context(), l, []byte("hunter2-tpdf"), e), s.UpdateLetter(t.Context(), l, []byte("hunter2-spdf"), again),
		)
	}, "hunter2-firm", "hunter2-frst", "hunter2-last", "hunter2-acct", "hunter2-mail", "hunter2-road", "hunter2-flat", "hunter2-city",
		"hunter2-zips", "hunter2-mlto", "hunter2-name", "hunter2-titl", "hunter2-addr", "hunter2-agnt", "hunter2-reas", "hunter2-tpdf", "hunter2-spdf")
}
