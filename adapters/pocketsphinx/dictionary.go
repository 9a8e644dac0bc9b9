package pocketsphinx

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Bounds of the hints: more phrases or longer ones than these are omitted.
const (
	maxPhrases = 200
	maxWords   = 40
)

// minPart is the shortest word, in letters, that an unknown word is put together from.
const minPart = 3

// dictionary maps words to their pronunciations, each a list of phones such as "HH AH L OW".
type dictionary struct {
	ways   map[string][]string
	phones []string // all there are, sorted
}

// phrase is something that the caller may say.
type phrase struct {
	text  string   // as the hint has it
	words []string // as they are spoken
}

// readDictionary reads lines of a word and its phones. Further ways to say a word are numbered: "the(2) DH IY".
func readDictionary(raw string) dictionary {
	d := dictionary{ways: make(map[string][]string, strings.Count(raw, "\n"))}
	seen := map[string]bool{}
	for line := range strings.Lines(raw) {
		word, way, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found {
			continue
		}
		if i := strings.IndexByte(word, '('); i > 0 {
			word = word[:i]
		}
		d.ways[word] = append(d.ways[word], strings.TrimSpace(way))
		for phone := range strings.FieldsSeq(way) {
			seen[phone] = true
		}
	}
	d.phones = slices.Sorted(maps.Keys(seen))
	return d
}

// pronounce returns the pronunciations of a word. A word that is not in the dictionary may be two words that are, written as
// one, as names of products often are; the most even division is taken.
func (d dictionary) pronounce(word string) []string {
	if ways := d.ways[word]; ways != nil {
		return ways
	}
	for off := range len(word) / 2 {
		for _, at := range []int{len(word)/2 - off, len(word)/2 + off} {
			if at < minPart || len(word)-at < minPart {
				continue
			}
			first, second := d.ways[word[:at]], d.ways[word[at:]]
			var ways []string
			for _, a := range first {
				for _, b := range second {
					ways = append(ways, a+" "+b)
				}
			}
			if ways != nil {
				return ways
			}
		}
	}
	return nil
}

// phrases turns hints into phrases that can be recognized. A phrase with a word that is not in the dictionary is omitted: it will
// be dictated.
func (d dictionary) phrases(hints []string) []phrase {
	var known []phrase
	for _, hint := range hints {
		spoken := spell(hint)
		unknown := slices.ContainsFunc(spoken, func(word string) bool { return d.pronounce(word) == nil })
		if len(spoken) == 0 || len(spoken) > maxWords || unknown {
			continue
		}
		if known = append(known, phrase{strings.TrimSpace(hint), spoken}); len(known) == maxPhrases {
			break
		}
	}
	return known
}

var digits = [...]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}

// spell returns the words of a text in spoken form, in lower case. Digits are spoken one by one.
func spell(text string) []string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= '0' && r <= '9':
			b.WriteString(" " + digits[r-'0'] + " ")
		case r == '\'' || r == '’':
			b.WriteByte('\'')
		case unicode.IsLetter(r):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	words := strings.Fields(b.String())
	for i, word := range words {
		words[i] = strings.Trim(word, "'")
	}
	return slices.DeleteFunc(words, func(word string) bool { return word == "" })
}
