package overlap

import (
	"regexp"
	"strings"

	"github.com/callwright/callwright/agents/conversation/words"
)

// Kind classifies words that a caller said while the agent spoke.
type Kind uint8

// The kinds of words.
const (
	Nothing     Kind = iota // no words
	BackChannel             // only back-channels, perhaps with fillers
	Filler                  // only fillers
	Stop                    // asks the agent to stop or to wait, and says nothing else
	Words                   // any other words
)

// String returns the name of a kind, for logs.
func (k Kind) String() string {
	return [...]string{"nothing", "back-channel", "filler", "stop", "words"}[min(k, Words)]
}

// Interrupts reports whether words of a kind interrupt the agent: Stop and Words do.
func (k Kind) Interrupts() bool { return k >= Stop }

// Classify returns the kind of a text. language is a BCP 47 tag, or a language code of the API such as "ENG" or "babel-en". The words of
// English apply to languages without a data file, and to an empty tag.
//
// Back-channels may be repeated and joined: "yeah yeah, okay, I see" is a BackChannel. A text that contains a single other word is Words:
// "yes but" is not a BackChannel. Annotations of recognizers such as "[noise]" and "(coughs)" are no words.
func Classify(language, text string) Kind {
	tokens := fold(annotation.ReplaceAllString(text, " "))
	if len(tokens) == 0 {
		return Nothing
	}
	return setOf(language).classify(tokens)
}

// ClassifyAfter is like Classify, except that a BackChannel after a question is Words, because "yes" or "okay" then answers the question.
// said contains the agent's words from the beginning of its answer to the word that was played when the caller's voice ended or the agent
// was paused. They may continue after the question by afterQuestion words, because callers answer a question with a delay.
func ClassifyAfter(language, said, text string) Kind {
	kind := Classify(language, text)
	if kind == BackChannel && Asked(said) {
		return Words
	}
	return kind
}

// afterQuestion is the maximum number of words after a question for a BackChannel to count as its answer. These words last for about 1.5
// seconds.
const afterQuestion = 4

// Asked reports whether a text contains a question mark and then at most afterQuestion words. See ClassifyAfter for said.
func Asked(said string) bool {
	at := strings.LastIndexAny(said, "?？؟")
	return at >= 0 && len(fold(said[at:])) <= afterQuestion
}

// AsksToStop reports whether a text is a request to stop or begins with one, perhaps after back-channels and fillers: "okay, wait, I have a
// question" does.
func AsksToStop(language, text string) bool {
	tokens := fold(annotation.ReplaceAllString(text, " "))
	s := setOf(language)
	for n := 1; n <= min(len(tokens), maxTokens); n++ {
		if s.classify(tokens[:n]) == Stop {
			return true
		}
	}
	return false
}

// annotation matches an annotation of a recognizer.
var annotation = regexp.MustCompile(`\[[^][]*\]|\([^()]*\)|<[^<>]*>|\*[^*]*\*`)

// maxTokens is the maximum number of tokens in a text that may be a BackChannel. A longer text is Words.
const maxTokens = 24

// classify returns the kind of tokens. It covers them with phrases; if that is impossible, the tokens are Words.
func (s *set) classify(tokens []string) Kind {
	if len(tokens) > maxTokens {
		return Words
	}
	const open Kind = Words + 1
	best := make([]Kind, len(tokens)+1) // best[i] is the lowest kind of the coverings of the first i tokens; open if there is none
	for end := 1; end <= len(tokens); end++ {
		best[end] = open
		phrase := ""
		for begin := end - 1; begin >= 0 && len(phrase) <= s.longest; begin-- {
			phrase = tokens[begin] + phrase
			if kind, ok := s.phrases[phrase]; ok && best[begin] != open {
				best[end] = min(best[end], join(best[begin], kind))
			}
		}
	}
	return min(best[len(tokens)], Words)
}

// join returns the kind of two joined texts, neither of which is Words.
func join(a, b Kind) Kind {
	switch {
	case a == Stop || b == Stop:
		return Stop
	case a == BackChannel || b == BackChannel:
		return BackChannel
	default:
		return max(a, b)
	}
}

// fold returns the words of a text in the form in which they are compared: see words.Fold. Runs of a letter are one letter.
func fold(text string) []string {
	folded := words.Fold(text)
	for i, word := range folded {
		folded[i] = words.Squeeze(word)
	}
	return folded
}
