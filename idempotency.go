package callwright

import (
	"context"
	"time"
)

// IdempotencyStore stores the first answer to each request with an idempotency key, so that retries receive the same answer. An answer
// consists of the bytes that the transport needs to repeat it. Keys of different organizations are independent. Digests and answers are
// encrypted at rest. callwrighttest.RunIdempotencyStore tests implementations.
type IdempotencyStore interface {
	// Find returns the answer under the given key, byte for byte, and the digest of its request. It ignores an answer that was stored
	// before the time in the parameter since. It returns CodeNotFound if there is no such answer.
	Find(ctx context.Context, org OrgID, key string, since time.Time) (digest, answer []byte, err error)
	// StoreAnswer stores an answer with the time in the parameter at, in the transaction that executes the request. It replaces an answer
	// that was stored before the time in the parameter since. It returns CodeConflict if a newer answer exists, because another request
	// with this key was first.
	StoreAnswer(ctx context.Context, org OrgID, key string, digest, answer []byte, since, at time.Time) error
}
