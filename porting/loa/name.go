package loa

import (
	"strings"
	"unicode"
)

// accents maps combining marks to pairs of letters: each base letter is followed by its accented form.
var accents = map[rune]string{
	'\u0300': "aàeèiìnǹoòuù", '\u0301': "aácćeégǵiílĺnńoórŕsśuúyýzź", '\u0302': "aâcĉeêgĝhĥiîjĵoôsŝuûwŵyŷ", '\u0303': "aãiĩnñoõuũ",
	'\u0304': "aāeēiīoōuū", '\u0306': "aăeĕgğiĭoŏuŭ", '\u0307': "cċeėgġzż", '\u0308': "aäeëiïoöuüyÿ", '\u030a': "aåuů",
	'\u030b': "oőuű", '\u030c': "aǎcčdďeěiǐlľnňoǒrřsštťuǔzž", '\u0327': "cçgģkķlļnņrŗsştţ", '\u0328': "aąeęiįoǫuų",
}

// composed replaces combining marks, which some keyboards and clipboards produce, and their base letters with single accented characters of
// European languages. It implements the part of Unicode normalization form C that names usually need.
func composed(text string) string {
	var out []rune
	for _, c := range text {
		if whole, ok := compose(out, c); ok {
			out[len(out)-1] = whole
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

// compose returns the letter that a combining mark forms with the last letter of the text before it. It returns false if accents contains
// no such letter.
func compose(before []rune, mark rune) (rune, bool) {
	pairs := []rune(accents[mark])
	if len(before) == 0 {
		return 0, false
	}
	base := before[len(before)-1]
	for i := 0; i+1 < len(pairs); i += 2 {
		switch base {
		case pairs[i]:
			return pairs[i+1], true
		case unicode.ToUpper(pairs[i]):
			return unicode.ToUpper(pairs[i+1]), true
		}
	}
	return 0, false
}

// tidy returns a typed text in composed form, with single spaces between words and no surrounding spaces.
func tidy(text string) string { return strings.Join(strings.Fields(composed(text)), " ") }

// sameName reports whether two names differ at most in case, spaces, Unicode composition, and the shape of apostrophes and hyphens.
func sameName(a, b string) bool { return strings.EqualFold(plain(a), plain(b)) }

var plainer = strings.NewReplacer("\u2019", "'", "\u2018", "'", "\u02bc", "'", "\u2010", "-", "\u2011", "-")

func plain(name string) string { return plainer.Replace(tidy(name)) }
