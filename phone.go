package callwright

import (
	"context"
	"slices"
	"strings"
)

//go:generate env GOWORK=off go -C internal/tools run ./numbering ../../numbering.go

// PhoneNumber is an E.164 number with its leading plus, for example "+15551234567": at most 15 digits, the first not 0 (ITU-T
// E.164, section 6).
type PhoneNumber string

// The minimum and maximum lengths of E.164 numbers, in digits. E.164 defines no minimum; the shortest numbers in use with a country code
// contain seven digits.
const (
	minPhoneDigits = 7
	maxPhoneDigits = 15
)

// Country is the ISO 3166-1 code of the country whose rules apply to numbers without a plus, for example "US". The empty Country means
// none.
type Country string

// numbering describes the format of a country's numbers.
type numbering struct {
	code    string // country code of E.164, for example "44"
	trunk   string // the prefix that is dialed only within the country, for example "0"; empty if there is none
	lengths lengths
}

// lengths is a set of lengths in digits: bit n means that numbers of n digits exist.
type lengths uint32

func (l lengths) has(n int) bool { return n < 32 && l&(1<<n) != 0 }

// Check returns CodeBadRequest unless c is empty or the code of a country whose number format is known.
func (c Country) Check() error {
	if _, known := countries[c]; !known && c != "" {
		return Invalid("", "must be the ISO 3166-1 code of a country with telephone numbers: two capital letters such as US")
	}
	return nil
}

// ParsePhoneNumber parses a number like Country.ParseNumber with the empty Country.
func ParsePhoneNumber(s string) (PhoneNumber, error) { return Country("").ParseNumber(s) }

// ParseNumber parses a number of an organization whose default country is c. Callers normally use ReadNumber, which determines the country.
//
// A number with a plus must be E.164. A space is accepted in place of the plus, because an unescaped plus in a URL's query becomes a space.
//
// Digits without a plus can be a number of the country c or E.164. They can be a number of the country if, with or without its trunk
// prefix, they have a length and a first digit that its numbers can have. They can be E.164 if they begin with a country code whose numbers
// have the remaining length. If both readings are possible:
//
//   - Digits with the trunk prefix are a number of the country.
//   - In a country without a trunk prefix, or with its country code as the trunk prefix, digits of the national length are a number of the
//     country, unless they begin with its country code.
//   - Other digits are refused: CodeBadRequest names both readings.
//
// Without a country, ten digits that can be a number of North America and E.164 are refused with both readings, too.
//
// Separators are refused: callers delete them with TypedNumber.
func (c Country) ParseNumber(s string) (PhoneNumber, error) {
	if digits, international := cutPlus(s); international {
		return e164(digits)
	}
	if !isDigits(s) {
		return "", errNotE164(s)
	}
	readings := c.readings(s)
	switch len(readings) {
	case 1:
		return e164(readings[0])
	case 0:
		return "", c.noReading(s)
	default:
		return "", Invalid("", "is ambiguous: must be written +%s or +%s", readings[0], readings[1])
	}
}

func cutPlus(s string) (digits string, international bool) {
	if strings.HasPrefix(s, " ") || strings.HasPrefix(s, "+") {
		return strings.TrimPrefix(strings.TrimPrefix(s, " "), "+"), true
	}
	return s, false
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func errNotE164(s string) error {
	if strings.Contains(s, "(0)") {
		return Invalid("", "must not contain (0), which is dialed only within the country")
	}
	return Invalid("", "must be an E.164 phone number such as +15551234567")
}

// e164 returns the number with the given digits, or CodeBadRequest unless they are 7 to 15 digits and the first is not 0.
func e164(digits string) (PhoneNumber, error) {
	if len(digits) < minPhoneDigits || len(digits) > maxPhoneDigits || digits[0] == '0' || !isDigits(digits) {
		return "", errNotE164(digits)
	}
	return PhoneNumber("+" + digits), nil
}

// readings returns the possible readings of digits without a plus that remain after the rules of ParseNumber: at most two, sorted. A
// reading consists of E.164 digits.
func (c Country) readings(digits string) []string {
	var readings []string
	international := fitsCountryCode(digits)
	in, known := countries[c]
	switch {
	case known:
		rest, prefixed := strings.CutPrefix(digits, in.trunk)
		prefixed = prefixed && in.trunk != "" && in.fits(rest)
		national := in.fits(digits)
		if prefixed {
			readings = append(readings, in.code+rest)
		}
		if national {
			readings = append(readings, in.code+digits)
		}
		writesTrunk := in.trunk != "" && in.trunk != in.code
		international = international && !prefixed && (!national || writesTrunk || strings.HasPrefix(digits, in.code))
	case isNorthAmerican(digits) && international:
		readings = append(readings, "1"+digits)
	}
	if international {
		readings = append(readings, digits)
	}
	slices.Sort(readings)
	return slices.Compact(readings)
}

// fits reports whether digits have the length and the beginning of a national number without its trunk prefix. In countries with a trunk
// prefix they must not begin with 0, because 00 is an international prefix. In North America they must not begin with 0 or 1.
func (n numbering) fits(digits string) bool {
	return n.lengths.has(len(digits)) && (n.trunk == "" || digits[0] != '0') && (n.code != "1" || digits[0] > '1') &&
		len(n.code+digits) <= maxPhoneDigits
}

// fitsCountryCode reports whether digits begin with a country code whose numbers have the remaining length.
func fitsCountryCode(digits string) bool {
	for n := 1; n <= min(3, len(digits)); n++ {
		if l, known := countryCodes[digits[:n]]; known {
			return l.has(len(digits) - n)
		}
	}
	return false
}

// isNorthAmerican reports whether digits have the form of a number of North America without its country code: ten digits, with an area code
// and an exchange that do not begin with 0 or 1.
func isNorthAmerican(digits string) bool {
	return len(digits) == 10 && digits[0] > '1' && digits[3] > '1'
}

// NumberReadings returns all possible readings of digits without a plus, as E.164 or in the format of any country, sorted. The
// organization's default country determines the right reading: see ReadNumber.
func NumberReadings(digits string) []PhoneNumber {
	if !isDigits(digits) || len(digits) > maxPhoneDigits+1 {
		return nil
	}
	var all []PhoneNumber
	for country := range countries {
		for _, reading := range country.readings(digits) {
			if n, err := e164(reading); err == nil {
				all = append(all, n)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// noReading returns a CodeBadRequest for digits without a possible reading.
func (c Country) noReading(digits string) error {
	if c == "" && isNorthAmerican(digits) {
		return Invalid("", "is ambiguous: must begin with + and the country code: +1%s for a number of North America (+%s is not a valid number)", digits, digits)
	}
	return Invalid("", "must begin with + and the country code, such as +14155550108")
}

// Numbering reads organizations, for callers that need only the default country or the limit of numbers. OrganizationStore includes it.
type Numbering interface {
	// Organization returns the organization with the given id, or CodeNotFound if it is absent.
	Organization(ctx context.Context, id OrgID) (Organization, error)
}

// ReadNumber parses a number that an organization wrote. All numbers in requests must be parsed with it. It calls Country.ParseNumber with
// the organization's default country, and looks that country up only for a number without a plus. It uses the empty Country if the
// parameter in is nil or the organization is absent.
func ReadNumber(ctx context.Context, in Numbering, org OrgID, text string) (PhoneNumber, error) {
	if _, international := cutPlus(text); international || in == nil {
		return ParsePhoneNumber(text)
	}
	o, err := in.Organization(ctx, org)
	if err != nil && CodeOf(err) != CodeNotFound {
		return "", err
	}
	return o.DefaultCountry.ParseNumber(text)
}

// separators lists the separators that a typed number may contain (ITU-T E.123), including the no-break spaces and hyphens.
const separators = " \u00a0\u202f-\u2010\u2011.()"

// TypedNumber deletes the spaces, hyphens, dots and parentheses (ITU-T E.123) of a typed number, for example "+1 (202) 555-0102", to
// prepare it for ReadNumber. A text that contains "(0)" (a trunk prefix that is dialed only within the country), or a plus after its first
// character, is returned unchanged, except for surrounding white space.
func TypedNumber(s string) string {
	s = strings.TrimSpace(s)
	rest, _ := strings.CutPrefix(s, "+")
	if strings.Contains(s, "(0)") || strings.Contains(rest, "+") {
		return s
	}
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(separators, c) {
			return -1
		}
		return c
	}, s)
}

// String returns the number with its plus.
func (n PhoneNumber) String() string { return string(n) }

// Digits returns the number without its plus.
func (n PhoneNumber) Digits() string { return strings.TrimPrefix(string(n), "+") }
