package sip

import (
	"crypto/rand"

	"github.com/callwright/callwright"
)

// Lengths of generated passwords in characters. Each character has 5.9 bits of entropy.
const (
	StandardPassword = 16
	LongPassword     = 32
)

// passwordCharacters are only letters and digits, because PBXs differ in which other characters they allow.
const passwordCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// GeneratePassword returns a random password of length characters from A-Z, a-z and 0-9.
func GeneratePassword(length int) callwright.Secret {
	const fair = 256 - 256%len(passwordCharacters) // larger bytes are discarded: they would make some characters more likely
	password := make([]byte, 0, length)
	random := make([]byte, length)
	for len(password) < length {
		_, _ = rand.Read(random) // crypto/rand.Read never returns an error
		for _, b := range random {
			if int(b) < fair && len(password) < length {
				password = append(password, passwordCharacters[int(b)%len(passwordCharacters)])
			}
		}
	}
	return callwright.Secret(password)
}
