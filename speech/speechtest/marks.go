package speechtest

import (
	"errors"
	"io"
	"math"
	"slices"
	"unicode"

	"github.com/callwright/callwright/speech/tts"
)

// marksWords checks that the marks of a text satisfy the rules of tts.Marker, at several rates and tempos, and that the words sound there.
func marksWords(t reporter, s synthesizer) {
	var ends []float64 // of the words at the first rate, in parts of the audio
	for i, r := range []tts.Request{
		{Rate: 8000}, {Rate: 48000}, {Rate: 8000, Prosody: tts.Prosody{Tempo: 1.25}}, {Rate: 16000, Prosody: tts.Prosody{Pitch: 1.25}},
	} {
		r.Text, r.Language = s.Long, s.Language
		audio, marks := sayMarked(t, s, r)
		if s.Marks {
			checkComplete(t, r.Text, marks)
		}
		for n, m := range marks {
			if level(audio[m.Start:m.End]) < 0.002 {
				t.Errorf("%+v: near silence at the mark %+v of %q", r.Prosody, m, string([]rune(r.Text)[m.From:m.To]))
			}
			part := float64(m.End) / float64(len(audio))
			if i == 0 {
				ends = append(ends, part)
			} else if n >= len(ends) || math.Abs(part-ends[n]) > 0.04 {
				t.Errorf("at %d samples a second, with %+v, %+v ends after %.2f of the audio, before it were %.2f", r.Rate, r.Prosody, m, part, ends)
				return
			}
		}
	}
	for _, text := range []string{"", " \n\t", "...", "a - b", "  one\ttwo  ", "déjà vu, naïve — café", "3.50 or 1,000, 50% of $5", "\"Yes!\" (no)"} {
		_, _ = sayMarked(t, s, tts.Request{Text: text, Rate: 8000})
	}
}

// sayMarked returns the audio and the marks of a request, after it has checked the rules of tts.Marker.
func sayMarked(t reporter, s synthesizer, r tts.Request) ([]int16, []tts.Mark) {
	t.Helper()
	stream := &marked{Stream: begin(t.Context(), t, s, r)}
	defer func() { _ = stream.Close() }()
	audio, err := drain(stream, mostOf(r))
	switch clean := tts.CleanMarks(r.Text, stream.marks, len(audio)); {
	case !errors.Is(err, io.EOF):
		t.Fatalf("%q ends with %v, want io.EOF", r.Text, err)
	case stream.changed:
		t.Fatalf("%q: earlier marks have changed or disappeared; the last are %+v", r.Text, stream.marks)
	case !slices.Equal(clean, stream.marks):
		t.Fatalf("%q: of the marks %+v of %d samples, only %+v satisfy the rules", r.Text, stream.marks, len(audio), clean)
	}
	return audio, stream.marks
}

// marked is a stream whose marks are read after each Read.
type marked struct {
	tts.Stream

	marks   []tts.Mark
	changed bool // whether a result of Marks did not begin with the result before
}

// Read implements tts.Stream.
func (m *marked) Read(p []int16) (int, error) {
	n, err := m.Stream.Read(p)
	now := slices.Clone(tts.MarksOf(m.Stream))
	m.changed = m.changed || len(now) < len(m.marks) || !slices.Equal(now[:len(m.marks)], m.marks)
	m.marks = now
	return n, err
}

// checkComplete checks that every word of a text has a mark.
func checkComplete(t reporter, text string, marks []tts.Mark) {
	t.Helper()
	for i, r := range []rune(text) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		if !slices.ContainsFunc(marks, func(m tts.Mark) bool { return m.From <= i && i < m.To }) {
			t.Errorf("no mark for the character %d of %q, among %+v", i, text, marks)
			return
		}
	}
}
