package callwrighttest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"testing"
)

// AtRest returns everything that a store has written to where it outlives the process: every column of a database, or every
// byte of its files. The suites look in it for what must be encrypted. A store that keeps everything in memory has no AtRest.
type AtRest[S any] func(t *testing.T, s S) []byte

// visible is in the ids of what check stores, so that it can tell that an AtRest returns what is stored.
const visible = "visible-id"

// check stores something and looks for secrets in what is at rest then.
func (f AtRest[S]) check(t *testing.T, s S, store func() error, secrets ...string) {
	t.Helper()
	if f == nil {
		return // the store keeps nothing beyond the process
	}
	if err := store(); err != nil {
		t.Fatal(err)
	}
	raw := f(t, s)
	if !bytes.Contains(raw, []byte(visible)) {
		t.Fatalf("what is at rest, %d bytes, has nothing of what was stored", len(raw))
	}
	for _, secret := range secrets {
		for form, text := range map[string]string{
			"plain text": secret, "hexadecimal": hex.EncodeToString([]byte(secret)), "base64": base64.RawStdEncoding.EncodeToString([]byte(secret)),
		} {
			if bytes.Contains(raw, []byte(text)) {
				t.Errorf("%q is at rest in %s", secret, form)
			}
		}
	}
}
