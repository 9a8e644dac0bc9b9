package phrases

import (
	"embed"
	"slices"
	"strconv"
	"strings"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation/words"
)

// files contains a file per language, named by its BCP 47 code. A line is the name of a section in brackets, a comment that begins with #,
// or a phrase after its weight. In a phrase, "a|b" is either word, "*" stands for up to maxGap words, and "#" for a digit or a number. The
// section [digits] lists the words of digits. If two sections have the same weight, the first one counts.
//
//go:embed words/*.txt
var files embed.FS

// setOf returns the phrases of a language.
var setOf = words.ByLanguage(files, parse)

// set contains the phrases of a language.
type set struct {
	sections []section
	digits   []string
}

// section contains the phrases of a category.
type section struct {
	category call.Category
	patterns []pattern
}

// pattern is a phrase. Each element lists the alternatives of a word.
type pattern struct {
	weight int
	words  [][]string
}

// maxGap is the maximum number of words that "*" stands for.
const maxGap = 4

// categories maps the names of sections to categories.
var categories = map[string]call.Category{
	"[screening]": call.CategoryScreening, "[voicemail]": call.CategoryVoicemail, "[menu]": call.CategoryIVR,
	"[announcement]": call.CategoryAnnouncement, "[person]": call.CategoryHuman,
}

// parse parses the text of a file.
func parse(text string) *set {
	s := &set{}
	digits := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		category, isSection := categories[line]
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case isSection:
			s.sections, digits = append(s.sections, section{category: category}), false
		case line == "[digits]":
			digits = true
		case digits:
			s.digits = append(s.digits, words.Fold(line)...)
		default:
			last := &s.sections[len(s.sections)-1]
			last.patterns = append(last.patterns, parsePattern(line))
		}
	}
	return s
}

// parsePattern parses a line such as "3 leave * message|messages".
func parsePattern(line string) pattern {
	fields := strings.Fields(line)
	weight, err := strconv.Atoi(fields[0])
	if err != nil {
		panic("phrases: the line " + strconv.Quote(line) + " begins with no weight") // impossible: the files are embedded and tested
	}
	p := pattern{weight: weight}
	for _, field := range fields[1:] {
		if field == "*" || field == "#" {
			p.words = append(p.words, []string{field})
			continue
		}
		var alternatives []string
		for one := range strings.SplitSeq(field, "|") {
			alternatives = append(alternatives, words.Fold(one)...)
		}
		p.words = append(p.words, alternatives)
	}
	return p
}

// find returns the first place of the pattern in tokens. end is 0 if the pattern does not occur.
func (p pattern) find(tokens, digits []string) (at, end int) {
	for at = range tokens {
		if end = match(p.words, tokens, at, digits); end > 0 {
			return at, end
		}
	}
	return 0, 0
}

// match returns the end of the pattern's match at a position of tokens, or 0 if it does not match there.
func match(rest [][]string, tokens []string, at int, digits []string) (end int) {
	switch {
	case len(rest) == 0:
		return at
	case rest[0][0] == "*":
		for skip := range maxGap + 1 {
			if end = match(rest[1:], tokens, at+skip, digits); end > 0 {
				return end
			}
		}
		return 0
	case at >= len(tokens):
		return 0
	case rest[0][0] == "#" && (tokens[at][0] >= '0' && tokens[at][0] <= '9' || slices.Contains(digits, tokens[at])),
		slices.Contains(rest[0], tokens[at]):
		return match(rest[1:], tokens, at+1, digits)
	default:
		return 0
	}
}
