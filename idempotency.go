package callwright

import (
	"context"
	"time"
)

// IdempotencyStore stores the first answer to each request with an idempotency key, so that retries get the same answer. An answer
// consists of the bytes that the transport needs to repeat it. Keys of different organizations are independent. Digests and answers
// are encrypted at rest. callwrighttest.RunIdempotencyStore tests it.
type IdempotencyStore interface {
	// Find returns the answer that was stored under a key at since or later, byte for byte, and the digest of its request;
	// CodeNotFound without one.
	Find(ctx context.Context, org OrgID, key string, since time.Time) (digest, answer []byte, err error)
	// StoreAnswer stores an answer that was made at a time, in the transaction that does the request's work. It replaces an answer from
	// before since, and returns CodeConflict for a later one: another request with this key was first.
	StoreAnswer(ctx context.Context, org OrgID, key string, digest, answer []byte, since, at time.Time) error
}
