package message

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/emiago/sipgo/sip"

	trunk "github.com/callwright/callwright/sip"
)

// maxText is the maximum length of a peer's text in a call record, in bytes.
const maxText = 200

// Printable converts a peer's text for logs and records. The result is valid UTF-8 of at most 200 bytes, without control characters and
// without the secret parts of our Contacts.
func Printable(s string) string {
	valid := trunk.RedactContacts(Text(s))
	valid = strings.ToValidUTF8(valid[:min(len(valid), maxText)], "")
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, valid)
}

// Text converts a peer's text to valid UTF-8, which records and agents require. Text in another encoding is interpreted as Latin-1, and its
// control characters from 0x80 become U+FFFD. Some PBXs send such text although RFC 3261, section 7, forbids it.
func Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := rune(s[i]); c >= 0x80 && c < 0xa0 {
			b.WriteRune(utf8.RuneError)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// ErrControl means that a header or a start line contains a control character.
var ErrControl = errors.New("a SIP header must not contain control characters")

// HasControl reports whether a text contains a control character other than a tab.
func HasControl(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return true
		}
	}
	return false
}

// CheckControl returns ErrControl if the start line or a header of a message contains a control character. A line break in a user's text
// would otherwise add headers (header injection).
func CheckControl(msg interface {
	StartLine() string
	Headers() []sip.Header
}) error {
	if HasControl(msg.StartLine()) {
		return fmt.Errorf("start line: %w", ErrControl)
	}
	for _, h := range msg.Headers() {
		if HasControl(h.Name()) || HasControl(h.Value()) {
			return fmt.Errorf("%.20q: %w", h.Name(), ErrControl)
		}
	}
	return nil
}

// isToken reports whether a text may be the name of a header. It is stricter than the token of RFC 3261.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		alphanumeric := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alphanumeric && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return s != ""
}

// Bracketed returns a host in the form of a URI, with brackets around an IPv6 address.
func Bracketed(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		return "[" + host + "]"
	}
	return host
}

// TrimBrackets returns a URI's host without the brackets of an IPv6 address.
func TrimBrackets(host string) string {
	if len(host) > 2 && host[0] == '[' && host[len(host)-1] == ']' {
		return host[1 : len(host)-1]
	}
	return host
}

// Seconds formats a duration as whole delta-seconds (RFC 3261, section 25.1).
func Seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }

// ReadSeconds parses delta-seconds. It returns at most a day, and 0 if the text is invalid.
func ReadSeconds(s string) time.Duration {
	const day = 24 * 60 * 60
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 32)
	if err != nil {
		return 0
	}
	return time.Duration(min(n, day)) * time.Second
}
