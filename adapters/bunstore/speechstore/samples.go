package speechstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/speech"
)

// Samples stores samples of speech; it implements speech.Samples. The numbers of samples are in a separate table, which the transactions
// that insert and delete samples update.
type Samples struct{ DB *bunstore.DB }

var _ speech.Samples = Samples{}

func (s Samples) core() core { return core{s.DB.Core()} }

func (s Samples) rows() sqldb.Rows[speech.Sample, sampleRow] {
	return sqldb.Rows[speech.Sample, sampleRow]{DB: s.DB.Core(), Kind: "sample", Row: sqldb.Plain(newSampleRow), Value: sqldb.Plain(sampleRow.sample)}
}

type sampleRow struct {
	bun.BaseModel `bun:"table:speech_samples,alias:sample"`

	ID        string        `bun:"id,pk"`
	Org       string        `bun:"org"`
	User      string        `bun:"user_id"`
	Text      string        `bun:"text"`
	Voice     string        `bun:"voice"`
	Language  string        `bun:"language"`
	Format    string        `bun:"format"`
	Key       string        `bun:"digest"`
	Blob      string        `bun:"blob"`
	Bytes     int64         `bun:"bytes"`
	Duration  time.Duration `bun:"duration_ns"`
	Latency   time.Duration `bun:"latency_ns"`
	CreatedAt time.Time     `bun:"created_at"`
}

func newSampleRow(s speech.Sample) sampleRow {
	return sampleRow{
		ID: s.ID, Org: string(s.Org), User: s.User, Text: s.Text, Voice: s.Voice, Language: s.Language, Format: string(s.Format), Key: s.Key,
		Blob: s.Blob, Bytes: s.Bytes, Duration: s.Duration, Latency: s.Latency, CreatedAt: sqldb.Stored(s.CreatedAt),
	}
}

func (r sampleRow) sample() speech.Sample {
	return speech.Sample{
		ID: r.ID, Org: callwright.OrgID(r.Org), User: r.User, Text: r.Text, Voice: r.Voice, Language: r.Language,
		Format: speech.Format(r.Format), Key: r.Key, Blob: r.Blob, Bytes: r.Bytes, Duration: r.Duration, Latency: r.Latency,
		CreatedAt: r.CreatedAt.UTC(),
	}
}

// InsertSample adds a sample. It returns CodeConflict if the id exists.
func (s Samples) InsertSample(ctx context.Context, one speech.Sample) error {
	return s.DB.Do(ctx, func(ctx context.Context) error {
		if err := s.rows().Insert(ctx, one); err != nil {
			return err
		}
		return s.core().add(ctx, countsOf([]speech.Sample{one}))
	})
}

// Sample returns one sample, or CodeNotFound if it is absent.
func (s Samples) Sample(ctx context.Context, org callwright.OrgID, id string) (speech.Sample, error) {
	return s.rows().Find(ctx, org, id)
}

// SampleByKey returns the newest sample with the given key, or CodeNotFound if none was created at or after the given time.
func (s Samples) SampleByKey(ctx context.Context, org callwright.OrgID, key string, since time.Time) (speech.Sample, error) {
	return s.rows().One(ctx, []any{org, key}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org).Where("digest = ?", key).Where("created_at >= ?", ceiled(since)).Order("created_at DESC", "id DESC").Limit(1)
	})
}

// ceiled returns t in UTC, rounded up to microseconds, the precision of the databases.
func ceiled(t time.Time) time.Time {
	stored := sqldb.Stored(t)
	if stored.Before(t) {
		stored = stored.Add(time.Microsecond)
	}
	return stored
}

// ListSamples returns a page of samples, newest first, and the number of samples on all pages. An empty voice selects the samples of all
// voices. A subquery selects the ids of the page from an index alone, so that skipping earlier samples reads no rows.
func (s Samples) ListSamples(
	ctx context.Context, org callwright.OrgID, voice string, limit, offset int,
) (list []speech.Sample, total int, err error) {
	var rows []sampleRow
	err = s.core().Read(ctx, []any{org, voice}, func(ctx context.Context, idb bun.IDB) error {
		rows, total = nil, 0
		count := new(countRow)
		err := idb.NewSelect().Model(count).Where("org = ?", org).Where("voice = ?", voice).Scan(ctx)
		if err != nil {
			return sqldb.Absent("count", err)
		}
		if total = int(count.Samples); limit <= 0 || offset >= total {
			return nil
		}
		page := idb.NewSelect().Model((*sampleRow)(nil)).ModelTableExpr("speech_samples AS paged").Column("paged.id").Where("paged.org = ?", org)
		if voice != "" {
			page = page.Where("paged.voice = ?", voice)
		}
		page = page.Order("paged.created_at DESC", "paged.id DESC").Limit(int64(limit)).Offset(int64(offset))
		return idb.NewSelect().Model(&rows).Where("id IN (?)", page).Order("created_at DESC", "id DESC").Scan(ctx)
	})
	if err != nil && callwright.CodeOf(err) != callwright.CodeNotFound { // without a count there are no samples
		return nil, 0, err
	}
	return sqldb.Converted(rows, sampleRow.sample), total, nil
}

// DeleteSample deletes a sample, or returns CodeNotFound if it is absent.
func (s Samples) DeleteSample(ctx context.Context, org callwright.OrgID, id string) error {
	return s.DB.Do(ctx, func(ctx context.Context) error {
		one, err := s.Sample(ctx, org, id)
		if err != nil {
			return err
		}
		if err := s.rows().DeleteExisting(ctx, org, id); err != nil { // fails if another transaction has deleted it meanwhile
			return err
		}
		return s.core().subtract(ctx, countsOf([]speech.Sample{one}))
	})
}

// DeleteSamples deletes up to limit samples that were created before the given time, oldest first, and returns them. It skips samples that
// another transaction is deleting.
func (s Samples) DeleteSamples(ctx context.Context, before time.Time, limit int) (list []speech.Sample, err error) {
	if limit <= 0 {
		return nil, nil
	}
	err = s.DB.Do(ctx, func(ctx context.Context) error {
		var rows []sampleRow
		err := s.core().Write(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
			rows = nil
			old := idb.NewSelect().Model(&rows).Where("created_at < ?", ceiled(before)).Order("created_at", "id").Limit(int64(limit))
			if err := s.core().SkipLocked(old).Scan(ctx); err != nil || len(rows) == 0 {
				return err
			}
			_, err := idb.NewDelete().Model(&rows).WherePK().Exec(ctx)
			return err
		})
		if err != nil {
			return err
		}
		list = sqldb.Converted(rows, sampleRow.sample)
		return s.core().subtract(ctx, countsOf(list))
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// BlobUsed reports whether a sample of the organization refers to a blob.
func (s Samples) BlobUsed(ctx context.Context, org callwright.OrgID, blob string) (used bool, err error) {
	err = s.core().Read(ctx, []any{org, blob}, func(ctx context.Context, idb bun.IDB) error {
		used, err = idb.NewSelect().Model((*sampleRow)(nil)).ColumnExpr("1").Where("org = ?", org).Where("blob = ?", blob).Exists(ctx)
		return err
	})
	return used, err
}
