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

// ContactUser returns the user part of the Contact that an inbound trunk registers: its number, a hyphen and a part that
// only the registrar learns. A registrar without RFC 5626 calls the Contact over a connection of its own, from any address,
// and this part admits the call. Every node makes the same one, after a restart too, so that a registration replaces the one
// before it: registrars limit the bindings of an account.
func (t Trunk) ContactUser() string {
	mac := hmac.New(sha256.New, []byte(t.Options.Register.Password.Reveal()))
	mac.Write([]byte("contact " + t.Number.String()))
	secret := base32.StdEncoding.EncodeToString(mac.Sum(nil)[:contactBytes])
	return t.Number.String() + "-" + strings.ToLower(secret)
}

// secretPart matches what may be the secret part of a Contact in a text, also one that was changed on its way: whatever long text follows a
// number and a hyphen, or a number alone with as many characters of its alphabet as it has.
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

// isContact reports whether a user part is that of the trunk's Contact, in constant time.
func (t Trunk) isContact(user string) bool {
	return t.Options.Register.Password != "" && subtle.ConstantTimeCompare([]byte(withPlus(user)), []byte(t.ContactUser())) == 1
}
