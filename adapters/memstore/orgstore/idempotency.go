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

// IdempotencyStore is a callwright.IdempotencyStore.
type IdempotencyStore struct{ Store *memstore.Store }

// Find returns the answer kept under a key since a time, and the digest of the request that got it.
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

// StoreAnswer stores an answer in place of one from before since.
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
