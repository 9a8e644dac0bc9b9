// Package redact replaces personal data and keys of other systems in conversations, because such data must not become part of a test.
//
// It finds web and SIP addresses, mail addresses, keys and tokens, and postal addresses with a street type or a United States postal code.
// It also finds seven or more digits, in figures or in words, as in telephone, card and account numbers, but leaves dates in figures. It
// cannot find data that are recognizable only by their meaning: names of people and companies, numbers of fewer than seven digits, such as
// a code or a room, addresses in other forms, and words in languages other than English. A person must review texts that leave an
// organization.
package redact

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
)

// These constants replace the data that the package finds.
const (
	URL     = "[url]"
	Mail    = "[email]"
	Key     = "[key]"
	Address = "[address]"
	Number  = "[number]"
)

// minDigits is the number of consecutive digits from which a number counts as personal.
const minDigits = 7

var (
	url  = regexp.MustCompile(`(?i)\b(?:(?:https?|wss?|ftp)://|(?:sips?|tel|mailto):|www\.)[^\s"'<>]+`)
	mail = regexp.MustCompile(`(?i)[\p{L}\d._%+-]+(?:@| at )[\p{L}\d-]+(?:(?:\.| dot )[\p{L}\d-]+)*(?:\.| dot )\p{L}{2,}`)

	// named matches a key that follows its name, known a key that begins with a known prefix, and token any long mix of characters.
	named = regexp.MustCompile(`(?i)\b(bearer|basic|(?:api[ _-]?)?key|token|secret|password|passphrase|pin)(\s*[:=]\s*|\s+is\s+|\s+)("[^"]+"|[^\s"',;]*\d[^\s"',;]*)`)
	known = regexp.MustCompile(`\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|xox[abprs]|glpat|AKIA|ASIA|AIza|eyJ|whsec)[-_A-Za-z0-9][\w.+/=-]{6,}`)
	token = regexp.MustCompile(`[\w+/=.~-]{20,}`)

	street = regexp.MustCompile(`(?i)\b(?:\d{1,6}[a-z]?|` + numeral + `(?:[ -]` + numeral + `){0,4})\s+(?:(?:[\p{L}'’.-]+|\d{1,3}(?:st|nd|rd|th))\s+){1,4}?` +
		`(?:street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|square|sq|terrace|highway|hwy|parkway|pkwy)\b\.?` +
		`(?:,?\s+(?:apartment|apt|suite|unit|floor|#)\.?\s*\w+)?`)
	german = regexp.MustCompile(`(?i)\b[\p{L}-]*(?:straße|strasse|gasse|allee|platz)\s+\d{1,4}[a-z]?\b`)
	postal = regexp.MustCompile(`\b[A-Z]{2}\s+\d{5}(?:-\d{4})?\b`)
)

// numeral matches a number written as a word.
const numeral = `(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|` +
	`eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)`

// Text returns a text in which the data that the package finds are replaced. It also removes zero-width and other format characters. It
// needs time proportional to the length of the text.
func Text(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) { // zero-width characters could hide data
			return -1
		}
		return r
	}, text)
	text = url.ReplaceAllString(text, URL)
	text = mail.ReplaceAllString(text, Mail)
	text = named.ReplaceAllString(text, "$1$2"+Key)
	text = known.ReplaceAllString(text, Key)
	text = token.ReplaceAllStringFunc(text, func(t string) string {
		if isKey(t) {
			return Key
		}
		return t
	})
	for _, address := range []*regexp.Regexp{street, german, postal} {
		text = address.ReplaceAllString(text, Address)
	}
	return numbers(text)
}

// isKey reports whether a long run of characters is a key: it contains at least three letters and three digits, unlike words joined by
// hyphens.
func isKey(t string) bool {
	digits, letters := 0, 0
	for _, r := range t {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return digits >= 3 && letters >= 3
}

// secretNames matches the names of members whose values are keys.
var secretNames = regexp.MustCompile(`(?i)token|secret|passw|api_?key|authorization|credential|^key$|^pin$`)

// Value returns a JSON value in which the data that the package finds are replaced, in texts, numbers and names of members at any depth. If
// the name of a member suggests a key, Value replaces the member's whole text or number.
func Value(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, member := range value {
			switch member.(type) {
			case string, float64, int, int64, json.Number:
				if secretNames.MatchString(name) {
					member = Key
				}
			}
			out[Text(name)] = Value(member)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			out[i] = Value(item)
		}
		return out
	case string:
		return Text(value)
	case float64, int, int64, json.Number:
		raw, err := json.Marshal(value)
		if err != nil || Text(string(raw)) != string(raw) {
			return Number
		}
		return value
	default:
		return value
	}
}
