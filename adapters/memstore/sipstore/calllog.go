package sipstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/ladder"
)

// CallLog is a calllog.Store.
type CallLog struct{ Store *memstore.Store }

// Begin adds a record that has not ended.
func (s CallLog) Begin(ctx context.Context, r calllog.Record) error {
	return with(ctx, s.Store, func(d *data) error {
		r.End = calllog.End{}
		_ = d.records.Insert(r) // one that is there stays
		return nil
	})
}

// Answer sets when a call was answered.
func (s CallLog) Answer(ctx context.Context, org callwright.OrgID, id string, at time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		r, err := d.records.Find(org, id)
		if err != nil || r.EndedAt != nil {
			return err
		}
		r.AnsweredAt = &at
		d.records.Set(id, r)
		return nil
	})
}

// Finish ends a record and keeps its ladder.
func (s CallLog) Finish(
	ctx context.Context, org callwright.OrgID, id string, end calllog.End, steps []ladder.Event,
) error {
	if end.EndedAt == nil {
		return callwright.Invalid("ended_at", "is required")
	}
	return with(ctx, s.Store, func(d *data) error {
		r, err := d.records.Find(org, id)
		if err != nil || r.EndedAt != nil {
			return err
		}
		end.AnsweredAt = cmp.Or(end.AnsweredAt, r.AnsweredAt)
		r.End = memory.Clone(end)
		d.records.Set(id, r)
		d.ladders.Set(id, slices.Clone(steps))
		return nil
	})
}

// Get returns one record with its ladder.
func (s CallLog) Get(
	ctx context.Context, org callwright.OrgID, id string,
) (r calllog.Record, steps []ladder.Event, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, err := d.records.Find(org, id)
		r, steps = found, slices.Clone(d.ladders.Rows()[id])
		return err
	})
	return r, steps, err
}

// Attempts returns the records of a call with their ladders.
func (s CallLog) Attempts(ctx context.Context, org callwright.OrgID, parent string, limit int) ([]calllog.Attempt, error) {
	var all []calllog.Attempt
	found, err := s.records(ctx, func(r calllog.Record) bool { return r.Org == org && r.ParentID == parent }, limit)
	for _, r := range found {
		_, steps, ladderErr := s.Get(ctx, org, r.ID)
		err = cmp.Or(err, ladderErr)
		all = append(all, calllog.Attempt{Record: r, Ladder: steps})
	}
	return all, err
}

// List returns a page of the records of a number.
func (s CallLog) List(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, before callwright.Keyset, limit int,
) ([]calllog.Record, error) {
	return read(ctx, s.Store, func(d *data) ([]calllog.Record, error) {
		return d.records.Page(before, limit, recordPlace, func(r calllog.Record) bool { return r.Org == org && r.Number == number }), nil
	})
}

func recordPlace(r calllog.Record) callwright.Keyset {
	return callwright.Keyset{At: r.StartedAt, ID: r.ID}
}

func oldestRecord(a, b calllog.Record) int { return memory.Compare(recordPlace(a), recordPlace(b)) }

// records returns the selected records, the oldest first.
func (s CallLog) records(ctx context.Context, wanted func(calllog.Record) bool, limit int) ([]calllog.Record, error) {
	return read(ctx, s.Store, func(d *data) ([]calllog.Record, error) {
		oldest := func(a, b calllog.Record) int {
			return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
		}
		return d.records.Select(limit, oldest, wanted), nil
	})
}

// Failures counts the ended and the failed attempts of a trunk.
func (s CallLog) Failures(
	ctx context.Context, org callwright.OrgID, trunkID string, since time.Time,
) (ended, failed int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, r := range d.records.Rows() {
			if r.Org != org || r.TrunkID != trunkID || r.EndedAt == nil || r.EndedAt.Before(since) {
				continue
			}
			ended++
			if r.Technical {
				failed++
			}
		}
		return nil
	})
	return ended, failed, err
}

// DeleteOld deletes the records that began before a time and have ended.
func (s CallLog) DeleteOld(ctx context.Context, before time.Time, limit int) (int, error) {
	return read(ctx, s.Store, func(d *data) (int, error) {
		old := d.records.Select(limit, oldestRecord, func(r calllog.Record) bool { return r.EndedAt != nil && r.StartedAt.Before(before) })
		for _, r := range old {
			d.records.Table.Delete(r.ID)
			d.ladders.Delete(r.ID)
		}
		return len(old), nil
	})
}

// Lost returns the records of dead nodes.
func (s CallLog) Lost(ctx context.Context, alive []string, before time.Time, limit int) ([]calllog.Record, error) {
	return s.records(ctx, func(r calllog.Record) bool {
		return r.EndedAt == nil && !r.StartedAt.After(before) && !slices.Contains(alive, r.Node)
	}, limit)
}
