package caller

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/scenario"
)

// These constants are the limits of the check. All except maxSame count words.
const (
	repeated   = 4  // minimum length of a line that counts as repeated
	echoed     = 6  // minimum length of a line that counts as an echo
	toldRules  = 8  // consecutive words of this package's rules
	toldPrompt = 16 // consecutive words of the client's description
	maxSame    = 2  // number of times that a line may be said
)

// machine matches phrases that only an agent or a language model uses.
var machine = regexp.MustCompile(`(?i)\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b` +
	`|\bi(?:['’]m| am) (?:just )?an? (?:ai|(?:large )?language model|chatbot|(?:ai|virtual|automated) (?:assistant|agent))\b` +
	`|\bhow (?:can|may) i (?:help|assist) you\b` +
	`|\bthank you for calling\b` +
	`|\bmy (?:system prompt|persona|instructions (?:say|are|tell))\b` +
	`|^(?:agent|assistant)\s*:`)

// quotation matches the quoted words of a description, which the caller may say.
var quotation = regexp.MustCompile(`["“„][^"“”„]*["“”]`)

// check decides whether a model's line fits the persona.
type check struct {
	isMachine bool       // the persona is a machine
	rules     []string   // words of this package's rules
	prompts   [][]string // words of the client's description and instructions
}

func newCheck(s scenario.Scenario) check {
	c := check{rules: words(part)}
	switch s.Category {
	case scenario.Voicemail, scenario.VoicemailScreener, scenario.CallScreener:
		c.isMachine = true
	case scenario.Custom, scenario.AngryCaller, scenario.BelligerentCaller, scenario.ConfusedCaller, scenario.HappyPath, scenario.EdgeCase:
	}
	for _, text := range []string{s.CallerPrompt, s.Instructions} {
		for _, piece := range quotation.Split(text, -1) {
			if w := words(piece); len(w) >= toldPrompt {
				c.prompts = append(c.prompts, w)
			}
		}
	}
	return c
}

// problem returns the reason why a line is invalid, to complete "because ...". It returns "" for a valid line.
func (c check) problem(l Line, before []llm.Message) string {
	said := words(l.Text)
	switch {
	case len(said) == 0 && strings.TrimSpace(l.Text) == "":
		if l.HangUp {
			return ""
		}
		return "it is empty"
	case len(l.Text) > MaxLine:
		return fmt.Sprintf("it is longer than %d bytes", MaxLine)
	case !c.isMachine && machine.MatchString(l.Text):
		return "it speaks as the agent or as a model, and not as the person who calls"
	case c.tells(said):
		return "it reveals its instructions"
	}
	same := 0
	for _, m := range before {
		if m.Role == llm.RoleAgent && len(said) >= echoed && contains(words(m.Text), said) {
			return "it repeats the words of the agent"
		}
		if m.Role == llm.RoleCaller && len(said) >= repeated && slices.Equal(words(m.Text), said) {
			same++
		}
	}
	if same >= maxSame {
		return "it was said in the same words before"
	}
	return ""
}

// tells reports whether a line's words contain too many consecutive words of the instructions.
func (c check) tells(said []string) bool {
	if shares(said, c.rules, toldRules) {
		return true
	}
	return slices.ContainsFunc(c.prompts, func(p []string) bool { return shares(said, p, toldPrompt) })
}

// shares reports whether two texts, given as their words, have n consecutive words in common.
func shares(said, in []string, n int) bool {
	for i := 0; i+n <= len(said); i++ {
		if contains(in, said[i:i+n]) {
			return true
		}
	}
	return false
}

// contains reports whether the first list of words contains the words of the second list consecutively.
func contains(in, said []string) bool {
	for i := 0; i+len(said) <= len(in); i++ {
		if slices.Equal(in[i:i+len(said)], said) {
			return true
		}
	}
	return false
}

// words returns the words of a text in lower case, without punctuation.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}
