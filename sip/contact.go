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

// contactBytes is the length of the secret part of a Contact before its encoding: 160 bits are 32 characters.
const contactBytes = 20

// ContactUser returns the user part of the Contact that an inbound trunk registers: its number, a hyphen and a secret part that
// only the registrar learns. A registrar without RFC 5626 calls the Contact over a new connection, from any address, and the secret
// part admits the call. All nodes derive the same user part, also after a restart, so that a registration replaces the previous
// one: registrars limit the bindings of an account.
func (t Trunk) ContactUser() string {
	mac := hmac.New(sha256.New, []byte(t.Options.Register.Password.Reveal()))
	mac.Write([]byte("contact " + t.Number.String()))
	secret := base32.StdEncoding.EncodeToString(mac.Sum(nil)[:contactBytes])
	return t.Number.String() + "-" + strings.ToLower(secret)
}

// secretPart matches a possible secret part of a Contact in a text, even if it was changed on its way: any long text after a number
// and a hyphen, or after a number alone any run of the secret's length in its alphabet.
var secretPart = regexp.MustCompile(`(\d(?:-|%2[dD]))[^-@;<>\s]{16,}|(\d)[A-Za-z2-7]{32,}`)

// RedactContacts returns a text without the secret parts of Contacts in it, for logs and records.
func RedactContacts(text string) string { return secretPart.ReplaceAllString(text, "$1$2…") }

// withPlus returns the user part of a Contact as it was registered: some systems call it without its plus.
func withPlus(user string) string {
	if user != "" && user[0] >= '1' && user[0] <= '9' {
		return "+" + user
	}
	return user
}

// ContactNumber returns the number in the user part of a Contact that a trunk has registered, with or without its plus. ok is false for
// all other texts.
func ContactNumber(user string) (n callwright.PhoneNumber, ok bool) {
	number, secret, ok := strings.Cut(withPlus(user), "-")
	if !ok || len(secret) != base32.StdEncoding.EncodedLen(contactBytes) {
		return "", false
	}
	n, err := callwright.ParsePhoneNumber(number)
	return n, err == nil && n.String() == number
}

// isContact reports whether a user part belongs to the trunk's Contact, in constant time.
func (t Trunk) isContact(user string) bool {
	return t.Options.Register.Password != "" && subtle.ConstantTimeCompare([]byte(withPlus(user)), []byte(t.ContactUser())) == 1
}
