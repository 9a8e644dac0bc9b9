package calllog_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
)

// logged stores a record that began at the given time, for number one on node n2, and returns it.
func (h *house) logged(org callwright.OrgID, id string, at time.Time) calllog.Record {
	h.t.Helper()
	r := calllog.Record{ID: id, Org: org, TrunkID: "t", Number: one, Direction: sip.Outbound, Node: "n2", StartedAt: at}
	if err := h.store.Begin(h.t.Context(), r); err != nil {
		h.t.Fatal(err)
	}
	return r
}

func TestList(t *testing.T) {
	t.Parallel()
	h := open(t)
	for i := range 60 {
		h.logged("a", fmt.Sprintf("c%02d", i), start.Add(time.Duration(i)*time.Second))
	}
	h.logged("b", "foreign", start)
	for name, test := range map[string]struct {
		before string
		limit  int
		first  string
		n      int
	}{
		"the newest":           {"", 0, "c59", 50},
		"all":                  {"", 500, "c59", 60},
		"before a call":        {"c10", 3, "c09", 3},
		"before the first":     {"c00", 3, "", 0},
		"before a time":        {"2026-05-04T03:02:11Z", 3, "c09", 3},
		"before a date":        {"2026-05-05", 3, "c59", 3},
		"in another time zone": {"2026-05-04T05:02:11.5+02:00", 3, "c10", 3},
		"with its plus lost":   {"2026-05-04T05:02:11.5 02:00", 3, "c10", 3},
	} {
		got, err := h.List(t.Context(), "a", one, test.before, test.limit)
		if err != nil || len(got.Items) != test.n || test.n > 0 && got.Items[0].ID != test.first {
			t.Errorf("%s: got %d calls, %v", name, len(got.Items), err)
		}
	}
	for name, test := range map[string]struct {
		number, before string
		limit          int
		field          string
	}{
		"no number":      {"abc", "", 1, "phone_number"},
		"negative":       {one, "", -1, "limit"},
		"too many":       {one, "", 501, "limit"},
		"unknown call":   {one, "c60", 1, "before"},
		"foreign call":   {one, "foreign", 1, "before"},
		"half a time":    {one, "2026-05", 1, "before"},
		"before history": {one, "0000-01-01T00:00:00Z", 1, "before"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.List(t.Context(), "a", test.number, test.before, test.limit)
			wantField(t, err, callwright.CodeBadRequest, test.field)
		})
	}
	if got, err := h.List(t.Context(), "a", two, "", 0); err != nil || len(got.Items) != 0 || !got.Next.IsZero() {
		t.Errorf("another number has %v, %v", got, err)
	}
	if r, _, err := h.Get(t.Context(), "a", "c07"); err != nil || r.ID != "c07" {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, _, err := h.Get(t.Context(), "a", "foreign"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// TestListPages checks that List returns the next page if it receives the ID of Next as the argument before.
func TestListPages(t *testing.T) {
	t.Parallel()
	h := open(t)
	for i := range 5 {
		h.logged("a", fmt.Sprint("c", i), start.Add(time.Duration(i)*time.Second))
	}
	var ids []string
	before := ""
	for range 3 {
		page, err := h.List(t.Context(), "a", one, before, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Items {
			ids = append(ids, r.ID)
		}
		before = page.Next.ID
	}
	if got := fmt.Sprint(ids); got != "[c4 c3 c2 c1 c0]" || before != "" {
		t.Errorf("got %s, and then %q", got, before)
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.logged("a", "inbound", start)
	h.logged("b", "foreign", start)
	out := calllog.Record{ID: "out", Org: "a", ParentID: "call", Number: one, StartedAt: start}
	if err := h.store.Begin(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"call": "out", "inbound": "inbound", "foreign": "", "none": "", "": ""} {
		got, err := h.Attempts(t.Context(), "a", id)
		if err != nil || len(got) != min(1, len(want)) || len(got) > 0 && got[0].ID != want {
			t.Errorf("call %q has the attempts %+v, %v, want %q", id, got, err, want)
		}
	}
}
