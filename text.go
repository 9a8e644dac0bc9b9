package callwright

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Longer reports whether a text has more characters (Unicode code points, the unit of lengths in the contract) than the limit, most. Clip
// counts bytes.
func Longer(text string, most int) bool {
	return len(text) > most && utf8.RuneCountInString(text) > most
}

// Hidden reports whether a character is invisible or changes the display of other characters. Such characters are control and format
// characters (Cc, Cf), and line and paragraph separators (Zl, Zp). Terminals interpret some of them.
func Hidden(c rune) bool {
	return unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Printable returns a text without invalid UTF-8, control characters (Cc) and characters that change the direction of other characters (the
// Unicode property Bidi_Control). Newlines and tabs stay. A carriage return before a newline is deleted, and other white space among the control
// characters becomes a space, so that words stay apart. Texts of models enter conversations, chats and records through it, because such
// characters damage speech and disguise text.
func Printable(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n', c == '\t':
			return c
		case unicode.IsControl(c) && unicode.IsSpace(c):
			return ' '
		case unicode.IsControl(c), unicode.Is(unicode.Bidi_Control, c):
			return -1
		}
		return c
	}, strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\r\n", "\n"))
}

// Blank reports whether nothing of a text can be seen: it has only white space and characters for which Hidden returns true.
func Blank(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsSpace(c) && !Hidden(c) })
}

// Clip shortens a text so that its length in bytes does not exceed the limit, most, for example for a database column or a log line.
// (Longer counts characters.) Clip cuts between characters and replaces the end with an ellipsis, whose 3 bytes count. If the limit is less
// than 3, it shortens a longer text to the empty string.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const more = "…"
	if most < len(more) {
		return ""
	}
	most -= len(more)
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + more
}
