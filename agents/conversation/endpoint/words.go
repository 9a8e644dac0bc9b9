package endpoint

import (
	"bytes"
	"embed"
	"strings"

	"github.com/callwright/callwright/agents/conversation/words"
)

// files contains a file per language, named by its BCP 47 code. A line is the name of a section in brackets, a comment that begins with #, or
// words and phrases that are separated by commas. The sections are:
//
//   - unfinished: endings that call for more words;
//   - perhaps: endings that often, but not always, call for more words;
//   - hesitation: the caller thinks;
//   - finished: endings that close a turn;
//   - answer: whole answers to a question of yes or no;
//   - subject: first words of a subject, which needs a verb;
//   - clause, verb: words that move the verb to the end of their clause, and such verbs ("weil er nicht da ist");
//   - month, day: parts of a date; dot: the word before the domain of an e-mail address.
//
// The longest ending of a text counts. If an ending is in several of the first four sections, the last section counts.
//
//go:embed words/*.txt
var files embed.FS

// lexiconOf returns the words of a language. See words.ByLanguage.
var lexiconOf = words.ByLanguage(files, parseLexicon)

// ending classifies the last words of a text.
type ending uint8

const (
	anyEnding ending = iota
	unfinished
	perhaps
	hesitation
	finished
)

// endings maps the names of sections to the endings that they list.
var endings = map[string]ending{"[unfinished]": unfinished, "[perhaps]": perhaps, "[hesitation]": hesitation, "[finished]": finished}

// lexicon contains the words of a language. The keys are folded words, separated by blanks.
type lexicon struct {
	endings map[string]ending
	sets    map[string]map[string]bool // of the other sections, by the section's name
	longest int                        // maximum number of words in a phrase
}

// parseLexicon parses the text of a file.
func parseLexicon(text string) *lexicon {
	l := &lexicon{endings: map[string]ending{}, sets: map[string]map[string]bool{}}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			section = line
			l.sets[section] = map[string]bool{}
			continue
		}
		for phrase := range strings.SplitSeq(line, ",") {
			folded := words.Fold(phrase)
			key := strings.Join(folded, " ")
			l.longest = max(l.longest, len(folded))
			if e, ok := endings[section]; ok {
				l.endings[key] = e
			} else {
				l.sets[section][key] = true
			}
		}
	}
	return l
}

// ending classifies the last words of a folded text by the longest known ending.
func (l *lexicon) ending(text []byte) ending {
	e := anyEnding
	for begin, n := len(text), 0; begin > 0 && n < l.longest; n++ {
		begin = wordBefore(text, begin)
		if found, ok := l.endings[string(text[begin:])]; ok {
			e = found
		}
	}
	return e
}

// isAnswer reports whether a folded text consists of answers to a question of yes or no, perhaps with closing words and hesitations, such as
// "um yes thank you".
func (l *lexicon) isAnswer(text []byte) bool {
	answers := l.sets["[answer]"]
	answered := false
	for len(text) > 0 {
		rest := -1
		for begin, n := len(text), 0; begin > 0 && n < l.longest; n++ {
			begin = wordBefore(text, begin)
			phrase := text[begin:]
			if answers[string(phrase)] {
				rest, answered = begin, true
			} else if e := l.endings[string(phrase)]; e == finished || e == hesitation {
				rest = begin
			}
		}
		if rest < 0 {
			return false
		}
		text = text[:max(rest-1, 0)]
	}
	return answered
}

// subjectWords is the maximum number of words of a subject, of which the rules know no verbs.
const subjectWords = 3

// isSubject reports whether a whole folded text is probably a subject without its verb, such as "my old address".
func (l *lexicon) isSubject(text []byte) bool {
	subjects := l.sets["[subject]"]
	if len(subjects) == 0 || bytes.Count(text, []byte(" ")) >= subjectWords {
		return false
	}
	first, rest, _ := bytes.Cut(text, []byte(" "))
	second, _, _ := bytes.Cut(rest, []byte(" "))
	return subjects[string(first)] || len(second) > 0 && subjects[string(text[:len(first)+1+len(second)])]
}

// verbLast reports whether a folded text ends with the verb of a clause that ends with its verb: at least two words stand between the
// beginning of the clause and the verb.
func (l *lexicon) verbLast(text []byte) bool {
	begin := wordBefore(text, len(text))
	if !l.sets["[verb]"][string(text[begin:])] {
		return false
	}
	for n := 0; begin > 0; n++ {
		end := begin - 1
		begin = wordBefore(text, begin)
		if n >= 2 && l.sets["[clause]"][string(text[begin:end])] {
			return true
		}
	}
	return false
}

// wordBefore returns the beginning of the word that ends shortly before an index of a folded text.
func wordBefore(text []byte, end int) int {
	if end < len(text) {
		end-- // the blank before the former word
	}
	for end > 0 && text[end-1] != ' ' {
		end--
	}
	return end
}
