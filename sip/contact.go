package sip

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"regexp"
	"strings"

	"github.com/callwright/callwright"
)

// contactBytes is the length in bytes of the secret part of a Contact before its encoding: 160 bits become 32 characters.
const contactBytes = 20

// ContactUser returns the user part of the Contact that an inbound trunk registers: its number, a hyphen and a secret part that only the
// registrar learns. A registrar without RFC 5626 calls the Contact over a new connection, from any address, and the secret part admits the
// call. All nodes derive the same user part, even after a restart, so that a new registration replaces the previous one. This matters
// because registrars limit the bindings of an account.
func (t Trunk) ContactUser() string {
	mac := hmac.New(sha256.New, []byte(t.Options.Register.Password.Reveal()))
	mac.Write([]byte("contact " + t.Number.String()))
	secret := base32.StdEncoding.EncodeToString(mac.Sum(nil)[:contactBytes])
	return t.Number.String() + "-" + strings.ToLower(secret)
}

// secretPart matches every part of a text that may be the secret of a Contact, even if a system on the path has changed it. It matches 16
// or more characters, none of them a delimiter, after a digit and a hyphen, which may be escaped. It also matches 32 or more characters of
// the secret's alphabet directly after a digit.
var secretPart = regexp.MustCompile(`(\d(?:-|%2[dD]))[^-@;<>\s]{16,}|(\d)[A-Za-z2-7]{32,}`)

// RedactContacts replaces the secret parts of Contacts in a text, for logs and records.
func RedactContacts(text string) string { return secretPart.ReplaceAllString(text, "$1$2…") }

// withPlus returns the user part of a Contact with the plus sign of its number, which some systems omit.
func withPlus(user string) string {
	if user != "" && user[0] >= '1' && user[0] <= '9' {
		return "+" + user
	}
	return user
}

// ContactNumber returns the number in the user part of a registered Contact, with or without its plus sign. ok is false if user does not
// have the form of ContactUser. The secret part is not checked.
func ContactNumber(user string) (n callwright.PhoneNumber, ok bool) {
	number, secret, ok := strings.Cut(withPlus(user), "-")
	if !ok || len(secret) != base32.StdEncoding.EncodedLen(contactBytes) {
		return "", false
	}
	n, err := callwright.ParsePhoneNumber(number)
	return n, err == nil && n.String() == number
}

// isContact reports whether user is the trunk's ContactUser, with or without the plus sign. It compares in constant time. It returns false
// for a trunk that does not register.
func (t Trunk) isContact(user string) bool {
	return t.Options.Register.Password != "" && subtle.ConstantTimeCompare([]byte(withPlus(user)), []byte(t.ContactUser())) == 1
}
