package scripted

import (
	"regexp"
	"slices"
	"strings"
)

// saysSo matches a sentence that asks the speaker to say its quotation.
var saysSo = regexp.MustCompile(`(?i)^(?:(?:please|first|now|and|then|,)[\s,]*)*(?:say|ask|greet|tell|welcome|answer|reply|repeat|explain|thank)\b`)

// quotedMark stands for a quotation while a text is cut into sentences.
const quotedMark = "\x00"

// prose returns the quotations in the instructions that the speaker is asked to say: in sentences that begin with a
// verb of saying, such as Greet with "Good morning." Then ask "Which day?", of the last paragraph that has any.
func (s script) prose() (line, error) {
	paragraphs := strings.Split(strings.Join(s.text, "\n"), "\n\n")
	for _, p := range slices.Backward(paragraphs) {
		if say := spoken(p); say != "" {
			return line{say: say}, nil
		}
	}
	return line{}, unsupported(`the instructions have no words to say: write Say "words", or rules`)
}

// spoken returns the quotations in a text that the speaker is asked to say.
func spoken(text string) string {
	var quotations []string
	marked := phrase.ReplaceAllStringFunc(strings.ReplaceAll(text, quotedMark, ""), func(quotation string) string {
		inside := strings.TrimSpace(phrase.FindStringSubmatch(quotation)[1])
		quotations = append(quotations, inside)
		if strings.HasSuffix(inside, ".") || strings.HasSuffix(inside, "?") || strings.HasSuffix(inside, "!") {
			return quotedMark + "." // its end is the sentence's, too
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
