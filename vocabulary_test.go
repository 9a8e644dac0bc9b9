package callwright_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
)

func TestParsePhoneNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]callwright.PhoneNumber{
		"+15551234567":      "+15551234567",
		"15551234567":       "+15551234567",
		" 15551234567":      "+15551234567", // an unescaped plus in a query becomes a space
		"+4930123456":       "+4930123456",
		"+123456789012345":  "+123456789012345",
		"+1234567":          "+1234567",
		"+1234567890123456": "",
		"+123456":           "",
		"+05551234567":      "",
		"++15551234567":     "",
		"+1 555 123 4567":   "",
		"+1555123456x":      "",
		"+1555123456\x00":   "",
		"+١٢٣٤٥٦٧":          "",
		"+":                 "",
		"":                  "",
	} {
		got, err := callwright.ParsePhoneNumber(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q gave %q, %v; want %q", text, got, err, want)
		}
		if err != nil && !errors.Is(err, callwright.ErrBadRequest) {
			t.Errorf("%q gave the error %v, not a bad request", text, err)
		}
	}
}

func FuzzParsePhoneNumber(f *testing.F) {
	f.Add("+15551234567")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := callwright.ParsePhoneNumber(text)
		if err != nil {
			return
		}
		if again, err := callwright.ParsePhoneNumber(n.String()); err != nil || again != n || "+"+n.Digits() != n.String() {
			t.Errorf("%q became %q, which becomes %q, %v", text, n, again, err)
		}
	})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk on fire")
	err := fmt.Errorf("while working: %w", callwright.Errorf(callwright.CodeUnavailable, "no store: %w", cause))
	if !errors.Is(err, callwright.ErrUnavailable) || errors.Is(err, callwright.ErrNotFound) || !errors.Is(err, cause) {
		t.Error("the error does not match its code and its cause, and nothing else")
	}
	if callwright.CodeOf(err) != callwright.CodeUnavailable || callwright.CodeOf(cause) != callwright.CodeInternal ||
		callwright.CodeOf(nil) != "" {
		t.Error("codes differ")
	}
	if m := callwright.MessageOf(cause); strings.Contains(m, "fire") {
		t.Errorf("an uncoded error shows %q", m)
	}
	named := callwright.InField("from", callwright.ErrBadRequest)
	if named.Error() != "from: bad request" || callwright.MessageOf(named) != "bad request" {
		t.Errorf("named error is %q with the message %q", named, callwright.MessageOf(named))
	}
	if callwright.ErrBadRequest.Field != "" {
		t.Error("naming a field changed the sentinel")
	}
	if again := callwright.InField("to", named); again.Error() != named.Error() {
		t.Errorf("a named error was renamed to %q", again)
	}
	if with := callwright.NotFound("call").Because(cause); !errors.Is(with, cause) || with.Error() != "call not found" {
		t.Errorf("because gave %q", with)
	}
	if _, ok := callwright.RetryAfter(err); ok {
		t.Error("an error without a wait has one")
	}
	if wait, ok := callwright.RetryAfter(&callwright.Error{RetryAfter: time.Second}); !ok || wait != time.Second {
		t.Errorf("wait %s, %t", wait, ok)
	}
}

func TestCursorRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := callwright.Keyset{
			At: time.UnixMicro(rapid.Int64Range(-1e15, 1e16).Draw(t, "at")).UTC(),
			ID: rapid.StringN(1, 50, 200).Draw(t, "id"),
		}
		got, err := callwright.ParseCursor(want.Cursor())
		if err != nil || !got.At.Equal(want.At) || got.ID != want.ID {
			t.Fatalf("%+v became %+v, %v", want, got, err)
		}
	})
	if k, err := callwright.ParseCursor(""); err != nil || !k.IsZero() || k.Cursor() != "" {
		t.Errorf("the beginning is %+v, %v", k, err)
	}
	for _, text := range []string{"x", "====", "MTIz", "Lg", "eC5pZA!"} {
		if _, err := callwright.ParseCursor(text); !errors.Is(err, callwright.ErrBadRequest) {
			t.Errorf("%q gave %v", text, err)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	f.Add("MTIzLmlk")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := callwright.ParseCursor(text)
		if err == nil && text != "" && k.ID == "" {
			t.Errorf("%q gave %+v", text, k)
		}
	})
}

func TestUUIDs(t *testing.T) {
	t.Parallel()
	const goroutines, each = 8, 5000
	var ids callwright.UUIDs
	shape := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	all := make([][]string, goroutines)
	var running sync.WaitGroup
	for g := range goroutines {
		running.Go(func() {
			for range each {
				all[g] = append(all[g], ids.New())
			}
		})
	}
	running.Wait()
	seen := map[string]bool{}
	for _, own := range all {
		if !slices.IsSorted(own) {
			t.Error("ids of one goroutine are out of order")
		}
		for _, id := range own {
			if seen[id] || !shape.MatchString(id) {
				t.Fatalf("%q is not a fresh version 7 UUID", id)
			}
			seen[id] = true
		}
	}
}

func TestSecretIsNeverShown(t *testing.T) {
	t.Parallel()
	const hidden = "s3cr3t"
	s := callwright.Secret(hidden)
	holder := struct {
		Name     string            `json:"name"`
		Password callwright.Secret `json:"password"`
	}{"x", s}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "secret", s, "holder", holder)
	text, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{
		fmt.Sprint(s), fmt.Sprintf("%s %q %v %+v %#v %x %X", s, s, s, s, s, s, s), fmt.Sprintf("%v %+v %#v", holder, holder, holder),
		fmt.Sprint(&holder), log.String(), string(text),
	} {
		if strings.Contains(shown, hidden) || strings.Contains(shown, fmt.Sprintf("%x", hidden)) {
			t.Errorf("the secret is in %q", shown)
		}
	}
	if s.Reveal() != hidden || callwright.Secret("").String() != "" {
		t.Error("a secret that is there does not come back, or one that is not is shown as there")
	}
}

func TestKeyring(t *testing.T) {
	t.Parallel()
	oldKey, newKey := make([]byte, 32), make([]byte, 32)
	newKey[0] = 1
	old, err := callwright.NewKeyring("a", map[string][]byte{"a": oldKey})
	if err != nil {
		t.Fatal(err)
	}
	both, err := callwright.NewKeyring("b", map[string][]byte{"a": oldKey, "b": newKey})
	if err != nil {
		t.Fatal(err)
	}
	const hidden = "correct horse"
	sealed := old.Seal("trunk:1", hidden)
	if strings.Contains(sealed, hidden) || strings.Contains(sealed, base64.RawStdEncoding.EncodeToString([]byte(hidden))) ||
		sealed == old.Seal("trunk:1", hidden) {
		t.Errorf("sealed text %q shows something or repeats", sealed)
	}
	if got, err := both.Open("trunk:1", sealed); err != nil || got.Reveal() != hidden {
		t.Errorf("after a change of keys: %q, %v", got.Reveal(), err)
	}
	for name, f := range map[string]func() error{
		"another row":  func() error { _, err := old.Open("trunk:2", sealed); return err },
		"unknown key":  func() error { _, err := old.Open("trunk:1", both.Seal("trunk:1", "p")); return err },
		"damaged":      func() error { _, err := old.Open("trunk:1", sealed[:len(sealed)-2]); return err },
		"no text":      func() error { _, err := old.Open("trunk:1", "a:!"); return err },
		"short key":    func() error { _, err := callwright.NewKeyring("a", map[string][]byte{"a": oldKey[:31]}); return err },
		"odd id":       func() error { _, err := callwright.NewKeyring("a:b", map[string][]byte{"a:b": oldKey}); return err },
		"no such id":   func() error { _, err := callwright.NewKeyring("c", map[string][]byte{"a": oldKey}); return err },
		"no key at al": func() error { _, err := callwright.NewKeyring("", nil); return err },
	} {
		if f() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if sealed := old.Seal("x", ""); sealed != "" {
		t.Errorf("nothing was sealed as %q", sealed)
	}
	if s, err := old.Open("x", ""); s != "" || err != nil {
		t.Errorf("nothing opened as %q, %v", s, err)
	}
}

func TestEntitlements(t *testing.T) {
	t.Parallel()
	has := []callwright.Entitlement{callwright.EntitlementSIP}
	if !(callwright.Organization{Entitlements: has}).Entitled(callwright.EntitlementSIP) ||
		!(callwright.Principal{Entitlements: has}).Entitled(callwright.EntitlementSIP) ||
		(callwright.Principal{}).Entitled(callwright.EntitlementSIP) {
		t.Error("entitlements differ from what is listed")
	}
}

func TestSystemClock(t *testing.T) {
	t.Parallel()
	now := callwright.SystemClock{}.Now()
	if now.Location() != time.UTC || now.Nanosecond()%1000 != 0 {
		t.Errorf("%s is not in UTC and whole microseconds", now)
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	place := func(i int) callwright.Keyset { return callwright.Keyset{ID: strconv.Itoa(i)} }
	size := func(i int) int { return i }
	for _, test := range []struct {
		items       []int
		limit, most int
		want        int
		next        string
	}{
		{nil, 3, 10, 0, ""},
		{[]int{1, 2, 3}, 3, 10, 3, ""},
		{[]int{1, 2, 3, 4}, 3, 10, 3, "3"},
		{[]int{4, 6, 1}, 3, 10, 2, "6"},
		{[]int{4, 6}, 3, 10, 2, ""},
		{[]int{4, 7}, 3, 10, 1, "4"},
		{[]int{40, 1}, 3, 10, 1, "40"},
		{[]int{40}, 3, 10, 1, ""},
	} {
		page := callwright.Fit(test.items, test.limit, test.most, size, place)
		if len(page.Items) != test.want || page.Next.ID != test.next {
			t.Errorf("%+v gives %+v", test, page)
		}
	}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	const count = 1203
	asked := 0
	page := func(after callwright.Keyset, limit int) (items []int, err error) {
		asked++
		first := 0
		if !after.IsZero() {
			first = int(after.At.Unix()) + 1
		}
		for i := first; i < count && len(items) < limit; i++ {
			items = append(items, i)
		}
		return items, nil
	}
	place := func(i int) callwright.Keyset { return callwright.Keyset{At: time.Unix(int64(i), 0), ID: "x"} }
	for _, limit := range []int{0, 1, 500, 501, 1000, count, 5000} {
		asked = 0
		got, err := callwright.Collect(limit, page, place)
		if err != nil || len(got) != min(limit, count) || len(got) > 0 && got[len(got)-1] != len(got)-1 || asked > 3 {
			t.Errorf("of %d at most %d were collected in %d pages, %v", limit, len(got), asked, err)
		}
	}
	failing := func(callwright.Keyset, int) ([]int, error) { return []int{1}, callwright.ErrUnavailable }
	if got, err := callwright.Collect(5, failing, place); !errors.Is(err, callwright.ErrUnavailable) || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
}
