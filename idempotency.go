package callwright

import (
	"context"
	"time"
)

// IdempotencyStore keeps the first answers to requests that carry an idempotency key, so that a client that tries again gets the
// same one. An answer is whatever bytes the transport needs to give it again.
type IdempotencyStore interface {
	// Find is the answer kept under a key since a time, and the digest of the request that got it; CodeNotFound when
	// there is none.
	Find(ctx context.Context, org OrgID, key string, since time.Time) (digest, answer []byte, err error)
	// Keep stores an answer, in the transaction that did the work. One from before since is replaced; CodeConflict
	// when there is a later one: another request with this key was first.
	Keep(ctx context.Context, org OrgID, key string, digest, answer []byte, since, at time.Time) error
}
