package scripted

import (
	"regexp"
	"slices"
	"strings"
)

// saysSo matches a sentence that instructs the speaker to say its quotations.
var saysSo = regexp.MustCompile(`(?i)^(?:(?:please|first|now|and|then|,)[\s,]*)*(?:say|ask|greet|tell|welcome|answer|reply|repeat|explain|thank)\b`)

// quotedMark replaces a quotation while a text is split into sentences.
const quotedMark = "\x00"

// prose returns the quotations that the instructions ask the speaker to say. They are in sentences that begin with a verb of saying, such
// as: Greet with "Good morning." Then ask "Which day?" Only the last paragraph with such a sentence counts. Without such a paragraph, prose
// fails with llm.ClassUnsupported.
func (s script) prose() (line, error) {
	paragraphs := strings.Split(strings.Join(s.text, "\n"), "\n\n")
	for _, p := range slices.Backward(paragraphs) {
		if say := spoken(p); say != "" {
			return line{say: say}, nil
		}
	}
	return line{}, unsupported(`the instructions contain nothing to say: write Say "words", or rules`)
}

// spoken returns the quotations that a text asks the speaker to say, separated by spaces.
func spoken(text string) string {
	var quotations []string
	marked := phrase.ReplaceAllStringFunc(strings.ReplaceAll(text, quotedMark, ""), func(quotation string) string {
		inside := strings.TrimSpace(phrase.FindStringSubmatch(quotation)[1])
		quotations = append(quotations, inside)
		if strings.HasSuffix(inside, ".") || strings.HasSuffix(inside, "?") || strings.HasSuffix(inside, "!") {
			return quotedMark + "." // the end of the quotation also ends the sentence
		}
		return quotedMark
	})
	var say []string
	for _, sentence := range strings.FieldsFunc(marked, func(r rune) bool { return strings.ContainsRune(".!?;\n", r) }) {
		n := strings.Count(sentence, quotedMark)
		if saysSo.MatchString(strings.TrimSpace(sentence)) {
			say = append(say, quotations[:n]...)
		}
		quotations = quotations[n:]
	}
	return strings.TrimSpace(strings.Join(say, " "))
}
