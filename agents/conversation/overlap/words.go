package overlap

import (
	"embed"
	"strings"

	"github.com/callwright/callwright/agents/conversation/words"
)

// files contains a file per language, named by its BCP 47 code. A line is a word or a phrase, the name of a section in brackets, or a
// comment that begins with #.
//
//go:embed words/*.txt
var files embed.FS

// setOf returns the words of a language. See Classify for the form of the tag.
var setOf = words.ByLanguage(files, newSet)

// set contains the words of a language.
type set struct {
	phrases map[string]Kind // by the folded tokens without blanks
	longest int             // length of the longest phrase in bytes
}

// sections maps the names of a file's sections to their kinds.
var sections = map[string]Kind{"[back-channel]": BackChannel, "[filler]": Filler, "[stop]": Stop}

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
