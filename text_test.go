package callwright_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
)

func TestClip(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		most int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "…"}, {"abcd", 2, ""}, {"abcd", 0, ""}, {"abcd", -1, ""}, {"abcdef", 5, "ab…"}, {"éééé", 7, "éé…"},
		{"éééé", 6, "é…"}, {"éééé", 8, "éééé"}, {"\U0001F600\U0001F600", 6, "…"}, {"\U0001F600\U0001F600", 7, "\U0001F600…"},
	} {
		if got := callwright.Clip(test.text, test.most); got != test.want {
			t.Errorf("%q in %d bytes is %q, want %q", test.text, test.most, got, test.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text, most := rapid.String().Draw(t, "text"), rapid.IntRange(-1, 40).Draw(t, "most")
		got := callwright.Clip(text, most)
		if len(got) > max(most, 0) || !utf8.ValidString(got) || !strings.HasPrefix(text, strings.TrimSuffix(got, "…")) && got != text {
			t.Fatalf("%q in %d bytes is %q", text, most, got)
		}
	})
}

func TestHidden(t *testing.T) {
	t.Parallel()
	for _, c := range "\x00\x1b\x7f\u009b\u00ad\u200b\u2028\u2029\u202e\ufeff" {
		if !callwright.Hidden(c) {
			t.Errorf("%U is taken to be seen", c)
		}
	}
	for _, c := range "aZ 9é漢\u0301😀" {
		if callwright.Hidden(c) {
			t.Errorf("%U is taken to be hidden", c)
		}
	}
}

func TestBlank(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": true, " \t\r\n": true, "\u202e": true, "\u200b\u2060 \ufeff": true, "\u00a0\u3000": true, "a": false, " ? ": false, "\u200b😀": false, "漢": false,
	} {
		if got := callwright.Blank(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "bye\xff.": "bye.", "a\u0007b\u202ec": "abc", "one\ntwo\tthree": "one\ntwo\tthree", "a\r\nb\rc\vd\u0085e": "a\nb c d e", "שלום\u200f, é漢\u0301😀\u200d": "שלום, é漢\u0301😀\u200d",
	} {
		if got := callwright.Printable(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	for c := range rune(unicode.MaxRune + 1) {
		got := callwright.Printable("a" + string(c) + "b")
		disguises := unicode.Is(unicode.Bidi_Control, c) || unicode.IsControl(c) && c != '\n' && c != '\t'
		if disguises && got != "ab" && got != "a b" || !disguises && got != "a"+string(c)+"b" {
			t.Errorf("%U becomes %q", c, got)
		}
	}
}
