//nolint:dupword,misspell // numbers as callers read them, in several languages
package expect_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/callwright/callwright/agents/conversation/expect"
)

func TestDigitsIn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ language, text, want string }{
		{"en-US", "", ""},
		{"", "my number is five five five, zero one two three", "5550123"},
		{"ENG", "It's (555) 010-4477.", "5550104477"},
		{"en", "double two, treble oh, quadruple five", "220005555"},
		{"en", "double oh seven", "007"},
		{"en", "twenty one twenty-two", "2122"},
		{"en", "nineteen eighty four", "1984"},
		{"en", "one eight hundred five five five twelve twelve", "18005551212"},
		{"en", "one hundred", "100"},
		{"en", "one hundred and five", "105"},
		{"en", "eight hundred five", "805"},
		{"en", "a hundred twenty three", "123"},
		{"en", "two thousand and twenty five", "2025"},
		{"en", "twelve thousand three hundred forty five", "12345"},
		{"en", "five five five two thousand", "5552000"},
		{"en", "5 thousand and then 05", "500005"},
		{"en", "oh", "0"},
		{"en", "um, oh", "0"},
		{"en", "oh my, who is there", ""},
		{"en", "oh um five oh", "050"},
		{"en", "double", ""},
		{"en", "seventeenth of May", ""},
		{"en", "tonight", ""},
		{"en", "b52", "52"},
		{"xx", "seven", "7"},
		{"es-MX", "cincuenta y cinco, doscientos tres, veintidós doble cero", "552032200"},
		{"es", "mil novecientos ochenta y cuatro", "1984"},
		{"es", "un momento", ""},
		{"fr", "zéro six, soixante-douze, quatre-vingt-dix-sept, vingt et un, deux cent trois", "06729721203"},
		{"fr-CH", "septante nonante-trois huitante", "709380"},
		{"fr", "un, deux", "12"},
		{"fr", "un", "1"},
		{"fr", "un instant", ""},
		{"ru", "пять ноль двадцать один, двести три, сто сорок", "5021203140"},
		{"de", "null eins sieben null, zweihundertdreiundvierzig, fünfundzwanzig, zwo", "0170243252"},
		{"de-AT", "zweitausendfünfundzwanzig", "2025"},
		{"de", "hunderteins zwei", "1012"},
		{"de", "keinen einzigen", ""},
		{"it", "zero tre, ventitré, centoventotto, duecentotre cinque", "03231282035"},
		{"it", "duemilaventi", "2020"},
		{"pt-BR", "nove nove, vinte e três", "9923"},
		{"pt", "cento e vinte e três meia um", "12361"},
		{"nl", "nul zes, tweeëntwintig, driehonderdvijf, één", "06223051"},
		{"nl", "nul zes tweehonderdvijf een", "062051"},
	} {
		if got := expect.DigitsIn(tt.language, tt.text); got != tt.want {
			t.Errorf("DigitsIn(%q, %q) = %q, want %q", tt.language, tt.text, got, tt.want)
		}
	}
}

func TestNumberIn(t *testing.T) {
	t.Parallel()
	const whole = "2025550147"
	for said, want := range map[string]string{
		"two zero two double five five oh one four seven":                             whole,
		"it's 202, then 555, and 0147 thanks":                                         whole,
		"two zero two triple five zero one four seven":                                whole,
		"two zero two five, no wait, two zero two five five five zero one four seven": whole,
		"202 555 0146, sorry, 202 555 0147":                                           whole,
		"I have 2 questions, and my number is 202-555-0147":                           whole,
		"202 555 0146, no wait, 0147":                                                 "20255501460147", // the correction is not complete
		"202 555 014":                                                                 "202555014",
		"two zero two five five five zero one four seven two zero two five five five zero one four seven": whole + whole,
		"hello": "",
	} {
		if got := expect.NumberIn("en", said, 10, 10); got != want {
			t.Errorf("NumberIn(%q) = %q, want %q", said, got, want)
		}
	}
	if got := expect.NumberIn("de", "eins zwei, nein, fünf sechs sieben acht", 4, 6); got != "5678" {
		t.Errorf("in German it is %q", got)
	}
}

func TestTrailingDigits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ language, text, want string }{
		{"en", "it's five five, um, five", "555"},
		{"en", "flight 12, my number is seven and", "7"},
		{"en", "seven is my number", ""},
		{"en", "my number is oh", ""},
		{"en", "oh", "0"},
		{"en", "seven, oh", "70"},
		{"en", "Anna and", ""},
		{"en", "", ""},
		{"de", "meine Nummer ist äh null eins", "01"},
	} {
		if got := expect.TrailingDigits(tt.language, tt.text); got != tt.want {
			t.Errorf("TrailingDigits(%q, %q) = %q, want %q", tt.language, tt.text, got, tt.want)
		}
	}
}

// languages lists the languages that have number words.
var languages = []string{"de", "en", "es", "fr", "it", "nl", "pt"}

// FuzzDigitsIn checks that the result contains digits only, that written digits are kept, and that TrailingDigits is the end of DigitsIn.
func FuzzDigitsIn(f *testing.F) {
	for _, text := range []string{
		"double double hundred thousand and", "thousand thousand", "hundred hundred five", "99 thousand 99 hundred", "oh \xff oh",
		"zweitausendeinhundert", "e e e mil", "quadruple triple double nine hundred thousand",
	} {
		for i := range languages {
			f.Add(i, text)
		}
	}
	f.Fuzz(func(t *testing.T, language int, text string) {
		tag := languages[uint(language)%uint(len(languages))]
		all, trailing := expect.DigitsIn(tag, text), expect.TrailingDigits(tag, text)
		if strings.Trim(all, "0123456789") != "" {
			t.Errorf("DigitsIn(%q, %q) = %q", tag, text, all)
		}
		if !strings.HasSuffix(all, trailing) {
			t.Errorf("TrailingDigits(%q, %q) = %q, and DigitsIn is %q", tag, text, trailing, all)
		}
		if len(all) > 64*(utf8.RuneCountInString(text)+1) {
			t.Errorf("DigitsIn(%q, %q) has %d digits", tag, text, len(all))
		}
	})
}

// TestDigitsWritten checks that digits read one by one survive in every language, in words and as digits.
func TestDigitsWritten(t *testing.T) {
	t.Parallel()
	for _, tag := range languages {
		for value := range 100 {
			forms := expect.WordsOf(tag, value)
			if len(forms) == 0 {
				t.Errorf("%s: %d has no words", tag, value)
			}
			for _, form := range append(forms, strconv.Itoa(value)) {
				if got := expect.DigitsIn(tag, form); got != strconv.Itoa(value) {
					t.Errorf("DigitsIn(%q, %q) = %q", tag, form, got)
				}
			}
		}
	}
}
