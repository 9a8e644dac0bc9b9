package flite_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

func TestEngine(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	speechtest.RunEngine(t, speechtest.EngineHarness{
		New: func(t *testing.T) tts.Engine { return open(t, flite.Config{}) }, Features: speechtest.SpeechFeatures{Marks: true},
	})
}

func open(t *testing.T, config flite.Config) *flite.Synthesizer {
	t.Helper()
	s, err := flite.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestVoices(t *testing.T) {
	t.Parallel()
	s := open(t, flite.Config{})
	for _, voice := range []string{"slt", "rms", "awb", "kal16"} {
		if !slices.Contains(s.Describe().Names(), voice) {
			t.Errorf("no %s among %v", voice, s.Describe().Names())
		}
	}
	if slices.Contains(s.Describe().Names(), "awb_time") || s.Describe().Default != "slt" {
		t.Errorf("default %s of %v", s.Describe().Default, s.Describe().Names())
	}
	if v := open(t, flite.Config{Voice: "rms"}).Describe().Default; v != "rms" {
		t.Errorf("configured rms, speaks %s", v)
	}
}

func TestNewRefuses(t *testing.T) { //nolint:paralleltest // a fork elsewhere would keep the script busy
	_, err := flite.New(flite.Config{Path: filepath.Join(t.TempDir(), "flite")})
	if callwright.CodeOf(err) != callwright.CodeUnavailable || !strings.Contains(err.Error(), "apt-get install flite") {
		t.Errorf("no program: %v", err)
	}
	if _, err := flite.New(flite.Config{Voice: "nobody"}); callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("no such voice: %v", err)
	}
	if _, err := flite.New(flite.Config{Path: enginetest.Script(t, "flite", "exit 3")}); callwright.CodeOf(err) != callwright.CodeUnavailable {
		t.Errorf("a program that fails: %v", err)
	}
	if _, err := flite.New(flite.Config{Path: enginetest.Script(t, "flite", "echo 'Voices available: '")}); callwright.CodeOf(err) != callwright.CodeUnavailable {
		t.Errorf("a program without voices: %v", err)
	}
}

func TestProgramThatFailsMidway(t *testing.T) { //nolint:paralleltest // a fork elsewhere would keep the script busy
	for name, body := range map[string]string{
		"dies":           "echo secret detail >&2; exit 1",
		"writes no WAV":  `echo nonsense > "$6"`,
		"writes nothing": "exit 0",
	} {
		s := open(t, flite.Config{Path: enginetest.Script(t, "flite", `test "$1" = -lv && { echo "Voices available: slt"; exit 0; }; `+body)})
		_, err := speechtest.Speak(t.Context(), s, tts.Request{Text: "Hello", Rate: 8000})
		if callwright.CodeOf(err) != callwright.CodeUnavailable || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLanguageAndOddText(t *testing.T) {
	t.Parallel()
	s := open(t, flite.Config{})
	if _, err := speechtest.Speak(t.Context(), s, tts.Request{Text: "Guten Tag", Language: "de-DE", Rate: 8000}); callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("German: %v", err)
	}
	for _, text := range []string{"-lv", "/etc/passwd", "$(reboot) `id`; \"x\"", "Zoë’s café – 你好 \x00\x01", "...", "&<>"} {
		if _, err := speechtest.Speak(t.Context(), s, tts.Request{Text: text, Rate: 8000}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSaysTheWords(t *testing.T) {
	t.Parallel()
	s := open(t, flite.Config{})
	wide, narrow := audio(t, s, 16000, "Your appointment is on Tuesday."), audio(t, s, 8000, "Your appointment is on Tuesday.")
	m, err := pcm.Compare(wide, 16000, narrow, 8000)
	if err != nil || m.Distance > 0.05 {
		t.Errorf("distance %.3f between two rates of one sentence, %v", m.Distance, err)
	}
	m, err = pcm.Compare(wide, 16000, audio(t, s, 8000, "Zoe's cafe opens at nine in the morning."), 8000)
	if err != nil || m.Distance < pcm.SameSpeech {
		t.Errorf("distance %.3f between two sentences, %v", m.Distance, err)
	}
	// Letters with an accent must sound like the letters without it.
	m, err = pcm.Compare(audio(t, s, 8000, "Zoë’s café opens at nine in the morning."), 8000, audio(t, s, 8000, "Zoe's cafe opens at nine in the morning."), 8000)
	if err != nil || m.Distance > 0.01 {
		t.Errorf("distance %.3f with accents, %v", m.Distance, err)
	}
}

// TestSaysTheLastSentence checks that a short last sentence is spoken. flite omits it if the text does not end with a line break.
func TestSaysTheLastSentence(t *testing.T) {
	t.Parallel()
	s := open(t, flite.Config{})
	without, with := audio(t, s, 8000, "No, thank you."), audio(t, s, 8000, "No, thank you. Goodbye.")
	if len(with) < len(without)+4000 {
		t.Errorf("%d samples with a second sentence, %d without", len(with), len(without))
	}
	m, err := pcm.Compare(audio(t, s, 8000, "Goodbye."), 8000, with, 8000)
	if err != nil || m.Distance > pcm.SameSpeech {
		t.Errorf("the second sentence is not there: distance %.3f, %v", m.Distance, err)
	}
}

func audio(t *testing.T, s *flite.Synthesizer, rate int, text string) []int16 {
	t.Helper()
	out, err := speechtest.Speak(t.Context(), s, tts.Request{Text: text, Rate: rate})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// BenchmarkFirstSample measures the time until the first samples of a sentence are available.
func BenchmarkFirstSample(b *testing.B) {
	s, err := flite.New(flite.Config{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		stream, err := s.Synthesize(b.Context(), tts.Request{Text: "Your appointment is on Tuesday at half past nine.", Rate: 8000})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := stream.Read(make([]int16, 160)); err != nil {
			b.Fatal(err)
		}
		_ = stream.Close()
	}
}

// TestOutputIsNoFile replaces flite with a program that creates a pipe, a link, a folder or a huge file as its output. The synthesis must
// return CodeUnavailable, because reading such an output would block or exhaust the memory.
func TestOutputIsNoFile(t *testing.T) { //nolint:paralleltest // a fork elsewhere would keep the script busy
	for name, body := range map[string]string{
		"a pipe": `mkfifo "$6"`, "a link": `ln -s /dev/zero "$6"`, "a folder": `mkdir "$6"`, "a huge file": `truncate -s 100M "$6"`,
	} {
		s := open(t, flite.Config{Path: enginetest.Script(t, "flite", `test "$1" = -lv && { echo "Voices available: slt"; exit 0; }; `+body)})
		_, err := speechtest.Speak(t.Context(), s, tts.Request{Text: "Hello", Rate: 8000})
		if callwright.CodeOf(err) != callwright.CodeUnavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}
