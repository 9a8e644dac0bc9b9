package callwrighttest

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/callwright/callwright"
)

// RowsHarness adapts a store S of values V to RunRows. New, Org, Insert and Find are required. RunRows tests the other functions only if
// they are set.
type RowsHarness[S, V any] struct {
	// New returns a store without values.
	New func(t *testing.T) S
	// Value returns the value with the given number, from 0 to 9. All values belong to one organization, no field is zero, different
	// numbers have different keys, and greater numbers have greater places. If nil, RunRows uses Filled, with the organization "a".
	Value func(t *testing.T, number int) V
	// Partial reports whether Value leaves fields zero. The caller then tests that the store keeps these fields.
	Partial bool
	// Equal reports whether two values are equal. If nil, RunRows uses reflect.DeepEqual.
	Equal func(t *testing.T, got, want V) bool
	// Foreign assigns a value to another organization. If nil, RunRows changes only the organization.
	Foreign func(v *V)
	// Org returns a pointer to the organization of a value.
	Org func(v *V) *callwright.OrgID
	// Version returns a pointer to the version of a value. Insert sets the version to 1, and Replace compares it. If nil, values are not
	// versioned.
	Version func(v *V) *int64
	// Insert adds a value. The error is CodeConflict if a value of any organization uses the key.
	Insert func(s S, ctx context.Context, v V) error
	// InsertedTwice reports whether Insert returns nil for a used key, and leaves the stored value unchanged.
	InsertedTwice bool
	// PerOrg reports whether keys are unique only within an organization, so that two organizations may use the same key.
	PerOrg bool
	// Inserted converts the argument of Insert to the stored value. If nil, they differ only in the version.
	Inserted func(v *V)
	// Find returns the stored value with the organization and key of v. The error is CodeNotFound if there is none.
	Find func(s S, ctx context.Context, v V) (V, error)
	// Change changes the fields that Replace replaces, differently for each writer.
	Change func(v *V, writer int)
	// Replace stores v in place of the value that has v's organization, key and version, and increments the version. The error is
	// CodeConflict if the stored version differs, and CodeNotFound if there is no value with this organization and key.
	Replace func(s S, ctx context.Context, v V) error
	// Delete deletes the value with the organization and key of v. It returns Absent if there is none.
	Delete func(s S, ctx context.Context, v V) error
	// Absent is the error of Delete for an absent value: CodeNotFound, or nil.
	Absent error
	// Page returns at most limit values of an organization that follow the given place, in descending order of places.
	Page func(s S, ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int) ([]V, error)
	// Ascending reports whether Page lists values in ascending order of places.
	Ascending bool
	// Place returns the place of a value in the order of Page.
	Place func(v V) callwright.Keyset
	// DeleteOld deletes at most limit values of all organizations whose Time is before the given time. It returns the number of deleted
	// values.
	DeleteOld func(s S, ctx context.Context, before time.Time, limit int) (int, error)
	// Time returns the time by which DeleteOld selects values.
	Time func(v V) time.Time
	// Secret returns a value whose key contains VisibleID. Its other fields contain the Secrets, which AtRest must not return.
	Secret  func(t *testing.T) V
	Secrets []string
	AtRest  AtRest[S]
}

// foreignOrg is the organization to which the default Foreign assigns values. It has no other values.
const foreignOrg = "another"

// RunRows tests the properties that all stores of organizations' values share.
func RunRows[S, V any](t *testing.T, h RowsHarness[S, V]) {
	t.Helper()
	if h.Value == nil {
		h.Value = func(t *testing.T, number int) V {
			t.Helper()
			v := Filled[V](t, number)
			*h.Org(&v) = "a"
			return v
		}
	}
	if h.Equal == nil {
		h.Equal = func(_ *testing.T, got, want V) bool { return reflect.DeepEqual(got, want) }
	}
	if h.Foreign == nil {
		h.Foreign = func(v *V) { *h.Org(v) = foreignOrg }
	}
	for name, test := range map[string]struct {
		asked bool
		run   func(t *testing.T, s S)
	}{
		"keeps every field":                 {true, h.keepsFields},
		"shares no memory":                  {true, h.sharesNothing},
		"hides other organizations' values": {true, h.hidesForeign},
		"refuses a taken key":               {true, h.refusesTwice},
		"replaces by compare-and-set":       {h.Version != nil && h.Replace != nil, h.comparesAndSets},
		"lists by pages":                    {h.Page != nil, h.pages},
		"deletes":                           {h.Delete != nil, h.deletes},
		"deletes old ones":                  {h.DeleteOld != nil, h.deletesOld},
		"encrypts secrets":                  {h.Secret != nil, h.seals},
	} {
		if test.asked {
			t.Run(reflect.TypeFor[V]().String()+": "+name, func(t *testing.T) {
				t.Parallel()
				test.run(t, h.New(t))
			})
		}
	}
}

// insert adds the value with the given number, and returns the value that the store must now return.
func (h RowsHarness[S, V]) insert(t *testing.T, s S, number int) V {
	t.Helper()
	v := h.Value(t, number)
	if err := h.Insert(s, t.Context(), v); err != nil {
		t.Fatalf("insert %+v: %v", v, err)
	}
	return h.inserted(v)
}

func (h RowsHarness[S, V]) inserted(v V) V {
	if h.Version != nil {
		*h.Version(&v) = 1
	}
	if h.Inserted != nil {
		h.Inserted(&v)
	}
	return v
}

// want checks that the store returns the wanted value. The argument when describes the situation in the failure.
func (h RowsHarness[S, V]) want(t *testing.T, s S, when string, want V) {
	t.Helper()
	if got, err := h.Find(s, t.Context(), want); err != nil || !h.Equal(t, got, want) {
		t.Errorf("%s:\ngot  %+v, %v\nwant %+v", when, got, err, want)
	}
}

// replace replaces a value, and returns the value that the store must now return.
func (h RowsHarness[S, V]) replace(t *testing.T, s S, v V) V {
	t.Helper()
	if err := h.Replace(s, t.Context(), v); err != nil {
		t.Fatalf("replace %+v: %v", v, err)
	}
	if h.Version != nil {
		*h.Version(&v)++
	}
	return v
}

func (h RowsHarness[S, V]) keepsFields(t *testing.T, s S) {
	if !h.Partial {
		Full(t, h.Value(t, 1))
	}
	v, other := h.insert(t, s, 1), h.insert(t, s, 2)
	for writer := range 3 {
		h.want(t, s, "stored", v)
		if h.Replace == nil {
			break
		}
		h.Change(&v, writer)
		v = h.replace(t, s, v)
	}
	h.want(t, s, "another value", other)
}

func (h RowsHarness[S, V]) sharesNothing(t *testing.T, s S) {
	given := h.Value(t, 1)
	if err := h.Insert(s, t.Context(), given); err != nil {
		t.Fatal(err)
	}
	Spoil(&given)
	want := h.inserted(h.Value(t, 1))
	h.want(t, s, "the given value changes", want)
	got, err := h.Find(s, t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	Spoil(&got)
	h.want(t, s, "a returned value changes", want)
	if h.Page != nil {
		list, err := h.Page(s, t.Context(), *h.Org(&want), callwright.Keyset{}, 10)
		if err != nil || len(list) != 1 {
			t.Fatalf("listed %+v, %v", list, err)
		}
		Spoil(&list)
		h.want(t, s, "a listed value changes", want)
	}
	if h.Replace == nil {
		return
	}
	changed := func() V {
		v := h.inserted(h.Value(t, 1))
		h.Change(&v, 0)
		return v
	}
	given, want = changed(), changed()
	h.replace(t, s, given)
	Spoil(&given)
	if h.Version != nil {
		*h.Version(&want)++
	}
	h.want(t, s, "the value changes that replaced another", want)
}

func (h RowsHarness[S, V]) hidesForeign(t *testing.T, s S) {
	mine := h.insert(t, s, 1)
	foreign := h.inserted(h.Value(t, 1))
	h.Foreign(&foreign)
	if got, err := h.Find(s, t.Context(), foreign); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization found %+v, %v", got, err)
	}
	if h.Page != nil {
		if got, err := h.Page(s, t.Context(), foreignOrg, callwright.Keyset{}, 10); err != nil || len(got) != 0 {
			t.Errorf("another organization lists %+v, %v", got, err)
		}
	}
	if h.Replace != nil {
		h.Change(&foreign, 1)
		if err := h.Replace(s, t.Context(), foreign); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("another organization's change gave %v, want not found", err)
		}
	}
	if h.Delete != nil {
		if err := h.Delete(s, t.Context(), foreign); !errors.Is(err, h.Absent) {
			t.Errorf("another organization's deletion gave %v, want %v", err, h.Absent)
		}
	}
	h.want(t, s, "afterwards", mine)
}

func (h RowsHarness[S, V]) refusesTwice(t *testing.T, s S) {
	mine := h.insert(t, s, 1)
	var want error = callwright.ErrConflict
	if h.InsertedTwice {
		want = nil
	}
	again, foreign := h.Value(t, 1), h.Value(t, 1)
	h.Foreign(&foreign)
	for _, v := range []V{again, foreign} {
		if *h.Org(&v) == foreignOrg && h.PerOrg {
			want = nil
		}
		if h.Change != nil {
			h.Change(&v, 1)
		}
		if err := h.Insert(s, t.Context(), v); !errors.Is(err, want) {
			t.Errorf("a taken key gave %s %v, want %v", *h.Org(&v), err, want)
		}
	}
	h.want(t, s, "afterwards", mine)
	if got, err := h.Find(s, t.Context(), foreign); errors.Is(err, callwright.ErrNotFound) == h.PerOrg {
		t.Errorf("another organization found %+v, %v", got, err)
	}
}

func (h RowsHarness[S, V]) comparesAndSets(t *testing.T, s S) {
	old := h.insert(t, s, 1)
	changed := func(writer int) V {
		v := h.inserted(h.Value(t, 1))
		h.Change(&v, writer)
		return v
	}
	winner := Race(t, func(writer int) error { return h.Replace(s, t.Context(), changed(writer)) })
	want := changed(winner)
	*h.Version(&want)++
	h.want(t, s, "after a race", want)
	if err := h.Replace(s, t.Context(), old); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("a change of an old version gave %v, want a conflict", err)
	}
	if err := h.Replace(s, t.Context(), h.Value(t, 2)); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a change without a value gave %v, want not found", err)
	}
}

func (h RowsHarness[S, V]) pages(t *testing.T, s S) {
	const count = 5
	stored := make([]V, count)
	for _, number := range []int{2, 0, 4, 1, 3} {
		stored[number] = h.insert(t, s, number)
	}
	place := func(i int) int {
		if h.Ascending {
			return i
		}
		return count - 1 - i
	}
	var after callwright.Keyset
	for seen := 0; ; {
		page, err := h.Page(s, t.Context(), *h.Org(&stored[0]), after, 2)
		if err != nil || len(page) != min(2, count-seen) {
			t.Fatalf("after %d of %d: got %+v, %v", seen, count, page, err)
		}
		for _, got := range page {
			if want := stored[place(seen)]; !h.Equal(t, got, want) {
				t.Fatalf("value %d:\ngot  %+v\nwant %+v", seen, got, want)
			}
			seen++
		}
		if len(page) == 0 {
			return
		}
		after = h.Place(page[len(page)-1])
	}
}

func (h RowsHarness[S, V]) deletes(t *testing.T, s S) {
	one, other := h.insert(t, s, 1), h.insert(t, s, 2)
	if err := h.Delete(s, t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Find(s, t.Context(), one); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("after its deletion there is %+v, %v", got, err)
	}
	if h.Replace != nil {
		if err := h.Replace(s, t.Context(), one); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("a change after a deletion gave %v, want not found", err)
		}
	}
	if err := h.Delete(s, t.Context(), one); !errors.Is(err, h.Absent) {
		t.Errorf("a second deletion gave %v, want %v", err, h.Absent)
	}
	h.want(t, s, "another value", other)
	h.want(t, s, "added again", h.insert(t, s, 1))
}

func (h RowsHarness[S, V]) deletesOld(t *testing.T, s S) {
	var stored []V
	for number := range 4 {
		stored = append(stored, h.insert(t, s, number))
	}
	for _, want := range []int{2, 1, 0} {
		if n, err := h.DeleteOld(s, t.Context(), h.Time(stored[3]), 2); err != nil || n != want {
			t.Errorf("deleted %d, %v; want %d", n, err, want)
		}
	}
	for _, old := range stored[:3] {
		if got, err := h.Find(s, t.Context(), old); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("of the old ones there is %+v, %v", got, err)
		}
	}
	h.want(t, s, "left", stored[3])
}

func (h RowsHarness[S, V]) seals(t *testing.T, s S) {
	h.AtRest.Check(t, s, func() error {
		v := h.Secret(t)
		if err := h.Insert(s, t.Context(), v); err != nil || h.Replace == nil {
			return err
		}
		return h.Replace(s, t.Context(), h.inserted(v))
	}, h.Secrets...)
}
