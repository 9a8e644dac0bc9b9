package speechstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/speech"
)

// samples holds the samples of all organizations.
type samples struct {
	byID   *memory.Table[string, speech.Sample]
	counts *memory.Table[countKey, int]
}

// countKey is the key of a count of samples: of one voice of an organization, or of all its voices.
type countKey struct {
	org   callwright.OrgID
	voice string // empty: all
}

// New returns no samples.
func (samples) New() samples {
	return samples{memory.NewTable[string, speech.Sample](), memory.NewTable[countKey, int]()}
}

// Clone begins a transaction: the tables record its changes.
func (s samples) Clone() samples {
	s.byID.Begin()
	s.counts.Begin()
	return s
}

// Undo reverses the changes since Clone.
func (s samples) Undo() {
	s.byID.Undo()
	s.counts.Undo()
}

// count adds n to the numbers that a sample is in.
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

// pick returns the samples that match, oldest first and then by id.
func (s samples) pick(match func(speech.Sample) bool) (list []speech.Sample) {
	for _, row := range s.byID.Rows() {
		if match(row) {
			list = append(list, row)
		}
	}
	slices.SortFunc(list, func(a, b speech.Sample) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	return list
}

// Samples is a speech.Samples.
type Samples struct{ Store *memstore.Store }

var _ speech.Samples = Samples{}

// with calls f with the samples, in the transaction of ctx or alone. f must not fail after its first change.
func (s Samples) with(ctx context.Context, f func(all *samples) error) error {
	return memory.With(ctx, s.Store.Core(), f)
}

// InsertSample adds a sample.
func (s Samples) InsertSample(ctx context.Context, one speech.Sample) error {
	return s.with(ctx, func(all *samples) error {
		if _, taken := all.byID.Rows()[one.ID]; taken {
			return callwright.ErrConflict
		}
		all.byID.Set(one.ID, one)
		all.count(one, 1)
		return nil
	})
}

// Sample returns a sample.
func (s Samples) Sample(ctx context.Context, org callwright.OrgID, id string) (found speech.Sample, err error) {
	err = s.with(ctx, func(all *samples) error {
		row, known := all.byID.Rows()[id]
		if !known || row.Org != org {
			return callwright.NotFound("sample")
		}
		found = row
		return nil
	})
	return found, err
}

// SampleByKey returns the newest sample with a key that is not too old.
func (s Samples) SampleByKey(ctx context.Context, org callwright.OrgID, key string, since time.Time) (found speech.Sample, err error) {
	err = s.with(ctx, func(all *samples) error {
		list := all.pick(func(one speech.Sample) bool { return one.Org == org && one.Key == key && !one.CreatedAt.Before(since) })
		if len(list) == 0 {
			return callwright.NotFound("sample")
		}
		found = list[len(list)-1]
		return nil
	})
	return found, err
}

// ListSamples returns a page of samples and their total number.
func (s Samples) ListSamples(
	ctx context.Context, org callwright.OrgID, voice string, limit, offset int,
) (list []speech.Sample, total int, err error) {
	err = s.with(ctx, func(all *samples) error {
		total = all.counts.Rows()[countKey{org, voice}]
		list = all.pick(func(one speech.Sample) bool { return one.Org == org && (voice == "" || one.Voice == voice) })
		slices.Reverse(list)
		list = list[min(offset, len(list)):]
		list = list[:min(limit, len(list))]
		return nil
	})
	return list, total, err
}

// DeleteSample deletes a sample.
func (s Samples) DeleteSample(ctx context.Context, org callwright.OrgID, id string) error {
	return s.with(ctx, func(all *samples) error {
		one, known := all.byID.Rows()[id]
		if !known || one.Org != org {
			return callwright.NotFound("sample")
		}
		all.byID.Delete(id)
		all.count(one, -1)
		return nil
	})
}

// DeleteSamples deletes the oldest samples that were made before a time.
func (s Samples) DeleteSamples(ctx context.Context, before time.Time, limit int) (list []speech.Sample, err error) {
	err = s.with(ctx, func(all *samples) error {
		list = all.pick(func(one speech.Sample) bool { return one.CreatedAt.Before(before) })
		list = list[:min(limit, len(list))]
		for _, one := range list {
			all.byID.Delete(one.ID)
			all.count(one, -1)
		}
		return nil
	})
	return list, err
}

// BlobUsed reports whether a sample has a blob.
func (s Samples) BlobUsed(ctx context.Context, org callwright.OrgID, blob string) (used bool, err error) {
	err = s.with(ctx, func(all *samples) error {
		for _, one := range all.byID.Rows() {
			used = used || one.Org == org && one.Blob == blob
		}
		return nil
	})
	return used, err
}
