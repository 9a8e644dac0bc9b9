package tts_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/callwright/callwright/speech/tts"
)

func TestCleanMarks(t *testing.T) {
	t.Parallel()
	const text = "One, twenty-five «déjà» 你好吗."
	for name, c := range map[string]struct{ given, want []tts.Mark }{
		"good":             {[]tts.Mark{{0, 3, 0, 10}, {5, 16, 20, 30}, {18, 22, 30, 40}}, []tts.Mark{{0, 3, 0, 10}, {5, 16, 20, 30}, {18, 22, 30, 40}}},
		"no spaces":        {[]tts.Mark{{24, 26, 0, 10}, {26, 27, 10, 20}}, []tts.Mark{{24, 26, 0, 10}, {26, 27, 10, 20}}},
		"hyphen":           {[]tts.Mark{{5, 11, 0, 10}, {12, 16, 10, 20}}, []tts.Mark{{5, 11, 0, 10}, {12, 16, 10, 20}}},
		"parts of a word":  {[]tts.Mark{{18, 20, 0, 10}, {20, 22, 10, 20}}, []tts.Mark{{18, 22, 0, 20}}},
		"within a word":    {[]tts.Mark{{1, 2, 0, 10}}, []tts.Mark{{0, 3, 0, 10}}},
		"beyond the text":  {[]tts.Mark{{-1, 3, 0, 10}, {0, 3, 0, 10}, {18, 29, 20, 30}}, []tts.Mark{{0, 3, 0, 10}}},
		"beyond the audio": {[]tts.Mark{{0, 3, -1, 10}, {5, 16, 90, 110}, {18, 22, 100, 120}}, []tts.Mark{{5, 16, 90, 100}}},
		"empty":            {[]tts.Mark{{3, 3, 0, 10}, {0, 3, 10, 10}, {3, 0, 0, 10}, {0, 3, 10, 0}}, nil},
		"audio backward":   {[]tts.Mark{{0, 3, 50, 60}, {5, 16, 20, 30}, {18, 22, 60, 70}}, []tts.Mark{{0, 3, 50, 60}, {18, 22, 60, 70}}},
		"text backward":    {[]tts.Mark{{5, 16, 0, 10}, {0, 3, 10, 20}, {18, 22, 60, 70}}, []tts.Mark{{5, 16, 0, 10}, {18, 22, 60, 70}}},
		"overlapping":      {[]tts.Mark{{0, 3, 0, 30}, {5, 16, 20, 40}}, []tts.Mark{{0, 3, 0, 20}, {5, 16, 20, 40}}},
		"twice":            {[]tts.Mark{{0, 3, 0, 30}, {0, 3, 0, 30}, {0, 3, 40, 50}}, []tts.Mark{{0, 3, 0, 50}}},
	} {
		if got := tts.CleanMarks(text, c.given, 100); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	many := slices.Repeat([]tts.Mark{{0, 3, 0, 10}}, 1000)
	if got := tts.CleanMarks("", many, 100); got != nil {
		t.Errorf("an empty text has %+v", got)
	}
}

// checkMarks checks the rules of tts.Marker.
func checkMarks(t *testing.T, text string, marks []tts.Mark, samples int) {
	t.Helper()
	at, played := 0, 0
	for _, m := range marks {
		if m.From < at || m.To <= m.From || m.To > utf8.RuneCountInString(text) || m.Start < played || m.End <= m.Start || m.End > samples {
			t.Fatalf("marks of %q: %+v", text, marks)
		}
		at, played = m.To, m.End
	}
	if again := tts.CleanMarks(text, marks, samples); !slices.Equal(again, marks) {
		t.Fatalf("marks of %q: %+v become %+v", text, marks, again)
	}
}

func randomMarks(random *rand.Rand) (marks []tts.Mark) {
	for range random.IntN(12) {
		m := tts.Mark{From: random.IntN(30) - 3, Start: random.IntN(120) - 10}
		m.To, m.End = m.From+random.IntN(9)-1, m.Start+random.IntN(40)-3
		if random.IntN(20) == 0 {
			m.End, m.To = math.MaxInt, math.MaxInt
		}
		marks = append(marks, m)
	}
	return marks
}

// TestCleanMarksRandomly checks that clean marks satisfy the rules of tts.Marker, whatever an engine returns, also after a Guide.
func TestCleanMarksRandomly(t *testing.T) {
	t.Parallel()
	const text = "An API, e.g. high-API déjà 你好"
	guide := tts.NewGuide([]tts.Pronunciation{
		{Word: "API", Spoken: "A P I"}, {Word: "e.g.", Spoken: "for example"}, {Word: "h", Spoken: "-", Inside: true}, {Word: "你", Spoken: "ni"},
	})
	for seed := range uint64(5000) {
		marks := randomMarks(rand.New(rand.NewPCG(seed, 1)))
		checkMarks(t, text, tts.CleanMarks(text, marks, 100), 100)
		s := tts.Styled(memory{marks}, tts.Prosody{}, guide)
		stream, err := s.Synthesize(t.Context(), tts.Request{Text: text, Rate: 8000})
		if err != nil {
			t.Fatal(err)
		}
		checkMarks(t, text, tts.MarksOf(stream), math.MaxInt)
	}
}

// memory is a Synthesizer that returns the same marks for each text.
type memory struct{ marks []tts.Mark }

func (m memory) Synthesize(ctx context.Context, _ tts.Request) (tts.Stream, error) {
	return tts.Samples(ctx, make([]int16, 100), m.marks...), nil
}

// TestStyledMarks checks that the marks of a rewritten text are those of the written words.
func TestStyledMarks(t *testing.T) {
	t.Parallel()
	guide := tts.NewGuide([]tts.Pronunciation{{Word: "API", Spoken: "A P I"}, {Word: "New York", Spoken: "NYC"}, {Word: "Zoë", Spoken: "Zowee"}})
	spoken := []tts.Mark{{0, 3, 0, 10}, {4, 5, 10, 20}, {6, 7, 20, 30}, {8, 9, 30, 40}, {11, 13, 50, 60}, {14, 17, 60, 70}, {18, 23, 75, 80}}
	s := tts.Styled(memory{spoken}, tts.Prosody{}, guide)
	stream, err := s.Synthesize(t.Context(), tts.Request{Text: "The API, in New York Zoë.", Rate: 8000}) // "The A P I, in NYC Zowee."
	if err != nil {
		t.Fatal(err)
	}
	want := []tts.Mark{{0, 3, 0, 10}, {4, 7, 10, 40}, {9, 11, 50, 60}, {12, 20, 60, 70}, {21, 24, 75, 80}}
	if got := tts.MarksOf(stream); !slices.Equal(got, want) {
		t.Errorf("marks %+v, want %+v", got, want)
	}
}
