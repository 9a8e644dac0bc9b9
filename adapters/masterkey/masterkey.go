// Package masterkey finds the master key of a deployment, in the environment or in a file of its data folder, and derives a key for each
// purpose from it (HKDF, RFC 5869). The server and the programs beside it find the same keys so.
package masterkey

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/callwright/callwright"
)

// Variable names the variable of the environment that holds the master key of all nodes in base64. Without it, the key lives in the data
// folder.
const Variable = "CALLWRIGHT_SECRET_KEY"

// Size is the length of every key in bytes.
const Size = 32

// Key is a master key.
type Key struct {
	From string // the variable or the file that has it

	key []byte
}

// File returns the file of the master key of a data folder.
func File(folder string) string { return filepath.Join(folder, "secret.key") }

// Find returns the key that the variable holds, or else the file of the data folder. fs.ErrNotExist: neither has one.
func Find(variable, folder string) (Key, error) {
	if variable != "" {
		return decode(variable, Variable)
	}
	text, err := os.ReadFile(File(folder))
	if err != nil {
		return Key{}, err
	}
	return decode(string(text), File(folder))
}

// New returns a random key for the file of a data folder. The caller writes its Text there.
func New(folder string) Key {
	key := make([]byte, Size)
	_, _ = rand.Read(key)
	return Key{From: File(folder), key: key}
}

func decode(text, from string) (Key, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != Size {
		return Key{}, fmt.Errorf("%s must hold %d bytes in base64", from, Size)
	}
	return Key{From: from, key: key}, nil
}

// Text returns the key as the variable and the file hold it.
func (k Key) Text() callwright.Secret {
	return callwright.Secret(base64.StdEncoding.EncodeToString(k.key))
}

// Derive returns the key of a purpose, such as "cursors".
func (k Key) Derive(purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, k.key, nil, "callwright: "+purpose, Size)
}

// Keyring returns the keys that encrypt what is kept.
func (k Key) Keyring() (*callwright.Keyring, error) {
	key, err := k.Derive("secrets at rest")
	if err != nil {
		return nil, err
	}
	return callwright.NewKeyring("1", map[string][]byte{"1": key})
}
