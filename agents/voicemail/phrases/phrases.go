package phrases

import (
	"strings"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation/words"
)

// The minimum weights of phrases that decide.
const (
	machineWeight = 3
	personWeight  = 2
)

// maxWords bounds the words of a text that are compared: the first ones, in which a machine identifies itself.
const maxWords = 150

// Classify returns the category that the other side's first words show, and the words of the phrase that contributed most. The category is
// empty if the words do not suffice. language is a BCP 47 tag, or a language code of the API such as "ENG" or "babel-en". The phrases of
// English apply to languages without a data file, and to an empty tag.
//
// The categories of machines are those whose Rule can be call.RuleWords: voicemail, menu, announcement and screening.
func Classify(language, text string) (category call.Category, phrase string) {
	tokens := words.Fold(text)
	tokens = tokens[:min(len(tokens), maxWords)]
	s := setOf(language)
	best := 0
	for _, section := range s.sections {
		sum, heaviest, found := 0, 0, ""
		for _, p := range section.patterns {
			if at, end := p.find(tokens, s.digits); end > 0 {
				sum += p.weight
				if p.weight > heaviest {
					heaviest, found = p.weight, strings.Join(tokens[at:end], " ")
				}
			}
		}
		need := machineWeight
		if section.category == call.CategoryHuman {
			need = personWeight
		}
		if sum >= need && sum > best {
			best, category, phrase = sum, section.category, found
		}
	}
	return category, phrase
}
