package pocketsphinx

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// The maximum number of hints, and of words in a hint. Further and longer hints are omitted.
const (
	maxPhrases = 200
	maxWords   = 40
)

// minPart is the minimum length, in bytes, of each of the two words into which pronounce divides an unknown word.
const minPart = 3

// dictionary maps words to their pronunciations, each a list of phones such as "HH AH L OW".
type dictionary struct {
	ways   map[string][]string
	phones []string // all phones of the dictionary, sorted
}

// phrase is a hint whose words all have a pronunciation.
type phrase struct {
	text  string   // the hint itself
	words []string // in spoken form: see spell
}

// readDictionary parses lines that consist of a word and its phones. Further pronunciations of a word are numbered: "the(2) DH IY".
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

// pronounce returns the pronunciations of a word, or nil if there are none. If the dictionary lacks the word, pronounce divides it into two
// known words, as evenly as possible: names of products are often compounds.
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

// phrases converts hints to phrases that can be recognized, at most maxPhrases. It omits hints with an unknown word or more than maxWords
// words, which only dictation can recognize.
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

// spell returns the words of a text in spoken form and lower case. Each digit becomes a word.
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
