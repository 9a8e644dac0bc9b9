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

// maxText bounds a phrase or name of a peer in a call's record, in bytes.
const maxText = 200

// Printable makes a peer's text fit for logs and records: valid UTF-8 without control characters, at most 200 bytes, and without the
// secret parts of our Contacts.
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

// Text returns a peer's text as UTF-8, which records and agents need. Other text is taken for Latin-1, whose control characters
// become U+FFFD: PBXs send it although RFC 3261, section 7, forbids it.
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

// ErrControl reports a control character in a header or a start line.
var ErrControl = errors.New("a control character in a SIP header")

// HasControl reports whether a text contains a control character other than a tab.
func HasControl(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return true
		}
	}
	return false
}

// CheckControl refuses a message with a control character in its start line or a header: a line end in a user's text
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

// isToken reports whether a text may stand as a header's name. It is stricter than RFC 3261's token.
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

// Bracketed returns a host as a URI shows it: an IPv6 address stands in brackets.
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

// Seconds formats a duration as delta-seconds (RFC 3261, section 25.1).
func Seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }

// ReadSeconds parses delta-seconds. It returns 0 for anything else, and at most a day.
func ReadSeconds(s string) time.Duration {
	const day = 24 * 60 * 60
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 32)
	if err != nil {
		return 0
	}
	return time.Duration(min(n, day)) * time.Second
}
