package words_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/callwright/callwright/agents/conversation/words"
)

func ExampleFold() {
	fmt.Println(words.Fold("Oui, c'est ÇA… 555-0123 Straße"))
	// Output: [oui c est ca 555 0123 strasse]
}

// TestFold checks spellings that recognizers return for the same words.
func TestFold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "",
		" ,.!":                     "",
		"Ho\u0308ren sie":          "horen sie",
		"H\u00d6REN SIE":           "horen sie",
		"d\u2019accord":            "d accord",
		"\u0152uvre \u0141\u00f3d": "\u0153uvre \u0142od",
		"\u65e5\u672c \u0633":      "\u65e5\u672c \u0633",
		"\uff11\uff12 bad\xffbyte": "12 bad byte",
		"mmm":                      "mmm",
	} {
		if got := strings.Join(words.Fold(text), " "); got != want {
			t.Errorf("Fold(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestAppendFoldAllocatesNothing checks the promise of AppendFold's comment.
func TestAppendFoldAllocatesNothing(t *testing.T) {
	var buf [128]byte
	text := "Müßte ich nicht déjà là sein? Ça, 12!"
	words.AppendFold(buf[:0], text)
	if n := testing.AllocsPerRun(100, func() { words.AppendFold(buf[:0], text) }); n != 0 {
		t.Errorf("AppendFold allocates %v times", n)
	}
}

func ExampleSqueeze() {
	fmt.Println(words.Squeeze("hmmm"), words.Squeeze("100"))
	// Output: hm 100
}

func ExampleLanguage() {
	for _, tag := range []string{"pt-BR", "ENG", "babel-DE", "", "?"} {
		fmt.Printf("%q ", words.Language(tag))
	}
	// Output: "pt" "en" "de" "" ""
}

func ExampleByLanguage() {
	files := fstest.MapFS{ // usually an embed.FS
		"words/en.txt": {Data: []byte("please\nthank you\n")},
		"words/de.txt": {Data: []byte("bitte\ndanke\n")},
	}
	polite := words.ByLanguage(files, strings.Fields)
	fmt.Println(polite("de-AT"), polite("xx"))
	// Output: [bitte danke] [please thank you]
}

// TestByLanguageParsesOnce checks that files are parsed once, that equal tags allocate nothing, and that English is required.
func TestByLanguageParsesOnce(t *testing.T) { //nolint:paralleltest // it counts allocations
	parsed := 0
	of := words.ByLanguage(fstest.MapFS{"words/en.txt": {}, "words/fr.txt": {}}, func(string) int { parsed++; return parsed })
	for i := range 3000 { // more tags than are cached
		of(fmt.Sprintf("fr-x-%d", i))
	}
	if of("fr") == of("en") || parsed != 2 {
		t.Errorf("%d files were parsed, fr %d, en %d", parsed, of("fr"), of("en"))
	}
	if n := testing.AllocsPerRun(100, func() { of("en") }); n != 0 {
		t.Errorf("a known tag allocates %v times", n)
	}
	defer func() {
		if recover() == nil {
			t.Error("files without English do not panic")
		}
	}()
	words.ByLanguage(fstest.MapFS{}, func(string) int { return 0 })("en")
}

// FuzzFold checks that folded words consist of letters and digits, and that AppendFold adds the same words to a buffer.
func FuzzFold(f *testing.F) {
	for _, text := range []string{"", "it's", "Ça va?", "\u0345\u03a3", "ﬁ ½ ™", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		folded := words.Fold(text)
		for _, word := range folded {
			if word == "" || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
				t.Errorf("Fold(%q) = %q", text, folded)
			}
		}
		if buffered := words.AppendFold([]byte("x "), text); string(buffered) != strings.Join(append([]string{"x"}, folded...), " ")+" " {
			t.Errorf("AppendFold(%q) = %q, Fold %q", text, buffered, folded)
		}
	})
}
