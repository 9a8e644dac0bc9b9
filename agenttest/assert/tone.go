package assert

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callwright/callwright/agents/llm"
)

// CountTone returns the counted fields of Tone: the agent's words per turn, and the share of its repeated sentences. It ignores letter case
// and punctuation. Both results are 0 if the agent said no words.
func CountTone(turns []Turn) (wordsPerTurn, repeatedSentences float64) {
	var spoken, words, sentences, repeated int
	said := map[string]bool{}
	for i := range turns {
		if turns[i].Role != llm.RoleAgent || strings.TrimSpace(turns[i].Text) == "" {
			continue
		}
		spoken++
		for sentence := range sentencesOf(turns[i].Text) {
			n, key := wordsOf(sentence)
			if words += n; n == 0 {
				continue
			}
			sentences++
			if said[key] {
				repeated++
			}
			said[key] = true
		}
	}
	if spoken == 0 || sentences == 0 {
		return 0, 0
	}
	return float64(words) / float64(spoken), float64(repeated) / float64(sentences)
}

// sentencesOf yields the sentences of a text, possibly without words. A sentence ends at one of .!?… before white space, at one of 。！？, and
// at a line break.
func sentencesOf(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		for i, r := range text {
			if r == utf8.RuneError {
				continue
			}
			end := i + utf8.RuneLen(r)
			after, _ := utf8.DecodeRuneInString(text[end:])
			if r == '\n' || strings.ContainsRune("。！？", r) || strings.ContainsRune(".!?…", r) && unicode.IsSpace(after) {
				if !yield(text[start:end]) {
					return
				}
				start = end
			}
		}
		yield(text[start:])
	}
}

// wordsOf counts the words of a sentence, and returns a key that is equal for sentences that differ only in letter case and punctuation.
func wordsOf(sentence string) (n int, key string) {
	var b strings.Builder
	for word := range strings.FieldsSeq(sentence) {
		bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		if bare == "" {
			continue
		}
		n++
		b.Write(folding{letterCase: true}.fold(nil, bare))
		b.WriteByte(' ')
	}
	return n, b.String()
}

// valid reports whether all scores are from 0 to 1.
func (t *Tone) valid() bool {
	return fraction(t.Naturalness) && fraction(t.Conciseness) && fraction(t.Empathy) && fraction(t.Flow) &&
		fraction(t.BackChanneling) && fraction(t.TopicTransitions) && fraction(t.Overall)
}
