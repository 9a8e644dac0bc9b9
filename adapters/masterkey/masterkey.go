// Package masterkey finds the master key of a deployment, in the environment or in a file of its data folder. It derives a key for each
// purpose from the master key (HKDF, RFC 5869), so the server and the deployment's other programs derive the same keys.
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

// Variable is the name of the environment variable that holds the master key of all nodes, in base64. If it is not set, the key is in the
// file of the data folder.
const Variable = "CALLWRIGHT_SECRET_KEY"

// Size is the length of the master key and of every derived key, in bytes.
const Size = 32

// Key is a master key. Printing it shows only From.
type Key struct {
	From string // the variable or the file that contains the key

	key []byte
}

// File returns the path of the master key's file in a data folder.
func File(folder string) string { return filepath.Join(folder, "secret.key") }

// Find returns the master key. The argument variable is the value of the environment variable Variable, which contains the key. If it is
// empty, Find reads the file in the data folder, and returns fs.ErrNotExist if that file is absent. Find returns an error if the key is not
// base64 of Size bytes.
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

// New returns a random key whose From is the file of a data folder. It does not write the file: the caller writes Text to it.
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

// Text returns the key in base64, the format of the variable and the file.
func (k Key) Text() callwright.Secret {
	return callwright.Secret(base64.StdEncoding.EncodeToString(k.key))
}

// Format implements fmt.Formatter. It prints From, and a placeholder in place of the key.
func (k Key) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s from %s", callwright.Redacted, k.From)
}

// Derive returns the key of Size bytes for a purpose, such as "my exports". Keys returns the keys that Callwright itself uses.
func (k Key) Derive(purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, k.key, nil, "callwright: "+purpose, Size)
}

// The purposes of the keys of a deployment. A changed purpose derives another key, which cannot decrypt or verify earlier data.
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
	APIKeys           callwright.Secret   // the HMAC key for stored API keys: access.Config.Secret
	RegisterPasswords callwright.Secret   // derives the passwords with which trunks register: sip.Config.DerivationKey
	Letters           callwright.Secret   // derives the links to letters of authorization: loa.Config.Key
	Cursors           callwright.Secret   // signs the cursors of issues and their feeds: triage.NewCursors
	SpeechLinks       callwright.Secret   // signs the links to the audio of samples: speech.Config.Key
	NumberProofs      callwright.Secret   // the HMAC key for the stored codes that prove numbers: proof.Config.Key
}

// Keys returns the keys of a deployment. It derives the same keys in the server and in the deployment's other programs.
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

// Keyring returns the keyring that encrypts stored values. It contains one key, with the id 1.
func (k Key) Keyring() (*callwright.Keyring, error) {
	key, err := k.Derive(atRest)
	if err != nil {
		return nil, err
	}
	return callwright.NewKeyring("1", map[string][]byte{"1": key})
}
