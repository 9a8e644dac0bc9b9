package orgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

// IdempotencyStore stores answers by idempotency key; it implements callwright.IdempotencyStore.
type IdempotencyStore struct{ DB *bunstore.DB }

func (s IdempotencyStore) core() core { return core{s.DB.Core()} }

type answerRow struct {
	bun.BaseModel `bun:"table:answers,alias:answers"`

	Org    string    `bun:"org,pk"`
	Key    string    `bun:"key,pk"`
	Digest []byte    `bun:"digest"` // sealed, because a short password in the request could be guessed from its digest
	Answer []byte    `bun:"answer"` // sealed, because it may contain a secret that is shown only once
	KeptAt time.Time `bun:"kept_at"`
}

// answerPurpose returns the purpose of Keyring.Seal that binds a sealed column of an answer to its row.
func answerPurpose(org callwright.OrgID, key, column string) string {
	return fmt.Sprintf("answer:%q:%q:%s", org, key, column)
}

// unseal decrypts a row. It returns CodeNotFound if that fails, for example because the encryption key is lost, or because an earlier
// version stored the row unsealed.
func (s IdempotencyStore) unseal(r answerRow) (digest, answer []byte, err error) {
	org := callwright.OrgID(r.Org)
	d, err := s.core().Keyring.Open(answerPurpose(org, r.Key, "digest"), string(r.Digest))
	if err != nil {
		return nil, nil, callwright.NotFound("answer")
	}
	a, err := s.core().Keyring.Open(answerPurpose(org, r.Key, "answer"), string(r.Answer))
	if err != nil {
		return nil, nil, callwright.NotFound("answer")
	}
	return []byte(d), []byte(a), nil
}

// Find returns the answer that was stored under a key at or after the given time, and the digest of its request. It returns CodeNotFound if
// the answer is absent or cannot be decrypted.
func (s IdempotencyStore) Find(
	ctx context.Context, org callwright.OrgID, key string, since time.Time,
) (digest, answer []byte, err error) {
	var row answerRow
	err = s.core().Read(ctx, []any{org, key}, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Absent("answer", findAnswer(idb, &row, org, key).Where("kept_at >= ?", since).Scan(ctx))
	})
	if err != nil {
		return nil, nil, err
	}
	return s.unseal(row)
}

func findAnswer(idb bun.IDB, row *answerRow, org callwright.OrgID, key string) *bun.SelectQuery {
	return idb.NewSelect().Model(row).Where("org = ?", org).Where("key = ?", key)
}

// StoreAnswer stores an answer, with the argument at as its time. It replaces an answer whose time is before the argument since, and an
// answer that cannot be decrypted. It returns CodeConflict for any other stored answer. It also deletes up to 20 answers of the
// organization whose time is before the argument since.
func (s IdempotencyStore) StoreAnswer(
	ctx context.Context, org callwright.OrgID, key string, digest, answer []byte, since, at time.Time,
) error {
	seal := func(column string, text []byte) []byte {
		return []byte(s.core().Keyring.Seal(answerPurpose(org, key, column), callwright.Secret(text)))
	}
	row := answerRow{
		Org: string(org), Key: key, Digest: seal("digest", digest), Answer: seal("answer", answer), KeptAt: sqldb.Stored(at),
	}
	return s.core().Write(ctx, []any{org, key}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewInsert().Model(&row).
			On("CONFLICT (org, key) DO UPDATE").
			Set("digest = EXCLUDED.digest").Set("answer = EXCLUDED.answer").Set("kept_at = EXCLUDED.kept_at").
			Where("answers.kept_at < ?", since).Exec(ctx)
		err = sqldb.Changed(result, err, callwright.ErrConflict)
		if errors.Is(err, callwright.ErrConflict) {
			err = s.storeAnew(ctx, idb, row)
		}
		if err != nil {
			return err
		}
		return s.deleteOld(ctx, idb, org, since)
	})
}

// storeAnew replaces a stored answer that cannot be decrypted. It returns CodeConflict if the stored answer can be decrypted or was
// replaced meanwhile.
func (s IdempotencyStore) storeAnew(ctx context.Context, idb bun.IDB, row answerRow) error {
	var old answerRow
	if err := findAnswer(idb, &old, callwright.OrgID(row.Org), row.Key).Scan(ctx); err != nil {
		return err
	}
	if _, _, err := s.unseal(old); err == nil {
		return callwright.ErrConflict
	}
	result, err := idb.NewUpdate().Model(&row).WherePK().Where("answer = ?", old.Answer).Exec(ctx)
	return sqldb.Changed(result, err, callwright.ErrConflict)
}

// deleteOld deletes up to 20 answers of an organization that were stored before the given time. It skips rows that another transaction has
// locked, because waiting for them could cause a deadlock.
func (s IdempotencyStore) deleteOld(ctx context.Context, idb bun.IDB, org callwright.OrgID, before time.Time) error {
	const atOnce = 20
	old := idb.NewSelect().Model((*answerRow)(nil)).Column("key").
		Where("org = ?", org).Where("kept_at < ?", before).Limit(int64(atOnce))
	old = s.core().SkipLocked(old)
	_, err := idb.NewDelete().Model((*answerRow)(nil)).Where("org = ?", org).Where("key IN (?)", old).Exec(ctx)
	return err
}
