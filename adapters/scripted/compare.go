package scripted

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/template"
)

// The patterns of a comparison of a variable with values in a label, a description or a condition. A text compares variables if it consists
// of such comparisons, joined by "and":
//
//	day is known
//	day is not known
//	wants is true, wants is false, wants is yes, wants is no
//	day is "Tuesday" or "Thursday", day equals "Tuesday"
//	guests is 4, guests is at least 4, guests is more than 4.5
//
// "not" may follow "is" in each of them. A variable that is unknown meets no comparison but "is not known". Values are compared without case
// and punctuation, and numbers by their value. "yes" equals "true", and "no" equals "false", with and without quotation marks.
const (
	amount     = `-?\d+(?:\.\d+)?`
	operand    = `(?:true\b|false\b|yes\b|no\b|` + amount + `|` + quoted + `)`
	relation   = `at least|at most|more than|less than`
	comparison = `([\pL\pN_.\-]+)\s+(?:is|equals)\s+(not\s+)?(known|(?:` + relation + `)\s+` + amount + `|` + operand + `(?:\s*or\s*` + operand + `)*)`
)

var (
	comparing     = regexp.MustCompile(`(?i)^` + comparison + `(?:\s+and\s+` + comparison + `)*\s*\.?$`)
	oneComparison = regexp.MustCompile(`(?i)` + comparison)
	oneOperand    = regexp.MustCompile(`(?i)` + operand)
	related       = regexp.MustCompile(`(?i)^(` + relation + `)\s+(` + amount + `)$`)
)

// comparesVariables reports whether a text consists of comparisons of variables.
func comparesVariables(text string) bool {
	text = strings.TrimSpace(text)
	folded := strings.ToLower(text)
	return (strings.Contains(folded, "is") || strings.Contains(folded, "equals")) && comparing.MatchString(text) // the regexp is slow
}

// compare returns the verdict on one comparison of a variable. A variable whose text contains no word or number counts as unknown.
func (k knowledge) compare(name string, not bool, what string) verdict {
	value, _ := template.LookUp(name, k.variables)
	text := template.Spoken(value)
	known := len(words(text)) > 0
	var holds bool
	switch r := related.FindStringSubmatch(what); {
	case strings.EqualFold(what, "known"):
		holds = known
	case !known:
		return no
	case r != nil:
		var number bool
		if holds, number = relates(text, r[1], r[2]); !number {
			return no
		}
	default:
		holds = slices.ContainsFunc(operands(what), func(o string) bool { return same(value, o) })
	}
	if holds == not {
		return no
	}
	return yes
}

// operands returns the values of a comparison, without quotation marks.
func operands(what string) []string {
	var out []string
	for _, m := range oneOperand.FindAllStringSubmatch(what, -1) {
		if m[1] != "" {
			out = append(out, m[1])
		} else {
			out = append(out, m[0])
		}
	}
	return out
}

// same reports whether a variable equals the value of a comparison.
func same(variable any, operand string) bool {
	switch variable.(type) {
	case int64, float64:
		if n, err := strconv.ParseFloat(operand, 64); err == nil {
			own, err := strconv.ParseFloat(template.Spoken(variable), 64)
			return err == nil && own == n
		}
	}
	return slices.Equal(truth(words(template.Spoken(variable))), truth(words(operand)))
}

// truth replaces "yes" by "true", and "no" by "false".
func truth(text []string) []string {
	switch {
	case slices.Equal(text, []string{"yes"}):
		return []string{"true"}
	case slices.Equal(text, []string{"no"}):
		return []string{"false"}
	default:
		return text
	}
}

// relates reports whether the number in a variable's text is in a relation to an amount. number is false if the text is not a number.
func relates(text, relation, amount string) (holds, number bool) {
	a, err := strconv.ParseFloat(text, 64)
	b, also := strconv.ParseFloat(amount, 64)
	if err != nil || also != nil {
		return false, false
	}
	switch strings.ToLower(relation) {
	case "at least":
		return a >= b, true
	case "at most":
		return a <= b, true
	case "more than":
		return a > b, true
	default:
		return a < b, true
	}
}

// Unchosen returns an explanation if the stand-in can never choose an option, because a text of the option contains neither a quotation nor
// a comparison, or compares a variable with a value that the variable never has. It returns an empty text otherwise. fields contains the
// variables whose types are known.
func (Model) Unchosen(_ string, o llm.Option, fields []llm.Field) string {
	if o.Otherwise || isOtherwise(o.Label) {
		return ""
	}
	var k knowledge
	unclear := ""
	switch {
	case either(k.judge(o.Label), k.judge(o.Description)) == unsure:
		unclear = o.Label
	case k.condition(o.Condition) == unsure:
		unclear = o.Condition
	}
	if unclear != "" {
		return fmt.Sprintf(`without a language model, %q never applies: quote what the caller says, such as "monday", or compare a variable, `+
			`such as day is known, wants is true or day is "Tuesday"`, unclear)
	}
	for _, text := range []string{o.Label, o.Description, o.Condition} {
		if !comparesVariables(text) {
			continue
		}
		for _, m := range oneComparison.FindAllStringSubmatch(text, -1) {
			if i := slices.IndexFunc(fields, func(f llm.Field) bool { return f.Name == m[1] }); i >= 0 {
				if values := impossible(fields[i], m[3]); values != "" {
					return fmt.Sprintf("%q never applies, because the variable %s is of the type %s: compare it with %s", text, m[1], fields[i].Type, values)
				}
			}
		}
	}
	return ""
}

// impossible returns the values with which a field can be compared, if no value in the comparison is one of them.
func impossible(f llm.Field, what string) (values string) {
	if strings.EqualFold(what, "known") {
		return ""
	}
	fits := func(o string) bool { _, err := strconv.ParseFloat(o, 64); return err == nil }
	values = "a number"
	switch f.Type {
	case llm.FieldBoolean:
		fits = func(o string) bool {
			t := truth(words(o))
			return slices.Equal(t, []string{"true"}) || slices.Equal(t, []string{"false"})
		}
		values = "true or false"
	case llm.FieldInteger, llm.FieldNumber:
	default:
		return ""
	}
	if slices.ContainsFunc(operands(what), fits) {
		return ""
	}
	return values
}
