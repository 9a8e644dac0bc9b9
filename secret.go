package callwright

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Secret is text that logs, messages and format verbs do not show. Only Reveal returns it. In two cases, package fmt shows the text because
// it does not call the methods of a Secret: in an unexported field, and behind a pointer if the verb does not fit a pointer (go vet reports
// %s). Do not print structures that hold secrets in these two ways.
type Secret string

// Reveal returns the secret.
func (s Secret) Reveal() string { return string(s) }

// String returns Redacted, or an empty string if s is empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Redacted
}

// Format prints the result of String for every verb, even for verbs that do not apply to strings.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, s.String()) }

// LogValue returns the result of String for logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns the result of String for JSON and every other text encoding.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Keyring encrypts secrets at rest with AES-256-GCM. It holds several keys, each with an id. It encrypts with the current key and decrypts
// with the key that encrypted the text, so that keys can be rotated without downtime.
type Keyring struct {
	current string
	keys    map[string]cipher.AEAD
}

// NewKeyring returns a keyring of keys of 32 bytes, by id. current is the id of the key for encryption. It returns an error if a key is not
// 32 bytes long, if an id is empty or contains a colon, or if current is not the id of a key.
func NewKeyring(current string, keys map[string][]byte) (*Keyring, error) {
	ring := &Keyring{current: current, keys: make(map[string]cipher.AEAD, len(keys))}
	for id, key := range keys {
		if len(key) != 32 {
			return nil, fmt.Errorf("key %q must have 32 bytes, not %d", id, len(key))
		}
		if id == "" || strings.Contains(id, ":") {
			return nil, fmt.Errorf("key id %q must not be empty or contain a colon", id)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", id, err)
		}
		if ring.keys[id], err = cipher.NewGCM(block); err != nil {
			return nil, fmt.Errorf("key %q: %w", id, err)
		}
	}
	if ring.keys[current] == nil {
		return nil, fmt.Errorf("the current key %q is not among the keys", current)
	}
	return ring, nil
}

// Seal encrypts a secret for one purpose, for example "trunk:<id>". Open requires the same purpose, so a sealed text that is moved to
// another row cannot be decrypted there. The sealed form of an empty secret is empty.
func (k *Keyring) Seal(purpose string, s Secret) string {
	if s == "" {
		return ""
	}
	aead := k.keys[k.current]
	size := aead.NonceSize()
	buffer := make([]byte, size+len(s), size+len(s)+aead.Overhead())
	_, _ = rand.Read(buffer[:size])
	copy(buffer[size:], s) // encrypted in place: a secret may be megabytes long
	sealed := aead.Seal(buffer[:size], buffer[:size], buffer[size:], []byte(purpose))
	text := make([]byte, 0, len(k.current)+1+base64.RawStdEncoding.EncodedLen(len(sealed)))
	text = append(append(text, k.current...), ':')
	return string(base64.RawStdEncoding.AppendEncode(text, sealed))
}

// ErrWrongKey is in the chain of every error that Keyring.Open returns.
var ErrWrongKey = errors.New("the sealed text belongs to another key or another purpose, or is damaged")

// Open decrypts a text that Seal encrypted for the same purpose. It returns an empty secret for an empty text, and an error that wraps
// ErrWrongKey if it cannot decrypt a text.
func (k *Keyring) Open(purpose, sealed string) (Secret, error) {
	if sealed == "" {
		return "", nil
	}
	id, text, _ := strings.Cut(sealed, ":")
	aead := k.keys[id]
	if aead == nil {
		return "", fmt.Errorf("%w: the keyring does not hold the key %q", ErrWrongKey, id)
	}
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(raw) < aead.NonceSize() {
		return "", fmt.Errorf("%w: Keyring.Seal did not return it", ErrWrongKey)
	}
	plain, err := aead.Open(raw[aead.NonceSize():aead.NonceSize()], raw[:aead.NonceSize()], raw[aead.NonceSize():], []byte(purpose))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrWrongKey, err)
	}
	return Secret(plain), nil
}
