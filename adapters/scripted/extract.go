package scripted

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/callwright/callwright/agents/llm"
)

// kind is the kind of value that a field's description asks for.
type kind int

// The kinds of texts that can be found.
const (
	kindNone kind = iota
	kindEmail
	kindPhone
	kindTime
	kindDay
)

// kindWords are the words of a field's name or description that tell its kind; the first kind wins.
var kindWords = []struct {
	kind  kind
	words []string
}{
	{kindEmail, []string{"email", "mail"}},
	{kindPhone, []string{"phone", "telephone", "mobile", "cell"}},
	{kindTime, []string{"time", "hour", "clock"}}, // before the day, because of the time of day
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
	phones     = regexp.MustCompile(`\+?\d(?:[\s().\-/]{0,2}\d){5,17}`)
	isoDates   = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b`)
	monthFirst = regexp.MustCompile(`(?i)\b(` + strings.Join(months, "|") + `)\s+(?:the\s+)?(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?\b`)
	dayFirst   = regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(` + strings.Join(months, "|") + `)(?:,?\s+(\d{4}))?\b`)
	clocks     = regexp.MustCompile(`(?i)\b(\d{1,2})(?::(\d{2}))?\s*(a\.?m\b|p\.?m\b|o['’]?\s?clock\b)?`)
)

// extract looks for the fields in the caller's last words. A missing value, and one of several that
// differ, is null: it is never invented.
//
// Integers and numbers are found as digits and as number words up to a hundred; booleans as yes and no; texts as the
// alternatives that the description quotes, else by the kind that name and description mention: an e-mail address, a telephone
// number, a weekday or date, a time of day.
func extract(q llm.Question) map[string]any {
	said := lastOfCaller(q.Messages)
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
			found[f.Name] = only(texts(f, said))
		}
	}
	return found
}

// only returns the one value that there is, however often; nil when there is none, or several.
func only[T comparable](values []T) any {
	if len(values) == 0 || slices.ContainsFunc(values, func(v T) bool { return v != values[0] }) {
		return nil
	}
	return values[0]
}

// oneWord joins words that people write with a hyphen.
var oneWord = strings.NewReplacer("e-mail", "email", "E-mail", "email")

// kindOf returns the kind that a text mentions. The text is a field's name and description.
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

// texts returns the values of a field that were said.
func texts(f llm.Field, said string) []string {
	if choices := phrasesOf(f.Description); len(choices) > 0 {
		return alternatives(choices, said)
	}
	switch kindOf(f.Name + " " + f.Description) {
	case kindEmail:
		return emails.FindAllString(said, -1)
	case kindPhone:
		found := phones.FindAllString(said, -1)
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

// alternatives returns the phrases that were said, as they are written; one that is part of another that was said is
// not.
func alternatives(phrases []string, said string) []string {
	spoken := words(said)
	found := slices.DeleteFunc(slices.Clone(phrases), func(p string) bool { return !contains(spoken, words(p)) })
	return slices.DeleteFunc(slices.Clone(found), func(p string) bool {
		return slices.ContainsFunc(found, func(longer string) bool {
			return len(words(longer)) > len(words(p)) && contains(words(longer), words(p))
		})
	})
}

// days are dates (2026-11-24, or November 24 without a year), else weekdays, today and tomorrow.
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

// date writes a day of a month; nothing for a day that no month has.
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

// times are times on the clock as 24 hours and minutes, else parts of the day. A bare number is no time.
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
