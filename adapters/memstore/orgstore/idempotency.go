package orgstore

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
)

type answerKey struct {
	org callwright.OrgID
	key string
}

type answer struct {
	digest, body []byte
	at           time.Time
}

// IdempotencyStore implements callwright.IdempotencyStore in memory.
type IdempotencyStore struct{ Store *memstore.Store }

// Find returns the answer stored under an idempotency key, and the digest of its request. It returns CodeNotFound if the answer is absent,
// or was stored before the given time.
func (s IdempotencyStore) Find(
	ctx context.Context, org callwright.OrgID, key string, since time.Time,
) (digest, body []byte, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		a, ok := d.answers.Rows()[answerKey{org, key}]
		if !ok || a.at.Before(since) {
			return callwright.NotFound("answer")
		}
		digest, body = memory.Clone(a.digest), memory.Clone(a.body)
		return nil
	})
	return digest, body, err
}

// StoreAnswer stores the answer to a request under an idempotency key, with the argument at as its time. It replaces an answer whose time
// is before the argument since, and returns CodeConflict for a newer answer.
func (s IdempotencyStore) StoreAnswer(
	ctx context.Context, org callwright.OrgID, key string, digest, body []byte, since, at time.Time,
) error {
	return with(ctx, s.Store, func(d *data) error {
		if a, taken := d.answers.Rows()[answerKey{org, key}]; taken && !a.at.Before(since) {
			return callwright.ErrConflict
		}
		d.answers.Set(answerKey{org, key}, answer{digest: memory.Clone(digest), body: memory.Clone(body), at: at})
		return nil
	})
}
