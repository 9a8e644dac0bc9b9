package header

import (
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// userToUser is the name of the header that RFC 7433 defines.
const userToUser = "User-to-User"

// isdn is the default purpose of a value without the purpose parameter (RFC 7433, section 4.1).
const isdn = "isdn-uui"

// information is one uui-value (RFC 7433, section 4.1).
type information struct {
	data   string
	params map[string]string // by lower-case name
}

// find returns the content of the first value of a User-to-User header that matches the rule and can be decoded.
func (u UUI) find(value string) (text string, ok bool) {
	for _, i := range parse(value) {
		if !u.wants(i) {
			continue
		}
		if text, ok := i.text(u.Encoding); ok {
			return text, true
		}
	}
	return "", false
}

func (u UUI) wants(i information) bool {
	purpose, given := i.params["purpose"]
	if !given {
		purpose = isdn
	}
	return (u.Purpose == "" || strings.EqualFold(u.Purpose, purpose)) &&
		(u.Content == "" || strings.EqualFold(u.Content, i.params["content"]))
}

// text decodes the data for a variable. standard is the encoding of a value without the encoding parameter. Hexadecimal data that does not
// encode readable text, such as data from ISDN, is returned as digits.
func (i information) text(standard string) (text string, ok bool) {
	encoding, given := i.params["encoding"]
	if !given {
		encoding = standard
	}
	switch {
	case encoding == "":
		return i.data, i.data != ""
	case !strings.EqualFold(encoding, Hex):
		return "", false
	}
	raw, err := hex.DecodeString(i.data)
	if err != nil || len(raw) == 0 {
		return "", false
	}
	if text = string(raw); !readable(text) {
		text = i.data
	}
	return text, true
}

func readable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsPrint(r) && r != '\t' && r != '\n' && r != '\r'
	})
}

// render returns the value of a User-to-User header that contains a text, or "" for an empty text.
func (u UUI) render(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	if u.Encoding == Hex {
		b.WriteString(hex.EncodeToString([]byte(text)) + ";encoding=" + Hex)
	} else {
		b.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`)
	}
	if u.Purpose != "" {
		b.WriteString(";purpose=" + u.Purpose)
	}
	if u.Content != "" {
		b.WriteString(";content=" + u.Content)
	}
	return b.String()
}

// parse returns the values of a User-to-User header: uui-data *(";" uui-param), separated by commas. It returns nil for a malformed header.
func parse(value string) []information {
	var all []information
	s := scanner(value)
	for {
		i := information{params: map[string]string{}}
		var ok bool
		if i.data, ok = s.word(); !ok {
			return nil
		}
		for s.skipSeparator(';') {
			name, isToken := s.token()
			if !isToken {
				return nil
			}
			var text string
			if s.skipSeparator('=') {
				if text, ok = s.word(); !ok {
					return nil
				}
			}
			i.params[strings.ToLower(name)] = text
		}
		all = append(all, i)
		if !s.skipSeparator(',') {
			break
		}
	}
	if s.blanks(); s != "" {
		return nil
	}
	return all
}

// scanner is the part of a header value that was not read yet.
type scanner string

func (s *scanner) blanks() { *s = scanner(strings.TrimLeft(string(*s), " \t")) }

// skipSeparator skips white space and then a separator. It reports whether the separator was found.
func (s *scanner) skipSeparator(separator byte) bool {
	s.blanks()
	if *s == "" || (*s)[0] != separator {
		return false
	}
	*s = (*s)[1:]
	return true
}

// word reads a token or a quoted string. ok is false if neither follows.
func (s *scanner) word() (text string, ok bool) {
	if s.blanks(); *s == "" || (*s)[0] != '"' {
		return s.token()
	}
	var b strings.Builder
	for i := 1; i < len(*s); i++ {
		switch c := (*s)[i]; c {
		case '"':
			*s = (*s)[i+1:]
			return b.String(), true
		case '\\':
			if i++; i == len(*s) {
				return "", false
			}
			b.WriteByte((*s)[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

func (s *scanner) token() (text string, ok bool) {
	s.blanks()
	text = string(*s)
	if end := strings.IndexFunc(text, func(r rune) bool { return !isTokenRune(r) }); end >= 0 {
		text = text[:end]
	}
	*s = (*s)[len(text):]
	return text, text != ""
}

// isTokenRune reports whether a rune may occur in a token (RFC 3261, section 25.1).
func isTokenRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-.!%*_+`'~", r)
}

func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !isTokenRune(r) })
}
