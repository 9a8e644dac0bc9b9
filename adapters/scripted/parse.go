package scripted

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/callwright/callwright/agents/llm"
)

// script holds the rule lines of parsed instructions, and their other lines.
type script struct {
	start     *line
	rules     []rule
	otherwise *line
	text      []string // the lines that are not rules
}

// line is a sentence of the agent and the action that follows.
type line struct {
	say    string
	action llm.Action
}

// rule is the agent's line for a caller who says one of the phrases.
type rule struct {
	phrases []string
	after   string // words that the agent's last message must contain; empty matches any
	line    line
}

// The patterns of rule lines. A line that matches the pattern named beginning must be a valid rule line. Every other line is prose.
const (
	quotes = `["“”„]`
	quoted = quotes + `([^"“”„]+)` + quotes
	saying = `say\s*` + quoted + `(?:\s*and\s+(end|transfer))?[\s.]*$`
)

var (
	beginning = regexp.MustCompile(`(?i)^(?:when\s*` + quotes + `|(?:start|otherwise)\s*:\s*say\b)`)
	plainLine = regexp.MustCompile(`(?i)^(start|otherwise)\s*:\s*` + saying)
	ruleLine  = regexp.MustCompile(`(?i)^when\s*(` + quoted + `(?:\s*or\s*` + quoted + `)*)(?:\s*after\s*` + quoted + `)?\s*:\s*` + saying)
	phrase    = regexp.MustCompile(quoted)
)

// parse returns the rule lines and the other lines of a task. It returns an error that names the number of the first invalid rule line.
func parse(task string) (script, error) {
	var s script
	for i, text := range strings.Split(task, "\n") {
		text = strings.TrimLeft(text, " \t-*•")
		if !beginning.MatchString(text) {
			s.text = append(s.text, text)
			continue
		}
		if !s.add(text) {
			return script{}, unsupported(fmt.Sprintf("line %d of the task is not a valid rule: write "+
				`when "words": say "answer", start: say "greeting" or otherwise: say "answer", and optionally "and end" or "and transfer" after it`, i+1))
		}
	}
	return s, nil
}

// add adds a rule line, and reports whether the line is valid.
func (s *script) add(text string) bool {
	if m := ruleLine.FindStringSubmatch(text); m != nil && strings.TrimSpace(m[5]) != "" {
		r := rule{after: m[4], line: line{say: m[5], action: llm.Action(strings.ToLower(m[6]))}}
		for _, p := range phrase.FindAllStringSubmatch(m[1], -1) {
			if len(words(p[1])) == 0 {
				return false
			}
			r.phrases = append(r.phrases, p[1])
		}
		s.rules = append(s.rules, r)
		return true
	}
	m := plainLine.FindStringSubmatch(text)
	if m == nil || strings.TrimSpace(m[2]) == "" {
		return false
	}
	l := line{say: m[2], action: llm.Action(strings.ToLower(m[3]))}
	if strings.EqualFold(m[1], "start") {
		s.start = &l
	} else {
		s.otherwise = &l
	}
	return true
}

// unsupported returns a failure of llm.ClassUnsupported, for a request that needs a language model.
func unsupported(why string) error {
	return &llm.Failure{Class: llm.ClassUnsupported, Message: "without a language model: " + why}
}

// apostrophes removes apostrophes, so that "don't" is one word.
var apostrophes = strings.NewReplacer("'", "", "’", "")

// words returns a text's words in lower case, without punctuation.
func words(text string) []string {
	text = strings.ToLower(text)
	if strings.ContainsAny(text, "'’") { // Replace is slow, and few texts contain an apostrophe
		text = apostrophes.Replace(text)
	}
	return strings.FieldsFunc(text, func(r rune) bool { return !inWord(r) })
}

// inWord reports whether a character can be part of a word.
func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// contains reports whether the words of part occur consecutively in whole. An empty part always occurs.
func contains(whole, part []string) bool {
	for i := 0; i+len(part) <= len(whole); i++ {
		if slices.Equal(whole[i:i+len(part)], part) {
			return true
		}
	}
	return len(part) == 0
}
