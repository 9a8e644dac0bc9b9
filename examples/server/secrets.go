package main

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/callwright/callwright"
)

// secretEnv holds the master key of all nodes in base64, 32 bytes. Without it, the key lives in the data folder.
const secretEnv = "CALLWRIGHT_SECRET_KEY"

const keyBytes = 32

// secrets are the keys that the server derives from its master key, one a purpose (HKDF, RFC 5869).
type secrets struct {
	Keyring     *callwright.Keyring // encrypts what is kept
	APIKeys     []byte              // the HMAC under which API keys are stored
	Registering callwright.Secret   // derives the passwords that trunks register with
	Cursors     []byte              // signs the cursors of issues and their feeds
}

func newSecrets(c config) (secrets, error) {
	master, err := masterKey(filepath.Join(c.Data, "secret.key"))
	if err != nil {
		return secrets{}, fmt.Errorf("master key: %w", err)
	}
	seal, sealErr := hkdf.Key(sha256.New, master, nil, "callwright: secrets at rest", keyBytes)
	apiKeys, hmacErr := hkdf.Key(sha256.New, master, nil, "callwright: API keys", keyBytes)
	registering, deriveErr := hkdf.Key(sha256.New, master, nil, "callwright: register passwords", keyBytes)
	cursors, signErr := hkdf.Key(sha256.New, master, nil, "callwright: cursors", keyBytes)
	if err := errors.Join(sealErr, hmacErr, deriveErr, signErr); err != nil {
		return secrets{}, err
	}
	ring, err := callwright.NewKeyring("1", map[string][]byte{"1": seal})
	return secrets{Keyring: ring, APIKeys: apiKeys, Registering: callwright.Secret(registering), Cursors: cursors}, err
}

// masterKey is the key from the environment, else from the file, which is made at the first start.
func masterKey(path string) ([]byte, error) {
	if text := os.Getenv(secretEnv); text != "" {
		return decodeKey(text, secretEnv)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key := make([]byte, keyBytes)
		_, _ = rand.Read(key)
		return key, os.WriteFile(path, []byte(base64.StdEncoding.EncodeToString(key)+"\n"), 0o600)
	}
	if err != nil {
		return nil, err
	}
	return decodeKey(string(text), path)
}

func decodeKey(text, where string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("%s must hold %d bytes in base64", where, keyBytes)
	}
	return key, nil
}
