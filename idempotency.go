package callwright

import (
	"context"
	"time"
)

// IdempotencyStore keeps the first answer to each request with an idempotency key, so that a client that retries gets the
// same answer. An answer is the bytes that the transport needs to repeat it. Keys of different organizations are independent.
// Digests and answers are encrypted at rest. callwrighttest.RunIdempotencyStore tests it.
type IdempotencyStore interface {
	// Find returns the answer that was kept under a key at since or later, byte for byte, and the digest of its request; CodeNotFound
	// when there is none.
	Find(ctx context.Context, org OrgID, key string, since time.Time) (digest, answer []byte, err error)
	// StoreAnswer stores an answer that was made at a time, in the transaction that does the request's work. It replaces an answer from
	// before since, and returns CodeConflict for a later one: another request with this key was first.
	StoreAnswer(ctx context.Context, org OrgID, key string, digest, answer []byte, since, at time.Time) error
}
