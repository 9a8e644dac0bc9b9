package speechtest_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

// TestRunEngineCatchesWrongMarks checks that the suite fails an engine whose marks break a rule of tts.Marker.
func TestRunEngineCatchesWrongMarks(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]func(r tts.Request, m []tts.Mark) []tts.Mark{
		"none":             func(tts.Request, []tts.Mark) []tts.Mark { return nil },
		"a missing word":   func(_ tts.Request, m []tts.Mark) []tts.Mark { return slices.Delete(m, len(m)/2, len(m)/2+1) },
		"out of order":     func(_ tts.Request, m []tts.Mark) []tts.Mark { slices.Reverse(m); return m },
		"beyond the audio": func(_ tts.Request, m []tts.Mark) []tts.Mark { m[len(m)-1].End += 10000; return m },
		"beyond the text":  func(_ tts.Request, m []tts.Mark) []tts.Mark { m[len(m)-1].To += 2; return m },
		"within a word":    func(_ tts.Request, m []tts.Mark) []tts.Mark { m[0].To--; return m },
		"empty":            func(_ tts.Request, m []tts.Mark) []tts.Mark { m[1].End = m[1].Start; return m },
		"overlapping":      func(_ tts.Request, m []tts.Mark) []tts.Mark { m[1].Start = m[0].End - 1; return m },
		"twice":            func(_ tts.Request, m []tts.Mark) []tts.Mark { return slices.Insert(m, 1, m[0]) },
		"bytes for runes":  func(r tts.Request, m []tts.Mark) []tts.Mark { return inBytes(r.Text, m) },
		"of another rate":  func(r tts.Request, m []tts.Mark) []tts.Mark { return scaled(m, 8000/float64(r.Rate)) },
		"of another tempo": func(r tts.Request, m []tts.Mark) []tts.Mark { return scaled(m, max(r.Prosody.Tempo, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				newEngine := func() tts.Engine {
					return &speechtest.Engine{Mark: func(r tts.Request, m []tts.Mark) []tts.Mark {
						if len(m) < 2 {
							return m
						}
						return wrong(r, m)
					}}
				}
				failed := speechtest.CheckEngine(t.Context(), newEngine, speechtest.SpeechFeatures{Marks: true})
				if len(failed) != 1 || len(failed["marks"]) == 0 {
					t.Errorf("fails %q", failed)
				}
			})
		})
	}
}

// inBytes returns marks whose places in the text count bytes.
func inBytes(text string, marks []tts.Mark) []tts.Mark {
	runes := []rune(text)
	for i, m := range marks {
		marks[i].From, marks[i].To = len(string(runes[:m.From])), len(string(runes[:m.To]))
	}
	return marks
}

// scaled returns marks whose samples are multiplied by a factor.
func scaled(marks []tts.Mark, factor float64) []tts.Mark {
	for i, m := range marks {
		marks[i].Start, marks[i].End = int(float64(m.Start)*factor), int(float64(m.End)*factor)
	}
	return marks
}
