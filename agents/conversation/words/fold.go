package words

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns the words of a text in the form in which texts are compared: without case, accents and punctuation. Only letters and digits
// are parts of words, so that "it's" becomes the two words "it" and "s".
func Fold(text string) []string {
	return strings.Fields(string(AppendFold(make([]byte, 0, len(text)), text)))
}

// AppendFold appends the folded words of a text to dst, each followed by a blank, and returns the extended slice. It allocates no memory for
// words of Latin letters if the capacity of dst suffices. See Fold.
func AppendFold(dst []byte, text string) []byte {
	begin := len(dst) // beginning of the current word
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			dst = append(dst, byte(r))
		case 'A' <= r && r <= 'Z':
			dst = append(dst, byte(r)+'a'-'A')
		case r >= utf8.RuneSelf:
			dst, begin = appendRune(dst, begin, r)
		default:
			dst, begin = endWord(dst, begin)
		}
	}
	dst, _ = endWord(dst, begin)
	return dst
}

// appendRune appends the folded form of a rune, which may end the word that begins at begin. It returns the beginning of the current word.
func appendRune(dst []byte, begin int, r rune) ([]byte, int) {
	var folded string
	if int(r) < len(latin()) {
		folded = latin()[r]
	} else {
		folded = foldRune(r)
	}
	for _, r := range folded {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.IsLetter(r), unicode.IsDigit(r):
			dst = utf8.AppendRune(dst, r)
		default:
			dst, begin = endWord(dst, begin)
		}
	}
	return dst, begin
}

// endWord ends the word that begins at begin, unless it is empty.
func endWord(dst []byte, begin int) ([]byte, int) {
	if len(dst) > begin {
		dst = append(dst, ' ')
	}
	return dst, len(dst)
}

// latin contains the folded form of every Latin letter of Unicode's first blocks.
var latin = sync.OnceValue(func() *[0x250]string {
	var table [0x250]string
	for r := range table {
		table[r] = foldRune(rune(r))
	}
	return &table
})

// foldRune returns a rune without case, and its accents as runes of their own.
func foldRune(r rune) string { return cases.Fold().String(norm.NFKD.String(string(r))) }

// Squeeze returns a folded word with every run of the same letter as one letter: "hmmm" becomes "hm". Digits are not changed.
func Squeeze(word string) string {
	last := rune(-1)
	return strings.Map(func(r rune) rune {
		if r == last && !unicode.IsDigit(r) {
			return -1
		}
		last = r
		return r
	}, word)
}
