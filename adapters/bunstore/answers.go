package bunstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
)

// Answers is callwright.Answers.
type Answers struct{ *DB }

type answerRow struct {
	bun.BaseModel `bun:"table:answers,alias:answers"`

	Org    string    `bun:"org,pk"`
	Key    string    `bun:"key,pk"`
	Digest []byte    `bun:"digest"`
	Answer []byte    `bun:"answer"`
	KeptAt time.Time `bun:"kept_at"`
}

// Find is the answer kept under a key since a time, and the digest of the request that got it.
func (s Answers) Find(
	ctx context.Context, org callwright.OrgID, key string, since time.Time,
) (digest, answer []byte, err error) {
	var row answerRow
	err = s.read(ctx, []any{org, key}, func(idb bun.IDB) error {
		query := idb.NewSelect().Model(&row).
			Where("org = ?", org).Where("key = ?", key).Where("kept_at >= ?", since)
		return absent("answer", query.Scan(ctx))
	})
	return row.Digest, row.Answer, err
}

// Keep stores an answer in place of one from before since.
func (s Answers) Keep(
	ctx context.Context, org callwright.OrgID, key string, digest, answer []byte, since, at time.Time,
) error {
	row := answerRow{Org: string(org), Key: key, Digest: notNil(digest), Answer: notNil(answer), KeptAt: stored(at)}
	return s.write(ctx, []any{org, key}, func(idb bun.IDB) error {
		result, err := idb.NewInsert().Model(&row).
			On("CONFLICT (org, key) DO UPDATE").
			Set("digest = EXCLUDED.digest").Set("answer = EXCLUDED.answer").Set("kept_at = EXCLUDED.kept_at").
			Where("answers.kept_at < ?", since).Exec(ctx)
		if err := changed(result, err, callwright.ErrConflict); err != nil {
			return err
		}
		return s.forget(ctx, idb, org, since)
	})
}

// forget removes some answers that nobody will ask for any more, so that they don't pile up. It leaves alone what
// another transaction holds: waiting for each other's could end in a deadlock.
func (s Answers) forget(ctx context.Context, idb bun.IDB, org callwright.OrgID, before time.Time) error {
	const atOnce = 20
	old := idb.NewSelect().Model((*answerRow)(nil)).Column("key").
		Where("org = ?", org).Where("kept_at < ?", before).Limit(atOnce)
	if s.dialect.skip != "" {
		old = old.For(s.dialect.skip)
	}
	_, err := idb.NewDelete().Model((*answerRow)(nil)).Where("org = ?", org).Where("key IN (?)", old).Exec(ctx)
	return err
}

// notNil keeps an absent value apart from NULL, which the columns refuse.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
