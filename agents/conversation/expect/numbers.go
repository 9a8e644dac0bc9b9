package expect

import (
	"embed"
	"strconv"
	"strings"

	"github.com/callwright/callwright/agents/conversation/words"
)

// files contains the number words of a file per language, named by its BCP 47 code. A line is the name of a section in brackets, a comment
// that begins with #, or words and phrases, separated by commas and after their value where the section has values. The sections are:
//
//   - number: words that are always a number;
//   - weak: words such as "oh" that are a number only beside other numbers, or alone;
//   - hundred, thousand: words that multiply the number before them;
//   - and: words between the parts of a number;
//   - repeat: words such as "double" that repeat the number after them.
//
//go:embed words/*.txt
var files embed.FS

// numbersOf returns the number words of a language. See words.ByLanguage.
var numbersOf = words.ByLanguage(files, parseNumbers)

// kind is the role of a word in a number.
type kind uint8

const (
	other kind = iota // no part of a number
	filler
	literal // digits
	number
	weak
	hundred
	thousand
	and
	repeat
)

// sections maps the names of a file's sections to the roles of their words.
var sections = map[string]kind{
	"[number]": number, "[weak]": weak, "[hundred]": hundred, "[thousand]": thousand, "[and]": and, "[repeat]": repeat,
}

// meaning is the role and the value of a phrase. Only number, weak and repeat have values.
type meaning struct {
	kind  kind
	value int
}

// numbers contains the number words of a language.
type numbers struct {
	phrases map[string]meaning // by the folded words without blanks
	longest int                // length of the longest phrase in bytes
}

// parseNumbers parses the text of a file. It panics at an invalid line, because the files are embedded.
func parseNumbers(text string) *numbers {
	n := &numbers{phrases: map[string]meaning{}}
	section := other
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if k, ok := sections[line]; ok {
			section = k
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		m := meaning{kind: section}
		if section == number || section == weak || section == repeat {
			value, rest, _ := strings.Cut(line, " ")
			var err error
			if m.value, err = strconv.Atoi(value); err != nil {
				panic("expect: the line " + line + " must begin with a number")
			}
			line = rest
		}
		for phrase := range strings.SplitSeq(line, ",") {
			key := strings.Join(words.Fold(phrase), "")
			n.phrases[key] = m
			n.longest = max(n.longest, len(key))
		}
	}
	return n
}

// piece is a number word, a filler or digits.
type piece struct {
	meaning

	digits string // of a literal
	glued  bool   // whether the piece continues the word of the piece before it, as in "zweihundertdrei"
}

// at returns the pieces at the beginning of tokens, and the number of tokens that they cover. It prefers long phrases: "soixante douze" is
// 72, not 60 and 12.
func (n *numbers) at(language string, tokens []string) ([]piece, int) {
	if digits := digitsOf(tokens[0]); digits != "" {
		value := -1 // too long for a factor of hundred or thousand
		if len(digits) <= 2 {
			value, _ = strconv.Atoi(digits)
		}
		return []piece{{meaning: meaning{literal, value}, digits: digits}}, 1
	}
	covered, found, phrase := 0, meaning{}, ""
	for i, token := range tokens {
		if phrase += token; len(phrase) > n.longest {
			break
		}
		if m, ok := n.phrases[phrase]; ok {
			covered, found = i+1, m
		}
	}
	if covered > 0 {
		return []piece{{meaning: found}}, covered
	}
	if pieces := n.split(tokens[0]); pieces != nil {
		return pieces, 1
	}
	if isFiller(language, tokens[0]) {
		return []piece{{meaning: meaning{kind: filler}}}, 1
	}
	return nil, 1
}

// maxSplit is the maximum length, in bytes, of a word that may consist of several number words.
const maxSplit = 80

// split divides a word such as "zweihundertdrei" into number words. It returns nil if the word contains anything else.
func (n *numbers) split(word string) []piece {
	if len(word) > maxSplit {
		return nil
	}
	var buf [maxSplit + 1]int
	last := buf[:len(word)+1] // length of the last phrase of the prefix that ends at an index; 0 if the prefix has no division
	for end := 1; end <= len(word); end++ {
		for begin := max(0, end-n.longest); begin < end; begin++ {
			if _, ok := n.phrases[word[begin:end]]; ok && (begin == 0 || last[begin] > 0) {
				last[end] = end - begin
				break
			}
		}
	}
	var pieces []piece
	for end := len(word); last[end] > 0; end -= last[end] {
		begin := end - last[end]
		pieces = append(pieces, piece{meaning: n.phrases[word[begin:end]], glued: begin > 0})
	}
	if pieces == nil {
		return nil
	}
	for i, j := 0, len(pieces)-1; i < j; i, j = i+1, j-1 {
		pieces[i], pieces[j] = pieces[j], pieces[i]
	}
	return pieces
}

// digitsOf returns the digits of a token.
func digitsOf(token string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, token)
}
