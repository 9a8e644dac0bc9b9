package sip

import (
	"crypto/rand"

	"github.com/callwright/callwright"
)

// Lengths of generated passwords in characters of 5.9 bits of entropy each.
const (
	StandardPassword = 16
	LongPassword     = 32
)

// passwordCharacters are letters and digits: PBXs differ in which other characters a password may have.
const passwordCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// GeneratePassword returns a random password with a number of characters.
func GeneratePassword(length int) callwright.Secret {
	const fair = 256 - 256%len(passwordCharacters) // larger bytes would make some characters likelier
	password := make([]byte, 0, length)
	random := make([]byte, length)
	for len(password) < length {
		_, _ = rand.Read(random) // never fails
		for _, b := range random {
			if int(b) < fair && len(password) < length {
				password = append(password, passwordCharacters[int(b)%len(passwordCharacters)])
			}
		}
	}
	return callwright.Secret(password)
}
