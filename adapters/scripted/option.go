package scripted

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/template"
)

// verdict is the truth of a condition: yes, no or unsure.
type verdict int

// The possible verdicts, in ascending order, because either(a, b) returns the greater of two verdicts.
const (
	unsure verdict = iota
	no
	yes
)

// both returns yes if both verdicts are yes, no if either is no, and unsure otherwise.
func both(a, b verdict) verdict {
	switch {
	case a == no || b == no:
		return no
	case a == yes && b == yes:
		return yes
	default:
		return unsure
	}
}

// either returns yes if either verdict is yes, and otherwise no if either is no. It ignores an unsure verdict unless both are unsure.
func either(a, b verdict) verdict { return max(a, b) }

// comparison matches a condition on a variable in a text: day is known, day is not known, day is "Tuesday" or "Thursday".
const comparison = `([\pL\pN_.\-]+)\s+is\s+(not\s+)?(known|` + quoted + `(?:\s*or\s*` + quoted + `)*)`

var (
	comparing     = regexp.MustCompile(`(?i)^` + comparison + `(?:\s+and\s+` + comparison + `)*\s*\.?$`)
	oneComparison = regexp.MustCompile(`(?i)` + comparison)
)

// knowledge holds the facts by which choose evaluates options.
type knowledge struct {
	said      []string // the words of the caller's last message
	variables map[string]any
}

// choose returns the id of the first option that applies. It evaluates comparisons of variables, and quoted phrases that the caller must
// have said, in the label, description and condition. If no option applies, it returns the otherwise option. It fails with
// llm.ClassUnsupported if there is no otherwise option, or if an option contains neither comparisons nor quotations and no option is
// labeled "otherwise".
func choose(q llm.Question) (id, reason string, err error) {
	k := knowledge{said: words(lastOfCaller(q.Messages)), variables: q.Variables}
	var otherwise *llm.Option
	var unclear []string
	for i, o := range q.Options {
		if o.Otherwise || isOtherwise(o.Label) {
			if otherwise == nil || otherwise.Otherwise {
				otherwise = &q.Options[i]
			}
			continue
		}
		switch both(either(k.judge(o.Label), k.judge(o.Description)), k.condition(o.Condition)) {
		case yes:
			return o.ID, "it fits what was said and what is known", nil
		case unsure:
			unclear = append(unclear, o.Label)
		case no:
		}
	}
	switch {
	case otherwise != nil && (len(unclear) == 0 || !otherwise.Otherwise):
		return otherwise.ID, "no other fits", nil
	case len(unclear) > 0:
		return "", "", unsupported(fmt.Sprintf(`the conditions %q cannot be judged: quote what the caller says, such as "monday", or compare a variable, such as day is known`, unclear))
	default:
		return "", "", unsupported("no option fits what the caller said and what is known: add an option with the label otherwise")
	}
}

func isOtherwise(label string) bool { return strings.EqualFold(strings.Trim(label, " ."), "otherwise") }

// condition returns the verdict on a text as judge does, but yes for an empty text.
func (k knowledge) condition(text string) verdict {
	if strings.TrimSpace(text) == "" {
		return yes
	}
	return k.judge(text)
}

// judge returns the verdict on a text. It is unsure if the text neither consists of comparisons of variables nor quotes words that the
// caller must have said.
func (k knowledge) judge(text string) verdict {
	text = strings.TrimSpace(text)
	if strings.Contains(strings.ToLower(text), "is") && comparing.MatchString(text) { // the regexp is slow, and most texts do not contain "is"
		v := yes
		for _, m := range oneComparison.FindAllStringSubmatch(text, -1) {
			v = both(v, k.compare(m[1], m[2] != "", m[3]))
		}
		return v
	}
	v := unsure
	for p := range phrases(text) {
		if v = no; contains(k.said, words(p)) {
			return yes
		}
	}
	return v
}

// compare returns the verdict on one comparison of a variable. A variable whose text is empty counts as unknown.
func (k knowledge) compare(name string, not bool, what string) verdict {
	value, _ := template.LookUp(name, k.variables)
	text := words(template.Spoken(value))
	holds := len(text) > 0
	if phrases := phrasesOf(what); len(phrases) > 0 {
		holds = slices.ContainsFunc(phrases, func(p string) bool { return slices.Equal(words(p), text) })
	}
	if holds == not {
		return no
	}
	return yes
}

// phrases yields the quotations of a text that contain words.
func phrases(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			_, after, open := cutQuote(text)
			inside, rest, closed := cutQuote(after)
			switch {
			case !open || !closed:
				return
			case inside == "": // the second quote opens the quotation
				text = after
				continue
			case strings.ContainsFunc(inside, inWord) && !yield(inside):
				return
			}
			text = rest
		}
	}
}

// phrasesOf returns the quotations of a text that contain words.
func phrasesOf(text string) []string { return slices.Collect(phrases(text)) }

// cutQuote returns the parts of a text before and after its first quotation mark.
func cutQuote(text string) (before, after string, found bool) {
	i := strings.IndexAny(text, `"“”„`)
	if i < 0 {
		return text, "", false
	}
	_, size := utf8.DecodeRuneInString(text[i:])
	return text[:i], text[i+size:], true
}

// hintsOf returns the phrases by which a caller chooses an option: its quotations, or the weekdays if it mentions a day.
func hintsOf(o llm.Option) []string {
	hints := phrasesOf(o.Label + " " + o.Description + " " + o.Condition)
	if len(hints) == 0 && kindOf(o.ID+" "+o.Label) == kindDay {
		return slices.Clone(weekdays)
	}
	return hints
}

// lastOfCaller returns the text of the caller's last message, or an empty text.
func lastOfCaller(messages []llm.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role == llm.RoleCaller {
			return m.Text
		}
	}
	return ""
}
