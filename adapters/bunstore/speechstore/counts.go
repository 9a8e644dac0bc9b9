package speechstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/speech"
)

// countRow is the number of samples of an organization: of a voice or, when that is empty, in all.
type countRow struct {
	bun.BaseModel `bun:"table:speech_counts,alias:counts"`

	Org     string `bun:"org,pk"`
	Voice   string `bun:"voice,pk"`
	Samples int64  `bun:"samples"`
}

// countsOf returns the amounts that samples add to counts. All transactions use the same order, which avoids deadlocks.
func countsOf(list []speech.Sample) []countRow {
	type key struct{ org, voice string }
	counts := map[key]int64{}
	for _, one := range list {
		counts[key{string(one.Org), ""}]++
		if one.Voice != "" {
			counts[key{string(one.Org), one.Voice}]++
		}
	}
	rows := make([]countRow, 0, len(counts))
	for of, n := range counts {
		rows = append(rows, countRow{Org: of.org, Voice: of.voice, Samples: n})
	}
	slices.SortFunc(rows, func(a, b countRow) int { return cmp.Or(cmp.Compare(a.Org, b.Org), cmp.Compare(a.Voice, b.Voice)) })
	return rows
}

// add adds to counts.
func (db core) add(ctx context.Context, rows []countRow) error {
	return db.Write(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewInsert().Model(&rows).On("CONFLICT (org, voice) DO UPDATE").Set("samples = counts.samples + EXCLUDED.samples").
			Returning("NULL").Exec(ctx)
		return err
	})
}

// subtract subtracts from counts, and deletes counts that become 0.
func (db core) subtract(ctx context.Context, rows []countRow) error {
	return db.Write(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		for _, row := range rows {
			update := idb.NewUpdate().Model((*countRow)(nil)).Set("samples = samples - ?", sqldb.Int(row.Samples)).
				Where("org = ?", row.Org).Where("voice = ?", row.Voice)
			if _, err := update.Exec(ctx); err != nil {
				return err
			}
			empty := idb.NewDelete().Model((*countRow)(nil)).Where("org = ?", row.Org).Where("voice = ?", row.Voice).Where("samples <= 0")
			if _, err := empty.Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}
