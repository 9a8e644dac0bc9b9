package speechstore

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/speech"
)

// samples holds the samples of all organizations.
type samples struct {
	*memory.Tables
	byID   *memory.Rows[string, speech.Sample]
	counts *memory.Table[countKey, int]
}

// countKey identifies a count of samples: an organization's samples with one voice, or all of its samples.
type countKey struct {
	org   callwright.OrgID
	voice string // empty for all samples
}

// New returns an empty table of samples.
func (samples) New() samples {
	t := &memory.Tables{}
	byID := memory.NewRows(t, "sample", func(s *speech.Sample) (callwright.OrgID, string, *int64) { return s.Org, s.ID, nil })
	return samples{t, byID, memory.NewTable[countKey, int](t)}
}

// count adds n to the organization's number of samples, and to the number of the sample's voice.
func (s samples) count(one speech.Sample, n int) {
	keys := []countKey{{one.Org, ""}}
	if one.Voice != "" {
		keys = append(keys, countKey{one.Org, one.Voice})
	}
	for _, key := range keys {
		if now := s.counts.Rows()[key] + n; now > 0 {
			s.counts.Set(key, now)
		} else {
			s.counts.Delete(key)
		}
	}
}

func place(s speech.Sample) callwright.Keyset { return callwright.Keyset{At: s.CreatedAt, ID: s.ID} }

func oldest(a, b speech.Sample) int { return memory.Compare(place(a), place(b)) }

func newest(a, b speech.Sample) int { return oldest(b, a) }

// Samples implements speech.Samples in memory.
type Samples struct{ Store *memstore.Store }

var _ speech.Samples = Samples{}

// with passes the samples to f, in the transaction of ctx if it carries one. f must not fail after its first change, because only a failed
// transaction undoes changes.
func (s Samples) with(ctx context.Context, f func(all *samples) error) error {
	return memory.With(ctx, s.Store.Core(), f)
}

// InsertSample adds a sample, or returns CodeConflict if its ID is already stored.
func (s Samples) InsertSample(ctx context.Context, one speech.Sample) error {
	return s.with(ctx, func(all *samples) error {
		if err := all.byID.Insert(one); err != nil {
			return err
		}
		all.count(one, 1)
		return nil
	})
}

// Sample returns a sample, or CodeNotFound if the organization has no such sample.
func (s Samples) Sample(ctx context.Context, org callwright.OrgID, id string) (speech.Sample, error) {
	return memory.Read(ctx, s.Store.Core(), func(all *samples) (speech.Sample, error) { return all.byID.Find(org, id) })
}

// SampleByKey returns the organization's newest sample with the given key, or CodeNotFound if none was created at or after the given time.
func (s Samples) SampleByKey(ctx context.Context, org callwright.OrgID, key string, since time.Time) (speech.Sample, error) {
	return memory.Read(ctx, s.Store.Core(), func(all *samples) (speech.Sample, error) {
		return all.byID.First(newest, func(one speech.Sample) bool { return one.Org == org && one.Key == key && !one.CreatedAt.Before(since) })
	})
}

// ListSamples returns a page of an organization's samples, newest first, and the number of all of them. An empty voice selects all voices.
func (s Samples) ListSamples(
	ctx context.Context, org callwright.OrgID, voice string, limit, offset int,
) (list []speech.Sample, total int, err error) {
	err = s.with(ctx, func(all *samples) error {
		total = all.counts.Rows()[countKey{org, voice}]
		list = all.byID.Select(offset+limit, newest, func(one speech.Sample) bool { return one.Org == org && (voice == "" || one.Voice == voice) })
		list = list[min(offset, len(list)):]
		return nil
	})
	return list, total, err
}

// DeleteSample deletes a sample, or returns CodeNotFound if the organization has no such sample.
func (s Samples) DeleteSample(ctx context.Context, org callwright.OrgID, id string) error {
	return s.with(ctx, func(all *samples) error {
		one, err := all.byID.Find(org, id)
		if err != nil {
			return err
		}
		all.count(one, -1)
		return all.byID.Delete(org, id)
	})
}

// DeleteSamples deletes up to limit samples that were created before the given time, oldest first, and returns them.
func (s Samples) DeleteSamples(ctx context.Context, before time.Time, limit int) (list []speech.Sample, err error) {
	err = s.with(ctx, func(all *samples) error {
		list = all.byID.Select(limit, oldest, func(one speech.Sample) bool { return one.CreatedAt.Before(before) })
		for _, one := range list {
			all.byID.Table.Delete(one.ID)
			all.count(one, -1)
		}
		return nil
	})
	return list, err
}

// BlobUsed reports whether any sample of the organization uses a blob.
func (s Samples) BlobUsed(ctx context.Context, org callwright.OrgID, blob string) (used bool, err error) {
	err = s.with(ctx, func(all *samples) error {
		for _, one := range all.byID.Rows() {
			used = used || one.Org == org && one.Blob == blob
		}
		return nil
	})
	return used, err
}
