package speech_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
)

func contextThatEnds(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

func TestSamples(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		var ids []string
		for i, voice := range []string{"ada", "ben", "ada"} {
			ids = append(ids, h.say(org, speech.Request{Text: strings.Repeat("Hello ", i+1), Voice: voice}).ID)
			h.sleep(time.Second)
		}
		for _, c := range []struct {
			query speech.SampleQuery
			total int
			want  string
		}{
			{speech.SampleQuery{}, 3, ids[2] + ids[1] + ids[0]},
			{speech.SampleQuery{Limit: 1, Offset: 1}, 3, ids[1]},
			{speech.SampleQuery{Voice: "ADA", Limit: 10}, 2, ids[2] + ids[0]},
			{speech.SampleQuery{Voice: "nobody", Limit: 10}, 0, ""},
			{speech.SampleQuery{Limit: 10, Offset: 1000}, 3, ""},
		} {
			list, err := h.Samples(t.Context(), org, c.query)
			var got []string
			for _, s := range list.Samples {
				got = append(got, s.ID)
			}
			if err != nil || list.Total != c.total || strings.Join(got, "") != c.want {
				t.Errorf("%+v gives %d of %d, %v", c.query, len(list.Samples), list.Total, err)
			}
		}
		for _, q := range []speech.SampleQuery{{Limit: -1}, {Limit: 101}, {Limit: 1, Offset: -1}, {Limit: 1, Offset: speech.MaxOffset + 1}} {
			_, err := h.Samples(t.Context(), org, q)
			wantError(t, "the list", err, callwright.CodeBadRequest, "")
		}
		_, err := h.Sample(t.Context(), other, ids[0])
		wantError(t, "a foreign sample", err, callwright.CodeNotFound, "")
		_, err = h.Audio(t.Context(), other, ids[0])
		wantError(t, "foreign audio", err, callwright.CodeNotFound, "")
		delete(h.blobs.kept, blobName{org, mustSample(t, h, ids[0]).Blob})
		_, err = h.Audio(t.Context(), org, ids[0])
		wantError(t, "lost audio", err, callwright.CodeUnavailable, "")
	})
}

func mustSample(t *testing.T, h *house, id string) speech.Sample {
	t.Helper()
	s, err := h.Sample(t.Context(), org, id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLinks(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		one, two := h.say(org, speech.Request{Text: greeting}), h.say(other, speech.Request{Text: greeting})
		link := h.Link(one)
		audio, err := h.Linked(t.Context(), link)
		if err != nil || audio.ID != one.ID {
			t.Fatalf("the link leads to %+v, %v", audio.Sample, err)
		}
		foreign := h.Link(two)
		for what, change := range map[string]func(l *speech.Link){
			"the sample":             func(l *speech.Link) { l.Sample = two.ID },
			"the end":                func(l *speech.Link) { l.Expires = l.Expires.Add(time.Second) },
			"the signature":          func(l *speech.Link) { l.Signature = l.Signature[:len(l.Signature)-2] + "AA" },
			"the organization":       func(l *speech.Link) { l.Signature = "Yg" + l.Signature[2:] },
			"another's signature":    func(l *speech.Link) { l.Signature = foreign.Signature },
			"no signature":           func(l *speech.Link) { l.Signature = "" },
			"a signature of nothing": func(l *speech.Link) { l.Signature = "." },
			"no base64":              func(l *speech.Link) { l.Signature = "%%%.%%%" },
		} {
			bad := link
			change(&bad)
			_, err := h.Linked(t.Context(), bad)
			wantError(t, what, err, callwright.CodeNotFound, "")
		}
		h.sleep(24 * time.Hour)
		_, err = h.Linked(t.Context(), link)
		wantError(t, "an expired link", err, callwright.CodeNotFound, "")
	})
}

// TestSweep checks that samples are deleted after the retention period, and that audio is deleted together with the last sample that uses
// it.
func TestSweep(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		first := h.say(org, speech.Request{Text: greeting})
		h.sleep(89 * 24 * time.Hour)
		second := h.say(org, speech.Request{Text: greeting})
		if second.Blob != first.Blob {
			t.Fatal("the second has audio of its own")
		}
		h.sleep(2 * 24 * time.Hour)
		_, err := h.Sample(t.Context(), org, first.ID)
		wantError(t, "the first", err, callwright.CodeNotFound, "")
		h.read(org, second.ID)
		h.sleep(89 * 24 * time.Hour)
		if h.total(org) != 0 || h.blobs.count() != 0 {
			t.Errorf("%d samples and %d files are left", h.total(org), h.blobs.count())
		}
	})
}

// TestLostAudioIsRemoved checks that stored audio is deleted later if its sample could not be stored.
func TestLostAudioIsRemoved(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		_, err := h.Speak(t.Context(), org, speech.Request{Text: greeting})
		wantError(t, "no place for the sample", err, callwright.CodeUnavailable, "")
		if h.blobs.count() != 1 {
			t.Fatalf("%d files", h.blobs.count())
		}
		h.sleep(2 * time.Hour)
		if h.blobs.count() != 0 {
			t.Error("the file is still there")
		}
	}, func(_ *house, c *speech.Config) { c.Samples = closed{c.Samples} })
}

// closed is a Samples that refuses to insert samples.
type closed struct{ speech.Samples }

func (closed) InsertSample(context.Context, speech.Sample) error { return callwright.ErrUnavailable }

// TestDeleteSample checks that the links to a deleted sample become invalid, and that audio is deleted together with the last sample that
// uses it.
func TestDeleteSample(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		first, second := h.say(org, speech.Request{Text: greeting}), h.say(org, speech.Request{Text: greeting})
		if second.Blob != first.Blob {
			t.Fatal("the second has audio of its own")
		}
		links := []speech.Link{h.Link(first), h.Link(second)}
		wantError(t, "a foreign one", h.DeleteSample(t.Context(), other, first.ID), callwright.CodeNotFound, "")
		wantError(t, "an absent one", h.DeleteSample(t.Context(), org, "none"), callwright.CodeNotFound, "")
		h.read(org, first.ID)
		for i, s := range []speech.Sample{first, second} {
			if err := h.DeleteSample(t.Context(), org, s.ID); err != nil {
				t.Fatal(err)
			}
			wantError(t, "again", h.DeleteSample(t.Context(), org, s.ID), callwright.CodeNotFound, "")
			_, err := h.Sample(t.Context(), org, s.ID)
			wantError(t, "the deleted", err, callwright.CodeNotFound, "")
			_, err = h.Linked(t.Context(), links[i])
			wantError(t, "its link", err, callwright.CodeNotFound, "")
			h.sleep(time.Minute)
			if want := 1 - i; h.total(org) != want || h.blobs.count() != want {
				t.Errorf("%d samples and %d files are left, want %d", h.total(org), h.blobs.count(), want)
			}
		}
		h.read(org, h.say(org, speech.Request{Text: greeting}).ID) // the text is synthesized again
	})
}

// TestDeletedWhileRepeated deletes a sample and its audio after a second request has found the sample by its key. The second request must
// synthesize the text again.
func TestDeletedWhileRepeated(t *testing.T) {
	t.Parallel()
	s := new(deletedSamples)
	inHouse(t, func(t *testing.T, h *house) {
		first := h.say(org, speech.Request{Text: greeting})
		s.found = func() {
			if err := h.DeleteSample(t.Context(), org, first.ID); err != nil {
				t.Error(err)
			}
			h.sleep(time.Minute)
			if h.blobs.count() != 0 {
				t.Error("the audio is still there")
			}
		}
		second := h.say(org, speech.Request{Text: greeting})
		h.read(org, second.ID)
		if s.found != nil || second.Blob == first.Blob || h.total(org) != 1 {
			t.Errorf("the second is %+v of %d", second, h.total(org))
		}
	}, func(_ *house, c *speech.Config) { s.Samples, c.Samples = c.Samples, s })
}

// deletedSamples calls the function found once, after SampleByKey has found a sample.
type deletedSamples struct {
	speech.Samples

	found func()
}

func (s *deletedSamples) SampleByKey(ctx context.Context, org callwright.OrgID, key string, since time.Time) (speech.Sample, error) {
	found, err := s.Samples.SampleByKey(ctx, org, key, since)
	if then := s.found; then != nil && err == nil {
		s.found = nil
		then()
	}
	return found, err
}
