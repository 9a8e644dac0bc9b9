package speechstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/speech"
)

// countRow is the number of an organization's samples with a voice. If Voice is empty, it is the number of all of the organization's
// samples.
type countRow struct {
	bun.BaseModel `bun:"table:speech_counts,alias:counts"`

	Org     string `bun:"org,pk"`
	Voice   string `bun:"voice,pk"`
	Samples int64  `bun:"samples"`
}

// countsOf returns the changes of counts that correspond to a list of samples. They are sorted, so that all transactions lock rows in the
// same order and do not deadlock.
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

// add adds the values of rows to the stored counts.
func (db core) add(ctx context.Context, rows []countRow) error {
	return db.Write(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewInsert().Model(&rows).On("CONFLICT (org, voice) DO UPDATE").Set("samples = counts.samples + EXCLUDED.samples").
			Returning("NULL").Exec(ctx)
		return err
	})
}

// subtract subtracts the values of rows from the stored counts, and deletes counts that become 0.
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
