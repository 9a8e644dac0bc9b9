package flite_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// marked returns the audio and the marks of a request.
func marked(t *testing.T, s *flite.Synthesizer, r tts.Request) (audio []int16, marks []tts.Mark) {
	t.Helper()
	stream, err := s.Synthesize(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	buffer := make([]int16, 4096)
	for err == nil {
		var n int
		n, err = stream.Read(buffer)
		audio = append(audio, buffer[:n]...)
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return audio, tts.MarksOf(stream)
}

// TestMarksOfWords checks which characters the marks of a text contain. Numbers, abbreviations and signs are one word, however many words
// flite speaks. Punctuation without words has no mark.
func TestMarksOfWords(t *testing.T) {
	t.Parallel()
	s := open(t, flite.Config{})
	for text, want := range map[string]string{
		"Good morning, Dr. Smith.":            "Good|morning,|Dr.|Smith.",
		"It's $5.20 or 50 %, call 555-0123.":  "It's|$5.20|or|50|%,|call|555-0123.",
		"  \"Yes!\" she said - (again).\n":    "\"Yes!\"|she|said|(again).",
		"Due on May 3rd, 2024 at 3:30 p.m.":   "Due|on|May|3rd,|2024|at|3:30|p.m.",
		"Naïve Zoë — like me — pays 30€ now":  "Naïve|Zoë|like|me|pays|30|€|now",
		"你好 Łódź and twenty-five… or 5×7":     "Łódź|and|twenty-five…|or|5|×|7",
		"Write to info@example.com or FBI":    "Write|to|info@example.com|or|FBI",
		"One. Two! Three? Four: five; six":    "One.|Two!|Three?|Four:|five;|six",
		"a the an of to a the an of to a the": "a|the|an|of|to|a|the|an|of|to|a|the",
		strings.Repeat("who knows why ", 40):  strings.TrimSuffix(strings.Repeat("who|knows|why|", 40), "|"),
		"":                                    "",
		"... - ...":                           "",
		strings.Repeat("1", 40):               strings.Repeat("1", 40),
	} {
		_, marks := marked(t, s, tts.Request{Text: text, Rate: 8000})
		var words []string
		for _, m := range marks {
			words = append(words, string([]rune(text)[m.From:m.To]))
		}
		if got := strings.Join(words, "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestMarksMatchTheAudio compares the marks with the pauses of the audio: a word after a pause begins where its sound begins, and a word
// before a pause ends where its sound ends. The diphone voices are left out, because they add noise to pauses.
func TestMarksMatchTheAudio(t *testing.T) {
	t.Parallel()
	const text, rate, tolerance = "Ready, June, nineteen, May, lemon, arm, no, you, eleven, we. And, more, where, one.", 16000, 65 * 16
	s := open(t, flite.Config{})
	for _, r := range []tts.Request{
		{Voice: "slt"}, {Voice: "rms"}, {Voice: "awb"}, {Voice: "slt", Prosody: tts.Prosody{Tempo: 1.4}},
		{Voice: "rms", Prosody: tts.Prosody{Pitch: 1.3}}, {Voice: "slt", Prosody: tts.Prosody{Tempo: 0.7, Pitch: 0.8}},
	} {
		r.Text, r.Rate = text, rate
		audio, marks := marked(t, s, r)
		if len(marks) != 14 {
			t.Fatalf("%d marks", len(marks))
		}
		worst := 0
		for i, m := range marks[1:] {
			last := marks[i]
			middle := (last.End + m.Start) / 2
			early, late := middle+firstSound(audio[middle:])-m.Start, lastSound(audio[:middle])-last.End
			worst = max(worst, early, -early, late, -late)
		}
		t.Logf("%s %+v: at most %d ms from the sound", r.Voice, r.Prosody, worst*1000/rate)
		if worst > tolerance {
			t.Errorf("%s %+v: %d samples from the sound, marks %+v", r.Voice, r.Prosody, worst, marks)
		}
	}
}

// window is 5 ms of audio at 16 kHz.
const window = 80

// firstSound returns the beginning of the first audible window.
func firstSound(audio []int16) (at int) {
	for at+window <= len(audio) && pcm.Loudness(audio[at:at+window]) < -45 {
		at += window
	}
	return at
}

// lastSound returns the end of the last audible window.
func lastSound(audio []int16) int {
	at := len(audio)
	for at >= window && pcm.Loudness(audio[at-window:at]) < -45 {
		at -= window
	}
	return at
}

// TestSpeaksWithoutMarks checks that a failure of the process that pronounces the words costs only the marks.
func TestSpeaksWithoutMarks(t *testing.T) { //nolint:paralleltest // a fork elsewhere would keep the script busy
	for name, body := range map[string]string{
		"fails": "exit 1", "prints nothing": "exit 0", "prints other lines": "echo pau; echo pau; echo pau",
	} {
		s := open(t, flite.Config{Path: enginetest.Script(t, "flite", `case "$*" in *" -ps") `+body+`;; *) exec flite "$@";; esac`)})
		audio, marks := marked(t, s, tts.Request{Text: "Good morning.", Rate: 8000})
		if len(audio) < 4000 || len(marks) > 0 {
			t.Errorf("%s: %d samples, marks %+v", name, len(audio), marks)
		}
	}
}
