package speechtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/tts"
)

// RunVoices tests a speech.Voices. newVoices returns an empty store and its transactions.
func RunVoices(t *testing.T, newVoices func(t *testing.T) (speech.Voices, callwright.Atomic)) {
	t.Helper()
	callwrighttest.RunRows(t, callwrighttest.RowsHarness[speech.Voices, speech.Voice]{
		New: func(t *testing.T) speech.Voices {
			t.Helper()
			v, _ := newVoices(t)
			return v
		},
		Value: func(_ *testing.T, number int) speech.Voice {
			v := FullVoice(fmt.Sprint("v", number))
			v.Name = fmt.Sprint("\u00c9va <b>", number)
			return v
		},
		Org:     func(v *speech.Voice) *callwright.OrgID { return &v.Org },
		Version: func(v *speech.Voice) *int64 { return &v.Version },
		Insert:  speech.Voices.InsertVoice,
		Find: func(s speech.Voices, ctx context.Context, v speech.Voice) (speech.Voice, error) {
			return s.Voice(ctx, v.Org, v.ID)
		},
		Change: func(v *speech.Voice, writer int) {
			next := aVoice(v.ID, v.Org, fmt.Sprint(v.Name, " by ", writer))
			next.Version = v.Version
			*v = next
		},
		Replace: func(s speech.Voices, ctx context.Context, v speech.Voice) error {
			v.Version++
			return s.UpdateVoice(ctx, v)
		},
		Delete: func(s speech.Voices, ctx context.Context, v speech.Voice) error {
			return s.DeleteVoice(ctx, v.Org, v.ID)
		},
		Absent: callwright.ErrNotFound,
	})
	for name, test := range map[string]func(*testing.T, voices){
		"hides other organizations'":      hidesVoices,
		"refuses a name twice":            refusesNameTwice,
		"gives a name to one of many":     givesNameOnce,
		"lists the oldest first":          listsVoices,
		"updates by compare-and-set":      updatesVoice,
		"renames":                         renamesVoice,
		"gives a new name to one of many": renamesOnce,
		"deletes":                         deletesVoice,
		"ends with a transaction":         rollsBackVoices,
		"goes on after a conflict":        goesOnAfterConflict,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, atomic := newVoices(t)
			test(t, voices{v, atomic})
		})
	}
}

// voices is the adapter under test.
type voices struct {
	speech.Voices

	atomic callwright.Atomic
}

// FullVoice returns a voice with a value in each field.
func FullVoice(id string) speech.Voice {
	return speech.Voice{
		ID: id, Org: "a", Name: "\u00c9va <b>", Description: words, Tags: []string{"female", words}, Kind: speech.KindProfile, Service: "flite",
		Base: "slt", Prosody: tts.Prosody{Pitch: 1.0 / 3 * 2, Tempo: 1.25}, Language: "en-US", CreatedBy: "key_1", CreatedAt: at, Version: 1,
	}
}

func aVoice(id string, org callwright.OrgID, name string) speech.Voice {
	return speech.Voice{ID: id, Org: org, Name: name, Kind: speech.KindClone, CreatedAt: at, Version: 1}
}

func (v voices) insert(t *testing.T, all ...speech.Voice) {
	t.Helper()
	for _, one := range all {
		if err := v.InsertVoice(t.Context(), one); err != nil {
			t.Fatalf("insert %s: %v", one.ID, err)
		}
	}
}

func (v voices) want(t *testing.T, want speech.Voice) {
	t.Helper()
	for way, get := range map[string]func() (speech.Voice, error){
		"by id":   func() (speech.Voice, error) { return v.Voice(t.Context(), want.Org, want.ID) },
		"by name": func() (speech.Voice, error) { return v.VoiceByKey(t.Context(), want.Org, speech.Key(want.Name)) },
		"listed": func() (speech.Voice, error) {
			list, err := v.VoicesOf(t.Context(), want.Org, enough)
			for _, one := range list {
				if one.ID == want.ID {
					return one, err
				}
			}
			return speech.Voice{}, err
		},
	} {
		if got, err := get(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v, %v\nwant %+v", way, got, err, want)
		}
	}
}

func (v voices) wantAbsent(t *testing.T, org callwright.OrgID, id, name string) {
	t.Helper()
	_, err := v.Voice(t.Context(), org, id)
	wantCode(t, "the id "+id, err, callwright.CodeNotFound)
	_, err = v.VoiceByKey(t.Context(), org, speech.Key(name))
	wantCode(t, "the name "+name, err, callwright.CodeNotFound)
}

// wantConflict checks that an error has CodeConflict and the given field.
func wantConflict(t *testing.T, what string, err error, field string) {
	t.Helper()
	if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeConflict || e.Field != field {
		t.Errorf("%s gave %v, want a conflict with the field %q", what, err, field)
	}
}

func hidesVoices(t *testing.T, v voices) {
	v.insert(t, aVoice("v1", "a", "Kim"))
	for _, org := range []callwright.OrgID{"b", ""} {
		v.wantAbsent(t, org, "v1", "Kim")
		if list, err := v.VoicesOf(t.Context(), org, enough); err != nil || len(list) > 0 {
			t.Errorf("%q has %d voices, %v", org, len(list), err)
		}
		stolen := aVoice("v1", org, "stolen")
		stolen.Version = 2
		wantCode(t, "to update another organization's voice", v.UpdateVoice(t.Context(), stolen), callwright.CodeNotFound)
		wantCode(t, "to delete another organization's voice", v.DeleteVoice(t.Context(), org, "v1"), callwright.CodeNotFound)
	}
	v.want(t, aVoice("v1", "a", "Kim"))
	v.insert(t, aVoice("v2", "b", "Kim"))
	v.want(t, aVoice("v2", "b", "Kim"))
}

func refusesNameTwice(t *testing.T, v voices) {
	v.insert(t, aVoice("v1", "a", "Kim Stra\u00dfe"))
	for _, name := range []string{"Kim Stra\u00dfe", "KIM STRASSE", " kim strasse "} {
		wantConflict(t, "the name "+name, v.InsertVoice(t.Context(), aVoice("v2", "a", name)), "name")
	}
	v.want(t, aVoice("v1", "a", "Kim Stra\u00dfe"))
	if _, err := v.Voice(t.Context(), "a", "v2"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a voice that was refused: %v", err)
	}
}

func givesNameOnce(t *testing.T, v voices) {
	winner := callwrighttest.Race(t, func(i int) error {
		return v.InsertVoice(t.Context(), aVoice(fmt.Sprint("v", i), "a", "Kim"))
	})
	v.want(t, aVoice(fmt.Sprint("v", winner), "a", "Kim"))
	if list, err := v.VoicesOf(t.Context(), "a", enough); err != nil || len(list) != 1 {
		t.Errorf("%d voices have the name, %v", len(list), err)
	}
}

func listsVoices(t *testing.T, v voices) {
	for i, seconds := range []int{5, 1, 5, 3} {
		one := aVoice(fmt.Sprint("v", 9-i), "a", fmt.Sprint("name", i))
		one.CreatedAt = later(seconds)
		v.insert(t, one)
	}
	v.insert(t, aVoice("v0", "b", "Kim"))
	for limit, want := range map[int]string{enough: "[v8 v6 v7 v9]", 2: "[v8 v6]", 1: "[v8]"} {
		list, err := v.VoicesOf(t.Context(), "a", limit)
		var got []string
		for _, one := range list {
			got = append(got, one.ID)
		}
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("the first %d are %v, %v; want %v", limit, got, err, want)
		}
	}
}

func updatesVoice(t *testing.T, v voices) {
	v.insert(t, aVoice("v1", "a", "Kim"))
	next := aVoice("v1", "a", "Kim")
	next.Description = "new"
	for _, version := range []int64{0, 1, 3} {
		next.Version = version
		wantConflict(t, fmt.Sprint("version ", version), v.UpdateVoice(t.Context(), next), "")
	}
	v.want(t, aVoice("v1", "a", "Kim"))
	next.Version = 2
	if err := v.UpdateVoice(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	v.want(t, next)
	wantConflict(t, "the same update again", v.UpdateVoice(t.Context(), next), "")
	absent := aVoice("v2", "a", "Lee")
	absent.Version = 2
	wantCode(t, "an absent voice", v.UpdateVoice(t.Context(), absent), callwright.CodeNotFound)
}

func renamesVoice(t *testing.T, v voices) {
	v.insert(t, aVoice("v1", "a", "Kim"), aVoice("v2", "a", "Lee"), aVoice("v3", "b", "Max"))
	rename := func(name string, version int64) error {
		one := aVoice("v1", "a", name)
		one.Version = version
		return v.UpdateVoice(t.Context(), one)
	}
	wantConflict(t, "another voice's name", rename("LEE", 2), "name")
	v.want(t, aVoice("v1", "a", "Kim"))
	for i, name := range []string{"KIM", "Max"} { // the voice's own name, and a name in another organization
		if err := rename(name, int64(i)+2); err != nil {
			t.Errorf("to %s: %v", name, err)
		}
	}
	want := aVoice("v1", "a", "Max")
	want.Version = 3
	v.want(t, want)
	v.insert(t, aVoice("v4", "a", "Kim"))
	v.want(t, aVoice("v4", "a", "Kim"))
	v.want(t, aVoice("v3", "b", "Max"))
}

func renamesOnce(t *testing.T, v voices) {
	for i := range 8 {
		v.insert(t, aVoice(fmt.Sprint("v", i), "a", fmt.Sprint("Kim ", i)))
	}
	next := func(i int) speech.Voice {
		one := aVoice(fmt.Sprint("v", i), "a", "Kim")
		one.Version = 2
		return one
	}
	winner := callwrighttest.Race(t, func(i int) error {
		err := v.UpdateVoice(t.Context(), next(i))
		if err != nil {
			wantConflict(t, "a name that is taken meanwhile", err, "name")
		}
		return err
	})
	v.want(t, next(winner))
}

func deletesVoice(t *testing.T, v voices) {
	v.insert(t, aVoice("v1", "a", "Kim"), aVoice("v2", "a", "Lee"))
	if err := v.DeleteVoice(t.Context(), "a", "v1"); err != nil {
		t.Fatal(err)
	}
	v.wantAbsent(t, "a", "v1", "Kim")
	wantCode(t, "to delete it again", v.DeleteVoice(t.Context(), "a", "v1"), callwright.CodeNotFound)
	next := aVoice("v1", "a", "Kim")
	next.Version = 2
	wantCode(t, "to update it", v.UpdateVoice(t.Context(), next), callwright.CodeNotFound)
	v.want(t, aVoice("v2", "a", "Lee"))
	v.insert(t, aVoice("v3", "a", "Kim"))
	v.want(t, aVoice("v3", "a", "Kim"))
}

func rollsBackVoices(t *testing.T, v voices) {
	v.insert(t, aVoice("v1", "a", "Kim"), aVoice("v2", "a", "Lee"))
	failed := errors.New("failed")
	err := v.atomic.Do(t.Context(), func(ctx context.Context) error {
		renamed := aVoice("v2", "a", "Max")
		renamed.Version = 2
		err := errors.Join(v.InsertVoice(ctx, aVoice("v3", "a", "Ida")), v.UpdateVoice(ctx, renamed), v.DeleteVoice(ctx, "a", "v1"))
		if err != nil {
			t.Error(err)
		}
		if got, err := v.VoiceByKey(ctx, "a", "max"); err != nil || got.ID != "v2" {
			t.Errorf("the transaction does not see its update: %v", err)
		}
		if list, err := v.VoicesOf(ctx, "a", enough); err != nil || len(list) != 2 {
			t.Errorf("the transaction sees %d voices, %v", len(list), err)
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	v.want(t, aVoice("v1", "a", "Kim"))
	v.want(t, aVoice("v2", "a", "Lee"))
	v.wantAbsent(t, "a", "v3", "Ida")
}

// goesOnAfterConflict checks that a transaction can continue and commit after conflicts.
func goesOnAfterConflict(t *testing.T, v voices) {
	v.insert(t, aVoice("v1", "a", "Kim"), aVoice("v2", "a", "Lee"))
	err := v.atomic.Do(t.Context(), func(ctx context.Context) error {
		taken := aVoice("v2", "a", "Kim")
		taken.Version = 2
		wantConflict(t, "a name that is taken", v.InsertVoice(ctx, aVoice("v3", "a", "Kim")), "name")
		wantConflict(t, "to rename to a name that is taken", v.UpdateVoice(ctx, taken), "name")
		return v.InsertVoice(ctx, aVoice("v3", "a", "Max"))
	})
	if err != nil {
		t.Fatal(err)
	}
	v.want(t, aVoice("v3", "a", "Max"))
}
