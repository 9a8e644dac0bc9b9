package triage

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"

	"github.com/callwright/callwright"
)

// Cursors seals and opens the cursors of pages. A cursor is signed, and valid only for its organization and list. Several keys, each with
// an id, allow a change of the signing key: cursors of a former key stay valid while that key is listed.
type Cursors struct {
	current byte
	keys    map[byte]func() hash.Hash // HMACs instead of keys, which fmt would print
}

// cursorKey is the minimum size of a key, in bytes.
const cursorKey = 32

// NewCursors returns Cursors that accept all of the keys, which are given by id, and sign with the key whose id is current. Every key must
// have at least 32 bytes. All nodes must use the same keys.
func NewCursors(current byte, keys map[byte][]byte) (*Cursors, error) {
	c := &Cursors{current: current, keys: make(map[byte]func() hash.Hash, len(keys))}
	for id, key := range keys {
		if len(key) < cursorKey {
			return nil, fmt.Errorf("triage: cursor key %d must have at least %d bytes, not %d", id, cursorKey, len(key))
		}
		c.keys[id] = hmacUnder(bytes.Clone(key))
	}
	if c.keys[current] == nil {
		return nil, errors.New("triage: the current cursor key is not among the keys")
	}
	return c, nil
}

// newProcessCursors returns Cursors with a random key. Their cursors are valid only in this process.
func newProcessCursors() *Cursors {
	key := make([]byte, cursorKey)
	_, _ = rand.Read(key) // crypto/rand never returns an error: it aborts the program
	return &Cursors{keys: map[byte]func() hash.Hash{0: hmacUnder(key)}}
}

func hmacUnder(key []byte) func() hash.Hash {
	return func() hash.Hash { return hmac.New(sha256.New, key) }
}

// A cursor consists of its version, the id of its key, the value of the place in 8 bytes, the first 16 bytes of the HMAC, and the id of the
// place. It is encoded in base64.
const (
	cursorVersion = 1
	cursorHead    = 1 + 1 + 8
	cursorMAC     = 16
)

// seal returns the cursor of a place in the list with the given name.
func (c *Cursors) seal(org callwright.OrgID, list string, p Place) string {
	raw := []byte{cursorVersion, c.current}
	raw = binary.BigEndian.AppendUint64(raw, uint64(p.Value))
	raw = append(raw, mac(c.keys[c.current](), raw, org, list, p.ID)...)
	return base64.RawURLEncoding.EncodeToString(append(raw, p.ID...))
}

// open returns the place of a cursor that seal created for the same organization and list. An empty cursor is the beginning. Any other text
// causes CodeBadRequest, even a different base64 spelling of a valid cursor.
func (c *Cursors) open(org callwright.OrgID, list, cursor string) (Place, error) {
	if cursor == "" {
		return Place{}, nil
	}
	bad := callwright.Invalid("cursor", "must be a cursor that the same list returned for the same filters")
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || base64.RawURLEncoding.EncodeToString(raw) != cursor ||
		len(raw) <= cursorHead+cursorMAC || raw[0] != cursorVersion {
		return Place{}, bad
	}
	head, sum, id := raw[:cursorHead], raw[cursorHead:cursorHead+cursorMAC], string(raw[cursorHead+cursorMAC:])
	key := c.keys[head[1]]
	if key == nil || !hmac.Equal(sum, mac(key(), head, org, list, id)) {
		return Place{}, bad
	}
	return Place{Value: int64(binary.BigEndian.Uint64(head[2:])), ID: id}, nil
}

// mac returns the truncated HMAC of a cursor's head, organization, list and id. The length precedes each text, so that their boundaries are
// unambiguous.
func mac(h hash.Hash, head []byte, org callwright.OrgID, list, id string) []byte {
	h.Write(head)
	for _, text := range []string{string(org), list, id} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	return h.Sum(nil)[:cursorMAC]
}
