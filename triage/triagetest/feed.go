package triagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/triage"
)

// RunFeed is the conformance suite of triage.Feed. newStore returns an empty store and its transactions.
func RunFeed(t *testing.T, newStore func(t *testing.T) (triage.Store, callwright.Atomic)) {
	t.Helper()
	run(t, "feed", newStore, map[string]func(*testing.T, subject){
		"keeps every field":                      keepsEntry,
		"keeps metadata of every kind":           keepsMetadata,
		"keeps the largest texts and artifacts":  keepsLargeEntry,
		"shares no memory":                       sharesNoEntry,
		"hides other organizations' feeds":       hidesFeeds,
		"keeps the feeds of issues apart":        keepsFeedsApart,
		"adds all entries or none":               refusesEntriesTwice,
		"adds many at once":                      addsManyEntries,
		"keeps an id for one of many":            refusesEntriesAtOnce,
		"begins and ends pages at any place":     pagesAtPlaces,
		"pages backwards while others insert":    pagesBackwards,
		"pages forwards while others insert":     pagesForwards,
		"rolls back, and takes the same again":   rollsBackEntries,
		"rolls back what is between other lines": rollsBackBetween,
	})
}

// anEntry returns an entry with only the required fields.
func anEntry(id string, when time.Time) triage.Entry {
	return triage.Entry{
		ID: id, Org: "a", IssueID: "i1", Kind: triage.KindIssue, Type: triage.TypeComment, Actor: triage.System(),
		CreatedAt: when,
	}
}

func fullEntry(id string) triage.Entry {
	refs := []triage.IssueRef{
		{ID: "i2", Number: 1002, Title: words, Status: triage.StatusDone}, {ID: "i3", Number: 1003, Title: "x", Status: "todo"},
	}
	return triage.Entry{
		ID: id, Org: "a", IssueID: "i1", Kind: triage.KindAgent, Type: triage.TypeArtifact, Actor: fullActor("u1"),
		Detail: words, Metadata: metadata(), CreatedAt: later(1), FromStatus: triage.StatusTodo, ToStatus: triage.StatusDone,
		Resources: []triage.Resource{fullResource("r1"), fullResource("r2")}, Referenced: refs, Session: fullSessionRef(),
		Artifact: &triage.Artifact{
			ID: "a1", Type: "root_cause", Title: words, Renderer: "markdown", Status: triage.ArtifactReady,
			Payload: json.RawMessage(`{"b":[1,null,"\u2603"],"a":{"deep":[{}]},"n":1.5}`), URLs: []string{"https://example.com/?a=b&c", "x"},
		},
	}
}

func (s subject) appendEntries(t *testing.T, issue string, entries ...triage.Entry) {
	t.Helper()
	if err := s.AppendEntries(t.Context(), "a", issue, entries); err != nil {
		t.Fatalf("append to %s: %v", issue, err)
	}
}

func entryID(e triage.Entry) string { return e.ID }

// wantFeed checks that both reading directions return the wanted entries of an issue. want is sorted oldest first.
func (s subject) wantFeed(t *testing.T, issue string, want ...triage.Entry) {
	t.Helper()
	got, err := s.EntriesAfter(t.Context(), "a", issue, callwright.Keyset{}, 100)
	wantSame(t, append([]triage.Entry{}, got...), err, append([]triage.Entry{}, want...))
	got, err = s.Entries(t.Context(), "a", issue, callwright.Keyset{}, 100)
	slices.Reverse(got)
	wantSame(t, append([]triage.Entry{}, got...), err, append([]triage.Entry{}, want...))
}

func keepsEntry(t *testing.T, s subject) {
	bare, lone := anEntry("e0", at), anEntry("e2", later(2))
	lone.Artifact = &triage.Artifact{ID: "a2", Type: "note", Status: triage.ArtifactPending}
	whole := fullEntry("e1")
	callwrighttest.Full(t, whole)
	s.appendEntries(t, "i1", bare, whole, lone)
	s.wantFeed(t, "i1", bare, whole, lone)
	got, err := s.Entries(t.Context(), "a", "i1", callwright.Keyset{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if e := got[2]; e.Metadata != nil || e.Resources != nil || e.Referenced != nil || e.Session != nil || e.Artifact != nil {
		t.Errorf("of what was left out something is there: %+v", e)
	}
	if p := got[0].Artifact.Payload; p != nil {
		t.Errorf("an artifact that has no payload has %q", p)
	}
}

func keepsMetadata(t *testing.T, s subject) {
	var entries []triage.Entry
	for name, value := range metadata() {
		e := anEntry(fmt.Sprintf("e%02d", len(entries)), later(len(entries)))
		e.Metadata = map[string]any{name: value}
		e.Actor.Label = name
		entries = append(entries, e)
	}
	entries[0].Resources = []triage.Resource{fullResource("r1")}
	entries[0].Resources[0].Metadata = metadata()
	s.appendEntries(t, "i1", entries...)
	s.wantFeed(t, "i1", entries...)
	got, err := s.EntriesAfter(t.Context(), "a", "i1", callwright.Keyset{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	for n, e := range got { // metadata has the Go types of encoding/json
		for name, value := range entries[n].Metadata {
			if fmt.Sprintf("%T %v", e.Metadata[name], e.Metadata[name]) != fmt.Sprintf("%T %v", value, value) {
				t.Errorf("%s was %T %v, is %T %v", name, value, value, e.Metadata[name], e.Metadata[name])
			}
		}
	}
}

func keepsLargeEntry(t *testing.T, s subject) {
	e := fullEntry("e1")
	e.Detail = strings.Repeat("\u96ea\n", triage.MaxDetail/4)
	text := strings.Repeat("\u00e9\\n", triage.MaxArtifact/4)
	e.Artifact.Payload = json.RawMessage(`{"text":"` + text[:triage.MaxArtifact-len(`{"text":""}`)-1] + `"}`)
	if !json.Valid(e.Artifact.Payload) || len(e.Artifact.Payload) != triage.MaxArtifact-1 {
		t.Fatalf("the payload has %d bytes", len(e.Artifact.Payload))
	}
	e.Metadata = map[string]any{"text": strings.Repeat("\"", triage.MaxMetadata/2-10)}
	s.appendEntries(t, "i1", e)
	s.wantFeed(t, "i1", e)
}

func sharesNoEntry(t *testing.T, s subject) {
	given := []triage.Entry{fullEntry("e1"), fullEntry("e2")}
	s.appendEntries(t, "i1", given...)
	callwrighttest.Spoil(&given)
	for range 2 {
		s.wantFeed(t, "i1", fullEntry("e1"), fullEntry("e2"))
		back, err := s.Entries(t.Context(), "a", "i1", callwright.Keyset{}, 9)
		if err != nil {
			t.Fatal(err)
		}
		forth, err := s.EntriesAfter(t.Context(), "a", "i1", callwright.Keyset{}, 9)
		if err != nil {
			t.Fatal(err)
		}
		callwrighttest.Spoil(&back)
		callwrighttest.Spoil(&forth)
	}
}

func hidesFeeds(t *testing.T, s subject) {
	s.appendEntries(t, "i1", anEntry("e1", at))
	for name, at := range map[string]struct {
		org   callwright.OrgID
		issue string
	}{"foreign": {"b", "i1"}, "absent": {"a", "i9"}, "of nobody": {"c", "i1"}} {
		back, backErr := s.Entries(t.Context(), at.org, at.issue, callwright.Keyset{}, 9)
		forth, forthErr := s.EntriesAfter(t.Context(), at.org, at.issue, callwright.Keyset{}, 9)
		if backErr != nil || forthErr != nil || len(back) != 0 || len(forth) != 0 {
			t.Errorf("%s: got %+v, %v and %+v, %v", name, back, backErr, forth, forthErr)
		}
		e := anEntry("e2", later(1))
		e.Org, e.IssueID = at.org, at.issue
		err := s.AppendEntries(t.Context(), at.org, at.issue, []triage.Entry{e})
		wantErr(t, callwright.ErrNotFound, map[string]error{name + ": append": err})
	}
	s.wantFeed(t, "i1", anEntry("e1", at))
}

func keepsFeedsApart(t *testing.T, s subject) {
	other := anEntry("e2", at)
	other.IssueID = "i2"
	s.appendEntries(t, "i1", anEntry("e1", at), anEntry("e3", at))
	s.appendEntries(t, "i2", other)
	s.wantFeed(t, "i1", anEntry("e1", at), anEntry("e3", at))
	s.wantFeed(t, "i2", other)
	after, err := s.EntriesAfter(t.Context(), "a", "i2", callwright.Keyset{At: at, ID: "e1"}, 9)
	wantIDs(t, after, err, entryID, "e2")
}

func refusesEntriesTwice(t *testing.T, s subject) {
	s.appendEntries(t, "i1", anEntry("e1", at))
	batch := func(issue string, ids ...string) (entries []triage.Entry) {
		for n, id := range ids {
			e := anEntry(id, later(n+1))
			e.IssueID = issue
			entries = append(entries, e)
		}
		return entries
	}
	wantErr(t, callwright.ErrConflict, map[string]error{
		"the same":             s.AppendEntries(t.Context(), "a", "i1", []triage.Entry{anEntry("e1", at)}),
		"first":                s.AppendEntries(t.Context(), "a", "i1", batch("i1", "e1", "e2", "e3")),
		"last":                 s.AppendEntries(t.Context(), "a", "i1", batch("i1", "e2", "e3", "e1")),
		"twice in one":         s.AppendEntries(t.Context(), "a", "i1", batch("i1", "e2", "e3", "e2")),
		"of another issue":     s.AppendEntries(t.Context(), "a", "i2", batch("i2", "e2", "e1")),
		"of an organization b": s.AppendEntries(t.Context(), "b", "j1", batch("j1", "e2", "e1")),
	})
	s.wantFeed(t, "i1", anEntry("e1", at))
	s.wantFeed(t, "i2")
	s.appendEntries(t, "i1", batch("i1", "e2", "e3")...)
}

// addsManyEntries checks that one call adds 3000 entries, more than a database accepts as parameters of one statement.
func addsManyEntries(t *testing.T, s subject) {
	const many = 3000
	entries := make([]triage.Entry, many)
	for n := range entries {
		entries[n] = anEntry(fmt.Sprintf("e%04d", n), at.Add(time.Duration(n/2)*time.Microsecond))
	}
	s.appendEntries(t, "i1", entries...)
	got, err := s.EntriesAfter(t.Context(), "a", "i1", callwright.Keyset{}, many+1)
	if err != nil || !slices.EqualFunc(got, entries, func(a, b triage.Entry) bool {
		return a.ID == b.ID && a.CreatedAt.Equal(b.CreatedAt)
	}) {
		t.Errorf("got %d entries of %d, or in another order, %v", len(got), many, err)
	}
}

func refusesEntriesAtOnce(t *testing.T, s subject) {
	of := func(writer int) triage.Entry {
		e := anEntry("e1", later(writer))
		e.Detail = fmt.Sprint("of ", writer)
		return e
	}
	winner := callwrighttest.Race(t, func(writer int) error {
		return s.AppendEntries(t.Context(), "a", "i1", []triage.Entry{of(writer)})
	})
	s.wantFeed(t, "i1", of(winner))
}

// pagesAtPlaces checks pages of all sizes that start at the places of entries and between them, in both directions.
func pagesAtPlaces(t *testing.T, s subject) {
	s.appendEntries(t, "i1",
		anEntry("b", at), anEntry("f", later(1)), anEntry("d", later(1)), anEntry("h", later(1)), anEntry("a", later(2)))
	all := []string{"b", "d", "f", "h", "a"}
	for _, place := range []struct {
		at    time.Time
		id    string
		until int // number of entries before the place
		after int // number of entries before or at the place
	}{
		{at.Add(-time.Microsecond), "z", 0, 0},
		{at, "a", 0, 0},
		{at, "b", 0, 1},
		{at, "c", 1, 1},
		{at.Add(time.Microsecond), "a", 1, 1},
		{later(1), "a", 1, 1},
		{later(1), "d", 1, 2},
		{later(1), "e", 2, 2},
		{later(1), "h", 3, 4},
		{later(1), "i", 4, 4},
		{later(2), "a", 4, 5},
		{later(2).Add(time.Microsecond), "a", 5, 5},
	} {
		for limit := 1; limit <= len(all)+1; limit++ {
			k := callwright.Keyset{At: place.at, ID: place.id}
			back := slices.Clone(all[max(0, place.until-limit):place.until])
			slices.Reverse(back)
			got, err := s.Entries(t.Context(), "a", "i1", k, limit)
			wantIDs(t, got, err, entryID, back...)
			got, err = s.EntriesAfter(t.Context(), "a", "i1", k, limit)
			wantIDs(t, got, err, entryID, all[place.after:min(place.after+limit, len(all))]...)
		}
	}
}

func pagesBackwards(t *testing.T, s subject) {
	pagesWhileOthersInsert(t, s, triage.Store.Entries, -1)
}

func pagesForwards(t *testing.T, s subject) {
	pagesWhileOthersInsert(t, s, triage.Store.EntriesAfter, 1)
}

type pages func(
	s triage.Store, ctx context.Context, org callwright.OrgID, issue string, from callwright.Keyset, limit int,
) ([]triage.Entry, error)

// pagesWhileOthersInsert reads pages of a random size while entries with the same few timestamps are inserted before, between and after the
// older ones. It checks that the older entries appear exactly once, in order.
func pagesWhileOthersInsert(t *testing.T, s subject, read pages, direction int) {
	ids, issues := new(callwright.UUIDs), 0
	rapid.Check(t, func(t *rapid.T) {
		issues++
		issue := anIssue(fmt.Sprint("p", issues), 10+issues)
		if err := s.InsertIssue(context.Background(), issue); err != nil {
			t.Fatal(err)
		}
		moments := rapid.IntRange(1, 4).Draw(t, "timestamps")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		some := func(n int) (entries []triage.Entry) {
			for range n {
				e := anEntry(ids.New(), at.Add(time.Duration(random.IntN(moments))*time.Microsecond))
				e.IssueID = issue.ID
				entries = append(entries, e)
			}
			random.Shuffle(n, func(i, j int) { entries[i].ID, entries[j].ID = entries[j].ID, entries[i].ID })
			return entries
		}
		older := some(rapid.IntRange(0, 60).Draw(t, "older entries"))
		if err := s.AppendEntries(context.Background(), "a", issue.ID, older); err != nil && len(older) > 0 {
			t.Fatal(err)
		}
		newer := some(rapid.IntRange(0, 20).Draw(t, "newer entries"))
		var inserting sync.WaitGroup
		var insertErr error
		inserting.Go(func() { insertErr = s.insertFew(issue.ID, newer) })
		seen, err := follow(s, issue.ID, read, direction, rapid.IntRange(1, 20).Draw(t, "limit"))
		inserting.Wait()
		if err != nil || insertErr != nil {
			t.Fatal(err, insertErr)
		}
		for _, e := range older {
			if !slices.ContainsFunc(seen, func(s triage.Entry) bool { return s.ID == e.ID }) {
				t.Fatalf("of %d older entries %s was not seen", len(older), e.ID)
			}
		}
		all, err := follow(s, issue.ID, read, direction, 100)
		if err != nil || len(all) != len(older)+len(newer) {
			t.Fatalf("there are %d entries of %d, %v", len(all), len(older)+len(newer), err)
		}
	})
}

// insertFew inserts entries in batches of three.
func (s subject) insertFew(issue string, entries []triage.Entry) error {
	for few := range slices.Chunk(entries, 3) {
		if err := s.AppendEntries(context.Background(), "a", issue, few); err != nil {
			return err
		}
	}
	return nil
}

// follow reads all pages in a direction, 1 or -1, and returns their entries. It returns an error if a read fails, a page exceeds the limit,
// or an entry does not follow the previous one.
func follow(s subject, issue string, read pages, direction, limit int) (seen []triage.Entry, err error) {
	var from callwright.Keyset
	for {
		page, err := read(s.Store, context.Background(), "a", issue, from, limit)
		if err != nil || len(page) > limit {
			return nil, fmt.Errorf("a page of %d has %d entries: %w", limit, len(page), err)
		}
		for _, e := range page {
			if n := len(seen); n > 0 && inOrder(e, seen[n-1])*direction <= 0 {
				return nil, fmt.Errorf("entry %d is not behind the one before", n)
			}
			seen = append(seen, e)
		}
		if len(page) < limit {
			return seen, nil
		}
		from = page[limit-1].Keyset()
	}
}

func rollsBackEntries(t *testing.T, s subject) {
	s.appendEntries(t, "i1", anEntry("e1", at))
	lost := anEntry("e2", later(1))
	lost.Detail = "lost"
	s.rollBack(t, func(ctx context.Context) error {
		if err := s.AppendEntries(ctx, "a", "i1", []triage.Entry{lost}); err != nil {
			return err
		}
		seen, err := s.EntriesAfter(ctx, "a", "i1", callwright.Keyset{}, 9) // the transaction can read its own entry
		wantIDs(t, seen, err, entryID, "e1", "e2")
		return nil
	})
	s.wantFeed(t, "i1", anEntry("e1", at))
	s.appendEntries(t, "i1", anEntry("e2", later(1)), anEntry("e3", later(2)))
	s.wantFeed(t, "i1", anEntry("e1", at), anEntry("e2", later(1)), anEntry("e3", later(2)))
}

func rollsBackBetween(t *testing.T, s subject) {
	before := []triage.Entry{anEntry("e1", at), anEntry("e5", later(4)), anEntry("e6", later(5))}
	s.appendEntries(t, "i1", before...)
	s.rollBack(t, func(ctx context.Context) error {
		return s.AppendEntries(ctx, "a", "i1", []triage.Entry{anEntry("e2", later(1)), anEntry("e0", at.Add(-time.Second))})
	})
	s.wantFeed(t, "i1", before...)
}
