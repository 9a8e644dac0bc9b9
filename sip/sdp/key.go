package sdp

import (
	"bytes"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
)

const (
	masterKeyLen  = 16
	masterSaltLen = 14
	keyTextLen    = 40 // 30 bytes in base64, which requires no padding
	redacted      = "[redacted]"
)

// Key is an SRTP master key and master salt for AES_CM_128_HMAC_SHA1_80. Printing, logging or marshaling a Key does not reveal it. The zero
// Key means that no key is set.
type Key struct{ material sealed[material] }

// material is the master key followed by the master salt.
type material [masterKeyLen + masterSaltLen]byte

// NewKey creates a key from 30 bytes of random, which must be a cryptographic source such as crypto/rand.Reader. It returns an error if
// random fails.
func NewKey(random io.Reader) (Key, error) {
	m := new(material)
	if _, err := io.ReadFull(random, m[:]); err != nil {
		return Key{}, fmt.Errorf("sdp: no random bytes for an SRTP key: %w", err)
	}
	return Key{material: seal(m)}, nil
}

// parseKey parses the base64 text of a key (RFC 4568), with or without padding.
func parseKey(text string) (Key, bool) {
	for range 2 {
		if n := len(text); n > keyTextLen && text[n-1] == '=' {
			text = text[:n-1]
		}
	}
	if len(text) != keyTextLen {
		return Key{}, false
	}
	m := new(material)
	if n, err := base64.RawStdEncoding.Decode(m[:], []byte(text)); err != nil || n != len(m) {
		return Key{}, false
	}
	return Key{material: seal(m)}, true
}

// Master returns a copy of the 16-byte master key, or nil for the zero Key.
func (k Key) Master() []byte {
	if m := k.material.open(); m != nil {
		return bytes.Clone(m[:masterKeyLen])
	}
	return nil
}

// Salt returns a copy of the 14-byte master salt, or nil for the zero Key.
func (k Key) Salt() []byte {
	if m := k.material.open(); m != nil {
		return bytes.Clone(m[masterKeyLen:])
	}
	return nil
}

// IsZero reports whether the key is unset.
func (k Key) IsZero() bool { return k.material.open() == nil }

// Equal reports whether two keys are equal, in constant time. After a re-INVITE, it shows whether the peer has changed its key.
func (k Key) Equal(o Key) bool {
	a, b := k.material.open(), o.material.open()
	if a == nil || b == nil {
		return a == b
	}
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// String hides the key. GoString, Format, LogValue and MarshalText hide it from the other ways of printing.
func (Key) String() string { return redacted }

// GoString hides the key from %#v.
func (Key) GoString() string { return redacted }

// Format hides the key from every verb.
func (Key) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, redacted) }

// LogValue hides the key from logs.
func (Key) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the key from encoders.
func (Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }

func (k Key) appendText(b []byte) []byte {
	return base64.RawStdEncoding.AppendEncode(b, k.material.open()[:])
}
