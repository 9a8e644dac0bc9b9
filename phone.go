package callwright

import "strings"

// PhoneNumber is an E.164 number with its leading plus, such as "+15551234567": at most 15 digits, the first not 0
// (ITU-T E.164, section 6).
type PhoneNumber string

// Shortest and longest E.164 numbers, in digits. E.164 names no minimum; the shortest numbers in use with a country
// code have seven.
const (
	minPhoneDigits = 7
	maxPhoneDigits = 15
)

// ParsePhoneNumber parses an E.164 number. The plus may be missing or a space: an unescaped plus in a URL's query becomes
// a space. Other texts are CodeBadRequest. Separators and national forms are refused, because a guess would dial a wrong number.
func ParsePhoneNumber(s string) (PhoneNumber, error) {
	digits := strings.TrimPrefix(strings.TrimPrefix(s, " "), "+")
	if len(digits) < minPhoneDigits || len(digits) > maxPhoneDigits || digits[0] == '0' {
		return "", Invalid("", "must be an E.164 phone number such as +15551234567")
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return "", Invalid("", "must be an E.164 phone number such as +15551234567")
		}
	}
	return PhoneNumber("+" + digits), nil
}

// separators are what people write between the digits of a number (ITU-T E.123), the no-break space and hyphen too.
const separators = " \u00a0\u202f-\u2010\u2011.()"

// ParseTypedNumber parses an E.164 number as people write it, such as "+1 (202) 555-0102": with spaces, hyphens, dots and
// brackets (ITU-T E.123). The plus is required, because the digits of a national number would name another country. Other texts
// are CodeBadRequest, also those with a trunk prefix such as "+44 (0)20", which is dialed only within the country.
func ParseTypedNumber(s string) (PhoneNumber, error) {
	rest, international := strings.CutPrefix(strings.TrimSpace(s), "+")
	if !international {
		return "", Invalid("", "must begin with + and the country code, such as +14155550108")
	}
	if strings.Contains(rest, "(0)") {
		return "", Invalid("", "must not have (0), which is dialed only within the country")
	}
	return ParsePhoneNumber("+" + strings.Map(func(c rune) rune {
		if strings.ContainsRune(separators, c) {
			return -1
		}
		return c
	}, rest))
}

// String returns the number with its plus.
func (n PhoneNumber) String() string { return string(n) }

// Digits returns the number without its plus.
func (n PhoneNumber) Digits() string { return strings.TrimPrefix(string(n), "+") }
