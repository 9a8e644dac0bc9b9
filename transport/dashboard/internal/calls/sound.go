package calls

import (
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
)

// noBackground is the form's value for no background sound, in place of the agent's.
const noBackground = "none"

// sound sets the pronunciations and the background of a form. The form cannot represent Pronunciation.CaseSensitive and Inside.
func (f form) sound(to *agents.Patch) error {
	switch track := f.Values["background_track"]; track {
	case "":
	case noBackground:
		to.Background = callwright.Given(agents.Background(""))
	default:
		to.Background = callwright.Given(agents.Background(track))
	}
	var guide []agents.Pronunciation
	for line := range strings.Lines(f.Values["pronunciation_guide"]) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		word, spoken, ok := strings.Cut(line, "=")
		if !ok {
			return callwright.Invalid("pronunciation_guide", "must have a line such as Nguyen = win for each word")
		}
		guide = append(guide, agents.Pronunciation{Word: strings.TrimSpace(word), Spoken: strings.TrimSpace(spoken)})
	}
	if guide != nil {
		to.Pronunciation = callwright.Given(guide)
	}
	return nil
}

// guideText returns the lines of the form for pronunciations.
func guideText(guide []agents.Pronunciation) string {
	var text strings.Builder
	for _, p := range guide {
		text.WriteString(p.Word + " = " + p.Spoken + "\n")
	}
	return text.String()
}
