package overlap

import (
	"embed"
	"path"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// files contains a file per language, named by its BCP 47 code. A line is a word or a phrase, the name of a section in brackets, or a
// comment that begins with #.
//
//go:embed words/*.txt
var files embed.FS

// set contains the words of a language.
type set struct {
	phrases map[string]Kind // by the folded tokens without blanks
	longest int             // length of the longest phrase in bytes
}

// sections maps the names of a file's sections to their kinds.
var sections = map[string]Kind{"[back-channel]": BackChannel, "[filler]": Filler, "[stop]": Stop}

// sets returns the words of every language with a file.
var sets = sync.OnceValue(readSets)

// readSets reads all files.
func readSets() map[string]*set {
	entries, err := files.ReadDir("words")
	if err != nil {
		panic(err) // impossible: the folder is embedded
	}
	out := make(map[string]*set, len(entries))
	for _, e := range entries {
		text, err := files.ReadFile(path.Join("words", e.Name()))
		if err != nil {
			panic(err)
		}
		out[strings.TrimSuffix(e.Name(), ".txt")] = newSet(string(text))
	}
	return out
}

// newSet parses the text of a file. If a phrase is in several sections, the last section counts.
func newSet(text string) *set {
	s := &set{phrases: map[string]Kind{}}
	kind := Words
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if section, ok := sections[line]; ok {
			kind = section
		} else if phrase := strings.Join(fold(line), ""); phrase != "" && line[0] != '#' {
			s.phrases[phrase] = kind
			s.longest = max(s.longest, len(phrase))
		}
	}
	return s
}

// setOf returns the words of a language. See Classify for the form of the tag.
func setOf(tag string) *set {
	tag = strings.TrimPrefix(strings.ToLower(tag), "babel-")
	if t, err := language.Parse(tag); err == nil {
		base, _ := t.Base()
		if s := sets()[base.String()]; s != nil {
			return s
		}
	}
	return sets()["en"]
}

// unaccent folds the case of a text and deletes its accents.
func unaccent(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, cases.Fold().String(norm.NFKD.String(text)))
}
