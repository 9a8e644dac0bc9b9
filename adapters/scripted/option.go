package scripted

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright/agents/llm"
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
		return "", "", unsupported(fmt.Sprintf(`the conditions %q cannot be judged: quote what the caller says, such as "monday", or compare a variable, such as day is known or wants is true`, unclear))
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
	if comparesVariables(text) {
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

// hintsOf returns the phrases by which a caller chooses an option: its quotations, or the weekdays if it mentions a day. Comparisons of
// variables contain no such phrases, because the caller need not say the compared values.
func hintsOf(o llm.Option) []string {
	if comparesVariables(o.Label) {
		o.ID, o.Label = "", ""
	}
	hints := phrasesOf(o.Label)
	for _, text := range []string{o.Description, o.Condition} {
		if !comparesVariables(text) {
			hints = append(hints, phrasesOf(text)...)
		}
	}
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
