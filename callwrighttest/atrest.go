package callwrighttest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"testing"
)

// AtRest returns everything that a store wrote outside of the process: every column of a database, or every byte of its files. The suites
// search it for texts that must be encrypted. It is nil for a store that keeps everything in memory.
type AtRest[S any] func(t *testing.T, s S) []byte

// VisibleID is part of the ids that Check stores. Stores keep ids in plain text, so that Check can verify that AtRest returns the stored
// data.
const VisibleID = "visible-id"

// Check calls store, which must store a value whose id contains VisibleID. It fails the test if the data from AtRest lacks VisibleID, or
// contains a secret in plain text, hexadecimal or base64. The length of each secret must be a multiple of 3 bytes. A nil AtRest checks
// nothing.
func (f AtRest[S]) Check(t *testing.T, s S, store func() error, secrets ...string) {
	t.Helper()
	if f == nil {
		return // the store keeps everything in memory
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
