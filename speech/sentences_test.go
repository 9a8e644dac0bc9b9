package speech_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/tts"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"one":        {"Hello.", []string{"Hello."}},
		"short ones": {"Yes. No. Perhaps.", []string{"Yes. No. Perhaps."}},
		"long ones": {
			strings.Repeat("word ", 20) + "ends. " + strings.Repeat("more ", 20) + "ends.",
			[]string{strings.Repeat("word ", 20) + "ends.", strings.Repeat("more ", 20) + "ends."},
		},
		"a clause is not cut off": {"Thank you for calling the bakery, this is Ada.", []string{"Thank you for calling the bakery, this is Ada."}},
	} {
		if got := speech.Sentences(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// FuzzSentences checks that the pieces contain all words of a text in order, and that an engine accepts each piece.
func FuzzSentences(f *testing.F) {
	f.Add("Yes. No, thank you! Dr. Smith is in.\n\nOne more… and 。 the end")
	f.Add(strings.Repeat("x", 1000) + " " + strings.Repeat("a, ", 300))
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		pieces := speech.Sentences(text)
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := bare(strings.Join(pieces, "")); got != bare(text) {
			t.Errorf("%q becomes %q", text, pieces)
		}
		for _, p := range pieces {
			if err := (tts.Request{Text: p, Rate: 8000}).Check(); err != nil || strings.TrimSpace(p) == "" {
				t.Errorf("the piece %q of %q: %v", p, text, err)
			}
		}
	})
}
