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

// Find returns the key in the variable or, without it, in the file of the data folder. fs.ErrNotExist: neither contains one.
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

// Text returns the key in the format of the variable and the file.
func (k Key) Text() callwright.Secret {
	return callwright.Secret(base64.StdEncoding.EncodeToString(k.key))
}

// Format prints where the key is from, and a placeholder for the key itself.
func (k Key) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s from %s", callwright.Redacted, k.From)
}

// Derive returns the key of a purpose, such as "my exports". Keys returns the keys for the purposes of a deployment.
func (k Key) Derive(purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, k.key, nil, "callwright: "+purpose, Size)
}

// The purposes of the keys of a deployment. A purpose that changes makes another key, which reads nothing of before.
const (
	atRest            = "secrets at rest"
	apiKeys           = "API keys"
	registerPasswords = "register passwords"
	letters           = "letters of authorization"
	cursors           = "cursors"
	speechLinks       = "links to speech"
	numberProofs      = "proofs of numbers"
)

// Keys are the keys that a deployment derives from its master key, one for each purpose.
type Keys struct {
	Keyring           *callwright.Keyring // encrypts stored values
	APIKeys           callwright.Secret   // the HMAC under which API keys are stored: access.Config.Secret
	RegisterPasswords callwright.Secret   // derives the passwords that trunks register with: sip.Config.DerivationKey
	Letters           callwright.Secret   // derives the links to letters of authorization: loa.Config.Key
	Cursors           callwright.Secret   // signs the cursors of issues and their feeds: triage.NewCursors
	SpeechLinks       callwright.Secret   // signs the links to the audio of samples: speech.Config.Key
	NumberProofs      callwright.Secret   // the HMAC under which codes are stored that prove numbers: proof.Config.Key
}

// Keys returns the keys of a deployment. The server and the programs beside it derive the same.
func (k Key) Keys() (keys Keys, err error) {
	for purpose, to := range map[string]*callwright.Secret{
		apiKeys: &keys.APIKeys, registerPasswords: &keys.RegisterPasswords, letters: &keys.Letters, cursors: &keys.Cursors,
		speechLinks: &keys.SpeechLinks, numberProofs: &keys.NumberProofs,
	} {
		derived, err := k.Derive(purpose)
		if err != nil {
			return Keys{}, err
		}
		*to = callwright.Secret(derived)
	}
	keys.Keyring, err = k.Keyring()
	return keys, err
}

// Keyring returns the keys that encrypt stored values.
func (k Key) Keyring() (*callwright.Keyring, error) {
	key, err := k.Derive(atRest)
	if err != nil {
		return nil, err
	}
	return callwright.NewKeyring("1", map[string][]byte{"1": key})
}
