package uri

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// place is a position in a URI. It determines which characters need no escape (RFC 3261, 25.1).
type place uint8

const (
	inUser place = 1 << iota
	inParam
	inHeader
)

// plain contains, for every byte, the positions at which the byte needs no escape.
var plain = func() (table [256]place) {
	const everywhere = inUser | inParam | inHeader
	set := func(chars string, p place) {
		for i := range len(chars) {
			table[chars[i]] |= p
		}
	}
	for c := range 256 {
		if isAlphanumeric(byte(c)) {
			table[c] = everywhere
		}
	}
	set("-_.!~*'()", everywhere) // mark
	set("&=+$,;?/", inUser)      // user-unreserved
	set("[]/:&+$", inParam)      // param-unreserved
	set("[]/?:+$", inHeader)     // hnv-unreserved
	return table
}()

// unescape returns text with its escapes decoded. It refuses malformed escapes, unescaped characters that need an escape at p, escaped
// control characters, which could split a message, and results that are not UTF-8.
func unescape(text string, p place) (string, error) {
	escapes := 0
	for i := range len(text) {
		if text[i] == '%' {
			escapes++
		} else if plain[text[i]]&p == 0 {
			return "", fault(fmt.Sprintf("must escape the reserved character %q as %%%02X", text[i], text[i]))
		}
	}
	if escapes == 0 {
		return text, nil
	}
	var b strings.Builder
	b.Grow(len(text) - 2*escapes + 2)
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			b.WriteByte(text[i])
			continue
		}
		c, ok := unhex(text[i+1:])
		if !ok {
			return "", fault("must escape a character as % and two hexadecimal digits, such as %25 for %")
		}
		if c < ' ' || c == 0x7f {
			return "", fault(fmt.Sprintf("must not contain the escaped control character %%%02X", c))
		}
		b.WriteByte(c)
		i += 2
	}
	if !utf8.ValidString(b.String()) {
		return "", fault("must contain only escapes that form valid UTF-8")
	}
	return b.String(), nil
}

// unhex parses the two hexadecimal digits at the start of s. The result is false if s does not begin with two digits.
func unhex(s string) (byte, bool) {
	if len(s) < 2 {
		return 0, false
	}
	high, ok1 := hexDigit(s[0])
	low, ok2 := hexDigit(s[1])
	return high<<4 | low, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	default:
		return 0, false
	}
}

func appendEscaped(b []byte, text string, p place) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(text) {
		if c := text[i]; plain[c]&p != 0 {
			b = append(b, c)
		} else {
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return b
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || isLetter(c)
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
