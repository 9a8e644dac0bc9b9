package speechtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/speech"
)

// RunSamples tests a speech.Samples. newSamples returns an empty store and its transactions.
func RunSamples(t *testing.T, newSamples func(t *testing.T) (speech.Samples, callwright.Atomic)) {
	t.Helper()
	callwrighttest.Full(t, FullSample("s"))
	samplesTests.test(t, func(t *testing.T) samples {
		t.Helper()
		s, atomic := newSamples(t)
		return samples{s, atomic}
	})
}

var samplesTests = suite[samples]{
	{"keeps every field", keepsSample},
	{"refuses an id twice", refusesSampleTwice},
	{"hides other organizations'", hidesSamples},
	{"finds the newest by its key", findsByKey},
	{"lists the newest first", listsSamples},
	{"lists those of a voice", listsVoice},
	{"pages by offset", pagesSamples},
	{"counts", countsSamples},
	{"counts many at once", countsManyAtOnce},
	{"deletes one", deletesOne},
	{"deletes the oldest", deletesOldest},
	{"deletes each once", deletesOnce},
	{"tells whether a blob is used", tellsUse},
	{"ends with a transaction", rollsBackSamples},
}

// samples is the adapter under test.
type samples struct {
	speech.Samples

	atomic callwright.Atomic
}

// enough is a limit above the number of samples of any test.
const enough = 1000

// FullSample returns a sample with a value in each field.
func FullSample(id string) speech.Sample {
	return speech.Sample{
		ID: id, Org: "a", User: "key_1", Text: words, Voice: "v1", Language: "en-US", Format: speech.PCM44100, Key: "digest", Blob: "blob_1",
		Bytes: 5_000_000_000, Duration: 61*time.Second + 1, Latency: 345 * time.Microsecond, CreatedAt: at,
	}
}

// aSample returns a sample with the given voice. Its creation time is the given number of seconds after at.
func aSample(id string, org callwright.OrgID, voice string, seconds int) speech.Sample {
	return speech.Sample{ID: id, Org: org, Text: "hello", Voice: voice, Format: speech.PCM8000, Key: "k" + id, Blob: "b" + id, Bytes: 44, CreatedAt: later(seconds)}
}

func (s samples) insert(t reporter, all ...speech.Sample) {
	t.Helper()
	for _, one := range all {
		if err := s.InsertSample(t.Context(), one); err != nil {
			t.Fatalf("insert %s: %v", one.ID, err)
		}
	}
}

func (s samples) want(t reporter, want speech.Sample) {
	t.Helper()
	if got, err := s.Sample(t.Context(), want.Org, want.ID); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func ids(list []speech.Sample) []string {
	all := []string{}
	for _, one := range list {
		all = append(all, one.ID)
	}
	return all
}

// wantList checks the ids of a page of samples, and the total.
func (s samples) wantList(t reporter, org callwright.OrgID, voice string, limit, offset, total int, want ...string) {
	t.Helper()
	got, n, err := s.ListSamples(t.Context(), org, voice, limit, offset)
	if err != nil || n != total || !slices.Equal(ids(got), append([]string{}, want...)) {
		t.Errorf("samples of %q with the voice %q, %d from %d: %v of %d, %v; want %v of %d", org, voice, limit, offset, ids(got), n, err, want, total)
	}
}

func (s samples) delete(t reporter, before time.Time, limit int, want ...string) []speech.Sample {
	t.Helper()
	got, err := s.DeleteSamples(t.Context(), before, limit)
	if err != nil || !slices.Equal(ids(got), append([]string{}, want...)) {
		t.Errorf("deleted %v, %v; want %v", ids(got), err, want)
	}
	return got
}

func (s samples) wantUsed(t reporter, org callwright.OrgID, blob string, want bool) {
	t.Helper()
	if used, err := s.BlobUsed(t.Context(), org, blob); used != want || err != nil {
		t.Errorf("blob %q of %q: used is %t, %v", blob, org, used, err)
	}
}

func keepsSample(t reporter, s samples) {
	full, bare := FullSample("s1"), speech.Sample{ID: "s2", Org: "a", CreatedAt: at}
	s.insert(t, full, bare)
	s.want(t, full)
	s.want(t, bare)
	list, _, err := s.ListSamples(t.Context(), "a", "v1", enough, 0)
	if err != nil || !reflect.DeepEqual(list, []speech.Sample{full}) {
		t.Errorf("listed as %+v, %v", list, err)
	}
	if got, err := s.SampleByKey(t.Context(), "a", "digest", at); err != nil || !reflect.DeepEqual(got, full) {
		t.Errorf("found by its key as %+v, %v", got, err)
	}
	if got := s.delete(t, later(1), enough, "s1", "s2"); !reflect.DeepEqual(got, []speech.Sample{full, bare}) {
		t.Errorf("deleted as %+v", got)
	}
}

func refusesSampleTwice(t reporter, s samples) {
	s.insert(t, aSample("s1", "a", "v1", 0))
	for _, org := range []callwright.OrgID{"a", "b"} {
		wantCode(t, "the same id", s.InsertSample(t.Context(), aSample("s1", org, "v2", 1)), callwright.CodeConflict)
	}
	s.wantList(t, "a", "", enough, 0, 1, "s1")
	s.wantList(t, "a", "v2", enough, 0, 0)
	s.wantList(t, "b", "", enough, 0, 0)
}

func hidesSamples(t reporter, s samples) {
	s.insert(t, aSample("s1", "a", "v1", 0))
	for _, org := range []callwright.OrgID{"b", ""} {
		_, err := s.Sample(t.Context(), org, "s1")
		wantCode(t, "another organization's sample", err, callwright.CodeNotFound)
		_, err = s.SampleByKey(t.Context(), org, "ks1", at)
		wantCode(t, "another organization's sample by its key", err, callwright.CodeNotFound)
		s.wantList(t, org, "", enough, 0, 0)
		s.wantList(t, org, "v1", enough, 0, 0)
		s.wantUsed(t, org, "bs1", false)
	}
	_, err := s.Sample(t.Context(), "a", "s2")
	wantCode(t, "an absent sample", err, callwright.CodeNotFound)
}

func findsByKey(t reporter, s samples) {
	for i, seconds := range []int{1, 3, 2} {
		one := aSample(fmt.Sprint("s", i), "a", "v1", seconds)
		one.Key = "same"
		s.insert(t, one)
	}
	other := aSample("s4", "b", "v1", 9)
	other.Key = "same"
	s.insert(t, other)
	for _, since := range []time.Time{{}, later(1), later(3)} {
		if got, err := s.SampleByKey(t.Context(), "a", "same", since); err != nil || got.ID != "s1" {
			t.Errorf("since %v it found %q, %v", since, got.ID, err)
		}
	}
	for key, since := range map[string]time.Time{"same": later(3).Add(time.Microsecond), "another": at, "": at} {
		_, err := s.SampleByKey(t.Context(), "a", key, since)
		wantCode(t, fmt.Sprintf("the key %q since %v", key, since), err, callwright.CodeNotFound)
	}
}

func listsSamples(t reporter, s samples) {
	s.wantList(t, "a", "", enough, 0, 0)
	s.insert(t, aSample("s2", "a", "v1", 5), aSample("s4", "a", "v2", 1), aSample("s1", "a", "v1", 5), aSample("s3", "a", "v3", 5),
		aSample("s5", "a", "v1", 9), aSample("s6", "b", "v1", 7))
	s.wantList(t, "a", "", enough, 0, 5, "s5", "s3", "s2", "s1", "s4")
	s.wantList(t, "b", "", enough, 0, 1, "s6")
}

func listsVoice(t reporter, s samples) {
	s.insert(t, aSample("s1", "a", "v1", 1), aSample("s2", "a", "v2", 2), aSample("s3", "a", "v1", 3), aSample("s4", "a", "V1", 4), aSample("s5", "b", "v1", 5))
	s.wantList(t, "a", "v1", enough, 0, 2, "s3", "s1")
	s.wantList(t, "a", "v2", enough, 0, 1, "s2")
	s.wantList(t, "a", "v3", enough, 0, 0)
	s.wantList(t, "a", "v1", 1, 1, 2, "s1")
}

func pagesSamples(t reporter, s samples) {
	for i := range 5 {
		s.insert(t, aSample(fmt.Sprint("s", i), "a", "v1", i/2))
	}
	for _, voice := range []string{"", "v1"} {
		s.wantList(t, "a", voice, 2, 0, 5, "s4", "s3")
		s.wantList(t, "a", voice, 2, 2, 5, "s2", "s1")
		s.wantList(t, "a", voice, 2, 4, 5, "s0")
		s.wantList(t, "a", voice, 2, 5, 5)
		s.wantList(t, "a", voice, 2, 1_000_000, 5)
	}
}

func countsSamples(t reporter, s samples) {
	for i := range 6 {
		s.insert(t, aSample(fmt.Sprint("s", i), "a", fmt.Sprint("v", i%2), i))
	}
	s.insert(t, aSample("s6", "b", "v0", 6))
	s.wantList(t, "a", "", 1, 0, 6, "s5")
	s.wantList(t, "a", "v0", 1, 0, 3, "s4")
	s.delete(t, later(3), enough, "s0", "s1", "s2")
	s.wantList(t, "a", "", 1, 0, 3, "s5")
	s.wantList(t, "a", "v0", 1, 0, 1, "s4")
	s.wantList(t, "b", "v0", 1, 0, 1, "s6")
	s.delete(t, later(9), enough, "s3", "s4", "s5", "s6")
	s.wantList(t, "a", "", 1, 0, 0)
	s.wantList(t, "b", "", 1, 0, 0)
	s.insert(t, aSample("s7", "a", "v0", 7))
	s.wantList(t, "a", "v0", 1, 0, 1, "s7")
}

// countsManyAtOnce inserts samples while others are deleted. Afterwards the totals must equal the numbers of remaining samples.
func countsManyAtOnce(t reporter, s samples) {
	const many = 24
	errs := atOnce(many, func(i int) error {
		if i%4 == 3 {
			_, err := s.DeleteSamples(t.Context(), later(many/2), 3)
			return err
		}
		return s.InsertSample(t.Context(), aSample(fmt.Sprintf("s%02d", i), callwright.OrgID(fmt.Sprint("o", i%2)), fmt.Sprint("v", i%3), i))
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, org := range []callwright.OrgID{"o0", "o1"} {
		for _, voice := range []string{"", "v0", "v1", "v2"} {
			list, total, err := s.ListSamples(t.Context(), org, voice, enough, 0)
			if err != nil || total != len(list) {
				t.Errorf("%s with the voice %q has %d samples, and says %d, %v", org, voice, len(list), total, err)
			}
		}
	}
}

func deletesOne(t reporter, s samples) {
	s.insert(t, aSample("s1", "a", "v1", 1), aSample("s2", "a", "v1", 2), aSample("s3", "b", "v1", 3))
	for _, org := range []callwright.OrgID{"b", ""} {
		wantCode(t, "to delete another organization's sample", s.DeleteSample(t.Context(), org, "s1"), callwright.CodeNotFound)
	}
	s.want(t, aSample("s1", "a", "v1", 1))
	const many = 8
	var mu sync.Mutex
	deleted := 0
	errs := atOnce(many, func(int) error {
		err := s.DeleteSample(t.Context(), "a", "s1")
		if errors.Is(err, callwright.ErrNotFound) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		deleted++
		return err
	})
	if err := errors.Join(errs...); err != nil || deleted != 1 {
		t.Errorf("%d of %d calls deleted the sample, %v", deleted, many, err)
	}
	wantCode(t, "to delete it again", s.DeleteSample(t.Context(), "a", "s1"), callwright.CodeNotFound)
	_, err := s.Sample(t.Context(), "a", "s1")
	wantCode(t, "the deleted sample", err, callwright.CodeNotFound)
	_, err = s.SampleByKey(t.Context(), "a", "ks1", at)
	wantCode(t, "the deleted sample by its key", err, callwright.CodeNotFound)
	s.wantUsed(t, "a", "bs1", false)
	s.wantList(t, "a", "", enough, 0, 1, "s2")
	s.wantList(t, "a", "v1", enough, 0, 1, "s2")
	s.wantList(t, "b", "v1", enough, 0, 1, "s3")
	failed := errors.New("failed")
	err = s.atomic.Do(t.Context(), func(ctx context.Context) error { return errors.Join(s.DeleteSample(ctx, "a", "s2"), failed) })
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	s.wantList(t, "a", "v1", enough, 0, 1, "s2")
}

func deletesOldest(t reporter, s samples) {
	for i, org := range []callwright.OrgID{"b", "a", "a", "b", "a"} {
		s.insert(t, aSample(fmt.Sprint("s", i), org, "v1", i))
	}
	s.delete(t, at, enough)
	s.delete(t, later(4), 2, "s0", "s1")
	s.delete(t, later(4), enough, "s2", "s3")
	s.delete(t, later(4), enough)
	_, err := s.Sample(t.Context(), "a", "s1")
	wantCode(t, "a deleted sample", err, callwright.CodeNotFound)
	s.want(t, aSample("s4", "a", "v1", 4))
}

// deletesOnce calls DeleteSamples concurrently. Each sample must be returned by exactly one call.
func deletesOnce(t reporter, s samples) {
	const many = 40
	for i := range many {
		s.insert(t, aSample(fmt.Sprintf("s%02d", i), callwright.OrgID(fmt.Sprint("o", i%3)), "v1", i))
	}
	var mu sync.Mutex
	seen := map[string]int{}
	errs := atOnce(6, func(int) error {
		for range many {
			got, err := s.DeleteSamples(t.Context(), later(many), 7)
			if err != nil || len(got) == 0 {
				return err
			}
			if len(got) > 7 {
				t.Errorf("at most 7 are %d", len(got))
			}
			mu.Lock()
			for _, one := range got {
				seen[one.ID]++
			}
			mu.Unlock()
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for id, n := range seen {
		if n > 1 {
			t.Errorf("%s was deleted %d times", id, n)
		}
	}
	left, _ := s.DeleteSamples(t.Context(), later(many), enough)
	if len(seen)+len(left) != many {
		t.Errorf("%d of %d were deleted", len(seen)+len(left), many)
	}
}

func tellsUse(t reporter, s samples) {
	for i := range 2 {
		one := aSample(fmt.Sprint("s", i), "a", "v1", i)
		one.Blob = "shared"
		s.insert(t, one)
	}
	s.wantUsed(t, "a", "shared", true)
	s.wantUsed(t, "a", "other", false)
	s.wantUsed(t, "b", "shared", false)
	s.delete(t, later(1), 1, "s0")
	s.wantUsed(t, "a", "shared", true)
	s.delete(t, later(2), 1, "s1")
	s.wantUsed(t, "a", "shared", false)
}

func rollsBackSamples(t reporter, s samples) {
	s.insert(t, aSample("s1", "a", "v1", 0))
	failed := errors.New("failed")
	err := s.atomic.Do(t.Context(), func(ctx context.Context) error {
		if err := s.InsertSample(ctx, aSample("s2", "a", "v1", 1)); err != nil {
			t.Error(err)
		}
		if list, total, err := s.ListSamples(ctx, "a", "v1", enough, 0); err != nil || total != 2 || len(list) != 2 {
			t.Errorf("the transaction sees %d of %d samples, %v", len(list), total, err)
		}
		if got, err := s.DeleteSamples(ctx, later(1), enough); err != nil || len(got) != 1 {
			t.Errorf("the transaction deletes %v, %v", ids(got), err)
		}
		if used, err := s.BlobUsed(ctx, "a", "bs1"); used || err != nil {
			t.Errorf("the transaction does not see that it has deleted: %v", err)
		}
		if _, err := s.SampleByKey(ctx, "a", "ks2", at); err != nil {
			t.Errorf("the transaction does not see what it has added: %v", err)
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	s.wantList(t, "a", "", enough, 0, 1, "s1")
	s.wantList(t, "a", "v1", enough, 0, 1, "s1")
	s.wantUsed(t, "a", "bs1", true)
}
