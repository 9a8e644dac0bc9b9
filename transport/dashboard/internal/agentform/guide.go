package agentform

import (
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
)

// The options at the end of a line of a pronunciation guide, each after a vertical bar.
const (
	optionCase   = "case"   // Pronunciation.CaseSensitive
	optionInside = "inside" // Pronunciation.Inside
)

// readGuide sets an agent's pronunciations to the lines of a text, such as "Nguyen = win | case".
func readGuide(to *agents.Agent, text string) error {
	to.Pronunciation = nil
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		word, rest, ok := strings.Cut(line, "=")
		if !ok {
			return callwright.Invalid("pronunciation_guide", "must have a line such as Nguyen = win for each word")
		}
		spoken, options, _ := strings.Cut(rest, "|")
		p := agents.Pronunciation{Word: strings.TrimSpace(word), Spoken: strings.TrimSpace(spoken)}
		for option := range strings.SplitSeq(options, "|") {
			switch strings.TrimSpace(option) {
			case "":
			case optionCase:
				p.CaseSensitive = true
			case optionInside:
				p.Inside = true
			default:
				return callwright.Invalid("pronunciation_guide", "must have only | case and | inside after how a word is spoken")
			}
		}
		to.Pronunciation = append(to.Pronunciation, p)
	}
	return nil
}

// guideText returns the lines for pronunciations.
func guideText(guide []agents.Pronunciation) string {
	lines := make([]string, len(guide))
	for i, p := range guide {
		lines[i] = p.Word + " = " + p.Spoken
		if p.CaseSensitive {
			lines[i] += " | " + optionCase
		}
		if p.Inside {
			lines[i] += " | " + optionInside
		}
	}
	return strings.Join(lines, "\n")
}
