package triage_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// withKeys configures the keys for a service's cursors. Each character of letters is the id of a key, and current is the id of the key that
// signs.
func withKeys(t testing.TB, current byte, letters string) func(*triage.Config) {
	keys := map[byte][]byte{}
	for _, letter := range letters {
		keys[byte(letter)] = bytes.Repeat([]byte{byte(letter)}, 32)
	}
	cursors, err := triage.NewCursors(current, keys)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *triage.Config) { c.Cursors = cursors }
}

// longFeed creates an issue with five entries. It also returns the cursor that leads from the first page of two entries to the second page.
func longFeed(h house) (triage.Issue, string) {
	h.t.Helper()
	i := h.issue(triage.Draft{})
	for n := range 4 {
		if _, err := h.Update(h.t.Context(), "acme", ada, i.ID, triage.Change{Category: new(fmt.Sprint(n))}); err != nil {
			h.t.Fatal(err)
		}
	}
	page, err := h.Activity(h.t.Context(), "acme", i.ID, triage.PageRequest{Limit: 2})
	if err != nil || page.Next == "" {
		h.t.Fatalf("a page of two of five entries: %+v, %v", page, err)
	}
	return i, page.Next
}

// wantRefused checks that the feed of an issue refuses a cursor.
func wantRefused(t *testing.T, h house, issue, cursor, what string) {
	t.Helper()
	if page, err := h.Activity(t.Context(), "acme", issue, triage.PageRequest{Cursor: cursor}); err == nil {
		t.Errorf("%s was taken, and gave %d entries", what, len(page.Items))
	} else {
		wantError(t, err, callwright.CodeBadRequest, "cursor")
	}
}

func TestCursorChangedByOneBit(t *testing.T) {
	t.Parallel()
	h := open(t)
	i, cursor := longFeed(h)
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(raw) {
		changed := bytes.Clone(raw)
		changed[bit/8] ^= 1 << (bit % 8)
		wantRefused(t, h, i.ID, base64.RawURLEncoding.EncodeToString(changed), fmt.Sprintf("a cursor with bit %d changed", bit))
	}
	for bit := range 8 * len(cursor) {
		changed := []byte(cursor)
		changed[bit/8] ^= 1 << (bit % 8)
		wantRefused(t, h, i.ID, string(changed), fmt.Sprintf("the cursor %q", changed))
	}
	for n := range len(cursor) {
		if n > 0 {
			wantRefused(t, h, i.ID, cursor[:n], fmt.Sprintf("the first %d characters of a cursor", n))
		}
	}
}

func TestCursorWrittenOtherwise(t *testing.T) {
	t.Parallel()
	h := open(t)
	i, cursor := longFeed(h)
	wantRefused(t, h, i.ID, cursor[:8]+"\n"+cursor[8:], "a cursor with a line end")
	wantRefused(t, h, i.ID, cursor[:8]+"\r\n"+cursor[8:], "a cursor with a line end")
	wantRefused(t, h, i.ID, cursor+"\n", "a cursor with a line end")
	wantRefused(t, h, i.ID, " "+cursor, "a cursor with a blank")
	wantRefused(t, h, i.ID, cursor+"=", "a cursor with padding")
	wantRefused(t, h, i.ID, cursor+cursor, "two cursors")
	// The head and the MAC have 26 bytes, and an id has 36. In base64, the last character of 62 bytes has four unused bits.
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, cursor[len(cursor)-1])
	if len(cursor) != 83 || last&3 != 0 {
		t.Fatalf("the cursor %q has %d characters", cursor, len(cursor))
	}
	wantRefused(t, h, i.ID, cursor[:len(cursor)-1]+alphabet[last+1:last+2], "a cursor with unused bits")
}

func TestCursorOfSomethingElse(t *testing.T) {
	t.Parallel()
	h := open(t)
	i, cursor := longFeed(h)
	if _, err := h.Activity(t.Context(), "acme", i.ID, triage.PageRequest{Cursor: cursor}); err != nil {
		t.Fatalf("its own cursor: %v", err)
	}
	other, _ := longFeed(h)
	wantRefused(t, h, other.ID, cursor, "the cursor of another issue")
	_, err := h.Activity(t.Context(), "other", i.ID, triage.PageRequest{Cursor: cursor})
	wantError(t, err, callwright.CodeBadRequest, "cursor")
	_, err = h.List(t.Context(), "acme", triage.Query{Cursor: cursor})
	wantError(t, err, callwright.CodeBadRequest, "cursor")
	_, err = h.Watch(t.Context(), "acme", other.ID, cursor)
	wantError(t, err, callwright.CodeBadRequest, "cursor")
	page, err := h.List(t.Context(), "acme", triage.Query{Filter: triage.Filter{Limit: 1}})
	if err != nil || page.Next == "" {
		t.Fatalf("a page of one of two issues: %+v, %v", page, err)
	}
	wantRefused(t, h, i.ID, page.Next, "the cursor of a list")
}

// TestCursorTextsDoNotRunTogether checks that a cursor is invalid if a character moves from the id of its place to the name of its list.
func TestCursorTextsDoNotRunTogether(t *testing.T) {
	t.Parallel()
	h := open(t)
	for n, id := range []string{"i", "ix"} {
		if err := h.store().InsertIssue(t.Context(), triage.Issue{ID: id, Org: "acme", Number: n}); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := base64.RawURLEncoding.DecodeString(h.watch("i", "").CursorOf(triage.Entry{ID: "x9", CreatedAt: start}))
	if err != nil || string(raw[26:]) != "x9" {
		t.Fatalf("the cursor is %q, %v", raw, err)
	}
	wantRefused(t, h, "ix", base64.RawURLEncoding.EncodeToString(append(raw[:26], '9')), "a cursor with a letter less")
}

func TestCursorKeysRotate(t *testing.T) {
	t.Parallel()
	before := open(t, withKeys(t, 'a', "a"))
	i, old := longFeed(before)
	rotated := openOver(t, before.memory, withKeys(t, 'b', "ab"))
	page, err := rotated.Activity(t.Context(), "acme", i.ID, triage.PageRequest{Limit: 2, Cursor: old})
	if err != nil || len(page.Items) != 2 || page.Next == "" {
		t.Fatalf("with the former key kept: %+v, %v", page, err)
	}
	after := openOver(t, before.memory, withKeys(t, 'b', "b"))
	wantRefused(t, after, i.ID, old, "a cursor from before the rotation, its key removed,")
	wantRefused(t, before, i.ID, page.Next, "a cursor of a key that is not known yet")
	if last, err := after.Activity(t.Context(), "acme", i.ID, triage.PageRequest{Cursor: page.Next}); err != nil || len(last.Items) != 1 {
		t.Errorf("a cursor that was signed with the new key: %+v, %v", last, err)
	}
	sameID := openOver(t, before.memory, func(c *triage.Config) {
		c.Cursors, err = triage.NewCursors('a', map[byte][]byte{'a': bytes.Repeat([]byte("z"), 32)})
	})
	wantRefused(t, sameID, i.ID, old, "a cursor of another key with the same id")
	wantRefused(t, openOver(t, before.memory), i.ID, old, "a cursor, in a process with a key of its own,")
}

func TestNewCursorsRefuses(t *testing.T) {
	t.Parallel()
	good := bytes.Repeat([]byte("k"), 32)
	for name, keys := range map[string]map[byte][]byte{
		"no keys":        nil,
		"another key":    {2: good},
		"a short key":    {1: good[:31]},
		"an empty key":   {1: {}},
		"a short former": {1: good, 2: good[:31]},
	} {
		if _, err := triage.NewCursors(1, keys); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	cursors, err := triage.NewCursors(1, map[byte][]byte{1: good})
	if text := fmt.Sprintf("%v %+v", cursors, cursors); err != nil || strings.Contains(text, "107 107") {
		t.Errorf("the key can be read in %s, %v", text, err)
	}
}

// TestCursorsKeepPlaces checks that a cursor opens to the place that was sealed, and that different places have different cursors.
func TestCursorsKeepPlaces(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	w, err := h.Watch(t.Context(), "acme", i.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	rapid.Check(t, func(t *rapid.T) {
		place := func(what string) triage.Entry {
			return triage.Entry{
				ID:        rapid.StringN(1, 64, -1).Draw(t, what+" id"),
				CreatedAt: time.UnixMicro(rapid.Int64().Draw(t, what+" time")).UTC(),
			}
		}
		a, b := place("one"), place("another")
		cursor := w.CursorOf(a)
		again, err := h.Watch(t.Context(), "acme", i.ID, cursor)
		if err != nil {
			t.Fatalf("the cursor of %v: %v", a.Keyset(), err)
		}
		again.Close()
		if again.Cursor() != cursor {
			t.Errorf("the cursor %q of %v became %q", cursor, a.Keyset(), again.Cursor())
		}
		if (w.CursorOf(b) == cursor) != (a.Keyset() == b.Keyset()) {
			t.Errorf("the cursors of %v and %v", a.Keyset(), b.Keyset())
		}
	})
}

func FuzzCursor(f *testing.F) {
	h := open(f, withKeys(f, 'a', "a"))
	i, good := longFeed(h)
	_, other := longFeed(h)
	for _, seed := range []string{"", "AQ", "!", good, good[1:], good + "\n", other, strings.Repeat("A", len(good))} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		_, err := h.Activity(t.Context(), "acme", i.ID, triage.PageRequest{Cursor: cursor})
		switch {
		case cursor == "" || cursor == good:
			if err != nil {
				t.Errorf("%q: %v", cursor, err)
			}
		case err == nil:
			t.Errorf("%q was taken", cursor)
		default:
			wantError(t, err, callwright.CodeBadRequest, "cursor")
		}
	})
}
