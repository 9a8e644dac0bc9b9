package scripted

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/agents/llm"
)

// kind is the kind of text that a field's name and description request.
type kind int

// The kinds of texts that texts can extract.
const (
	kindNone kind = iota
	kindEmail
	kindPhone
	kindTime
	kindDay
)

// shortestPhone is the minimum number of digits in a telephone number.
const shortestPhone = 6

// shortestNumber is the minimum number of digits that count as an attempt to say a number whose length is known, unless it is shorter.
const shortestNumber = 3

// kindWords lists the words in a field's name or description that identify its kind. The first matching kind applies.
var kindWords = []struct {
	kind  kind
	words []string
}{
	{kindEmail, []string{"email", "mail"}},
	{kindPhone, []string{"phone", "telephone", "mobile", "cell"}},
	{kindTime, []string{"time", "hour", "clock"}}, // before kindDay, because "time of day" is a time
	{kindDay, []string{"weekday", "date", "day"}},
}

var (
	weekdays = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	months   = []string{
		"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
	}
	dayParts = []string{"morning", "noon", "afternoon", "evening", "night", "midnight"}

	camel      = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
	emails     = regexp.MustCompile(`[\pL\pN.!#$%&'*+/=?^_{|}~-]+@[\pL\pN](?:[\pL\pN.-]*[\pL\pN])`)
	phones     = regexp.MustCompile(`\+?\d(?:[\s().\-/]{0,2}\d){5,17}`) // at least shortestPhone digits
	isoDates   = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b`)
	monthFirst = regexp.MustCompile(`(?i)\b(` + strings.Join(months, "|") + `)\s+(?:the\s+)?(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?\b`)
	dayFirst   = regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(` + strings.Join(months, "|") + `)(?:,?\s+(\d{4}))?\b`)
	clocks     = regexp.MustCompile(`(?i)\b(\d{1,2})(?::(\d{2}))?\s*(a\.?m\b|p\.?m\b|o['’]?\s?clock\b)?`)
)

// extract returns the values of the question's fields from the caller's last message. A value is nil if the message contains none, or
// several that differ.
//
// It finds integers and numbers in digits and in words up to a hundred, and booleans as words for yes and no. For a string it finds one of
// the alternatives that the description quotes, or a number of any length if the description names the length: see expect.OfVariable and
// expect.NumberIn. Without these it finds the kind that the name or description mentions: an e-mail
// address, a telephone number in digits or English words, a weekday or date, or a time of day.
func extract(q llm.Question) map[string]any {
	said, language := lastOfCaller(q.Messages), cmp.Or(q.Language, "en")
	found := make(map[string]any, len(q.Fields))
	for _, f := range q.Fields {
		switch f.Type {
		case llm.FieldInteger:
			found[f.Name] = only(integers(said))
		case llm.FieldNumber:
			found[f.Name] = only(numbers(said))
		case llm.FieldBoolean:
			found[f.Name] = only(booleans(said))
		case llm.FieldString:
			found[f.Name] = only(texts(f, language, said))
		}
	}
	return found
}

// only returns the first value if all values are equal. It returns nil if there are no values, or if they differ.
func only[T comparable](values []T) any {
	if len(values) == 0 || slices.ContainsFunc(values, func(v T) bool { return v != values[0] }) {
		return nil
	}
	return values[0]
}

// oneWord removes the hyphen from "e-mail", so that kindOf finds one word.
var oneWord = strings.NewReplacer("e-mail", "email", "E-mail", "email")

// kindOf returns the kind that a field's name and description mention.
func kindOf(text string) kind {
	text = oneWord.Replace(camel.ReplaceAllString(text, "$1 $2"))
	mentioned := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, k := range kindWords {
		if slices.ContainsFunc(mentioned, func(w string) bool { return slices.Contains(k.words, w) }) {
			return k.kind
		}
	}
	return kindNone
}

// texts returns the values of a string field that the caller's words contain.
func texts(f llm.Field, language, said string) []string {
	if choices := phrasesOf(f.Description); len(choices) > 0 {
		return alternatives(choices, said)
	}
	if a := expect.OfVariable(f.Name, false, f.Description); a.Kind == expect.Digits && a.Max > 0 {
		if read := expect.NumberIn(language, said, a.Min, a.Max); len(read) >= min(a.Min, shortestNumber) {
			return []string{read} // the agent rejects a number of another length
		}
		return nil
	}
	switch kindOf(f.Name + " " + f.Description) {
	case kindEmail:
		return emails.FindAllString(said, -1)
	case kindPhone:
		found := phones.FindAllString(said, -1)
		if read := expect.DigitsIn(language, said); len(found) == 0 && len(read) >= shortestPhone {
			return []string{read} // the caller's recognizer has returned words
		}
		for i, number := range found {
			found[i] = strings.Map(func(r rune) rune {
				if r == '+' || r >= '0' && r <= '9' {
					return r
				}
				return -1
			}, number)
		}
		return found
	case kindDay:
		return days(said)
	case kindTime:
		return times(said)
	default:
		return nil
	}
}

// alternatives returns the phrases that the caller's words contain, as they are written. It omits a phrase that is part of a longer phrase
// in the result.
func alternatives(phrases []string, said string) []string {
	spoken := words(said)
	found := slices.DeleteFunc(slices.Clone(phrases), func(p string) bool { return !contains(spoken, words(p)) })
	return slices.DeleteFunc(slices.Clone(found), func(p string) bool {
		return slices.ContainsFunc(found, func(longer string) bool {
			return len(words(longer)) > len(words(p)) && contains(words(longer), words(p))
		})
	})
}

// days returns the dates in a text, such as 2026-11-24, or November 24 if the year is missing. If the text contains no date, days returns
// the weekdays in it, and words such as tomorrow.
func days(said string) []string {
	found := isoDates.FindAllString(said, -1)
	for _, m := range monthFirst.FindAllStringSubmatch(said, -1) {
		found = append(found, date(m[1], m[2], m[3]))
	}
	for _, m := range dayFirst.FindAllStringSubmatch(said, -1) {
		found = append(found, date(m[2], m[1], m[3]))
	}
	if found = slices.DeleteFunc(found, func(d string) bool { return d == "" }); len(found) > 0 {
		return found
	}
	return alternatives(append([]string{"today", "tomorrow", "the day after tomorrow"}, weekdays...), said)
}

// date formats a date. It returns an empty text if the day is not between 1 and 31.
func date(month, day, year string) string {
	i := slices.IndexFunc(months, func(m string) bool { return strings.EqualFold(m, month) })
	n, err := strconv.Atoi(day)
	switch {
	case err != nil || n < 1 || n > 31:
		return ""
	case year == "":
		return months[i] + " " + strconv.Itoa(n)
	default:
		return year + "-" + two(i+1) + "-" + two(n)
	}
}

func two(n int) string { return string([]byte{'0' + byte(n/10), '0' + byte(n%10)}) }

// times returns the times in a text in the form 15:04. If it contains no time, times returns its parts of the day, such as morning. A
// number without minutes, a.m., p.m. or o'clock is no time.
func times(said string) []string {
	var found []string
	for _, m := range clocks.FindAllStringSubmatch(said, -1) {
		hour, err := strconv.Atoi(m[1])
		minute, suffix := m[2], strings.ToLower(m[3])
		if err != nil || hour > 23 || minute > "59" || minute == "" && suffix == "" {
			continue
		}
		if minute == "" {
			minute = "00"
		}
		switch {
		case strings.HasPrefix(suffix, "p") && hour < 12:
			hour += 12
		case strings.HasPrefix(suffix, "a") && hour == 12:
			hour = 0
		}
		found = append(found, two(hour)+":"+minute)
	}
	if len(found) > 0 {
		return found
	}
	return alternatives(dayParts, said)
}
