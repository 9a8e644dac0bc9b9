package mail

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	netmail "net/mail"
	"regexp"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"
)

// compose returns a message with a plain text body. It derives the Message-ID from id, so that recipients recognize a message that is sent
// again. It returns an error for an invalid address, and for a subject with a control character, because such a character could add lines
// to the header.
func compose(from, id, to, subject, text string, at time.Time) (*gomail.Msg, error) {
	if strings.ContainsFunc(subject, unicode.IsControl) {
		return nil, fmt.Errorf("the subject %q must not contain control characters", subject)
	}
	recipient, err := address(to)
	if err != nil {
		return nil, err
	}
	sender, err := address(from)
	if err != nil {
		return nil, err
	}
	_, domain, _ := strings.Cut(sender, "@")
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := m.From(sender); err != nil {
		return nil, err
	}
	if err := m.To(recipient); err != nil {
		return nil, err
	}
	m.Subject(subject)
	m.SetMessageIDWithValue(name(id) + "@" + domain)
	m.SetDateWithValue(at)
	m.SetGenHeader("Auto-Submitted", "auto-generated") // prevents automatic replies (RFC 3834)
	m.SetBodyString(gomail.TypeTextPlain, text)
	return m, nil
}

// address returns text if it is a bare mail address, without a display name, and otherwise an error.
func address(text string) (string, error) {
	a, err := netmail.ParseAddress(text)
	if err != nil || a.Address != text || strings.ContainsFunc(text, unicode.IsControl) {
		return "", fmt.Errorf("the mail address %q must have the form name@example.com, without a display name", text)
	}
	return text, nil
}

// plain matches ids whose characters are safe in a header and in a file name. name replaces all other ids, and ids that contain ".." or end
// with a dot, with their SHA-256.
var plain = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,127}$`)

func name(id string) string {
	if plain.MatchString(id) && !strings.Contains(id, "..") && !strings.HasSuffix(id, ".") {
		return id
	}
	digest := sha256.Sum256([]byte(id))
	return hex.EncodeToString(digest[:])
}
