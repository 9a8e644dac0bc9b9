package callwrighttest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"testing"
)

// AtRest returns everything that a store wrote to a place that outlives the process: every column of a database, or every
// byte of its files. The suites look in it for texts that must be encrypted. A store that keeps everything in memory has no AtRest.
type AtRest[S any] func(t *testing.T, s S) []byte

// VisibleID is part of the ids that Check stores, so that Check can tell whether an AtRest returns the stored data. Stores keep ids in
// plain text.
const VisibleID = "visible-id"

// Check calls store, which stores something whose id holds VisibleID, and fails the test if a secret is at rest in plain text,
// hexadecimal or base64. Secrets have a multiple of 3 bytes, so that base64 shows them wherever they stand. A nil AtRest
// checks nothing.
func (f AtRest[S]) Check(t *testing.T, s S, store func() error, secrets ...string) {
	t.Helper()
	if f == nil {
		return // the store keeps nothing beyond the process
	}
	if err := store(); err != nil {
		t.Fatal(err)
	}
	raw := f(t, s)
	if !bytes.Contains(raw, []byte(VisibleID)) {
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
