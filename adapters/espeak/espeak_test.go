package espeak_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/espeak"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

func TestEngine(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	speechtest.RunEngine(t, speechtest.EngineHarness{New: func(t *testing.T) tts.Engine { return open(t, espeak.Config{}) }})
}

func open(t *testing.T, config espeak.Config) *espeak.Synthesizer {
	t.Helper()
	s, err := espeak.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNewRefuses(t *testing.T) { //nolint:paralleltest // a fork elsewhere would keep the script busy
	_, err := espeak.New(espeak.Config{Path: filepath.Join(t.TempDir(), "espeak-ng")})
	if callwright.CodeOf(err) != callwright.CodeUnavailable || !strings.Contains(err.Error(), "apt-get install espeak-ng") {
		t.Errorf("no program: %v", err)
	}
	if _, err := espeak.New(espeak.Config{Voice: "nobody"}); callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("no such voice: %v", err)
	}
	if _, err := espeak.New(espeak.Config{Path: enginetest.Script(t, "espeak-ng", "exit 3")}); callwright.CodeOf(err) != callwright.CodeUnavailable {
		t.Errorf("a program that fails: %v", err)
	}
}

func TestListsOnlyVoicesThatSpeak(t *testing.T) { //nolint:paralleltest // a fork elsewhere would keep the script busy
	s := open(t, espeak.Config{Path: enginetest.Script(t, "espeak-ng", `cat <<END
Pty Language       Age/Gender VoiceName          File                 Other Languages
 5  en-us           --/M      us-mbrola-2        mb/mb-us2            (en 7)
 2  en-us           --/M      English_(America)  gmw/en-US            (en 3)
 5  pt-BR           --/M      Portuguese         roa/pt-BR
 5  sw              --/M      needs-mbrola       mb/mb-sw1

END`)})
	if got := s.Describe().Names(); !slices.Equal(got, []string{"en-us", "pt-br"}) {
		t.Errorf("voices %v", got)
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	s := open(t, espeak.Config{})
	tests := map[string]struct {
		language string
		ok       bool
	}{
		"none":            {"", true},
		"exact":           {"pt-BR", true},
		"region unknown":  {"de-CH", true},
		"only by region":  {"en", true},
		"unknown":         {"tlh", false},
		"looks like flag": {"--version", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := speechtest.Speak(t.Context(), s, tts.Request{Text: "Hotel", Language: tt.language, Rate: 8000})
			if tt.ok != (err == nil) || !tt.ok && callwright.CodeOf(err) != callwright.CodeBadRequest {
				t.Errorf("language %q: %v", tt.language, err)
			}
		})
	}
}

func TestOddText(t *testing.T) {
	t.Parallel()
	s := open(t, espeak.Config{})
	for _, text := range []string{"--version", "/etc/passwd", "$(reboot) `id`", "Zoë’s café – 你好 \x00\x01\x02", "<speak>", "..."} {
		if _, err := speechtest.Speak(t.Context(), s, tts.Request{Text: text, Rate: 8000}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestSpeaksBrackets checks that text in double brackets, eSpeak's notation of phonemes, is spoken as ordinary text.
func TestSpeaksBrackets(t *testing.T) {
	t.Parallel()
	s := open(t, espeak.Config{})
	length := func(text string) int {
		t.Helper()
		audio, err := speechtest.Speak(t.Context(), s, tts.Request{Text: text, Rate: 8000})
		if err != nil {
			t.Fatal(err)
		}
		return len(audio)
	}
	if marked, said := length("See [[Home Page]] now."), length("See Home Page now."); marked < said*9/10 {
		t.Errorf("%d samples with brackets, %d without", marked, said)
	}
	if marked, said := length("[[[[h@l0U]]]]"), length("hello"); marked == said {
		t.Error("phonemes are obeyed")
	}
}
