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

// CallLog implements calllog.Store in memory.
type CallLog struct{ Store *memstore.Store }

// Begin adds a record without its End. It does nothing if the record is already stored.
func (s CallLog) Begin(ctx context.Context, r calllog.Record) error {
	return with(ctx, s.Store, func(d *data) error {
		r.End = calllog.End{}
		_ = d.records.Insert(r) // a record that is already stored stays
		return nil
	})
}

// Answer sets the time at which a call was answered. It does nothing if the record has ended, and returns CodeNotFound if the record is
// absent.
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

// Finish stores the end and the ladder of a record. It does nothing if the record has already ended. It returns CodeBadRequest if
// end.EndedAt is nil, and CodeNotFound if the record is absent.
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

// Get returns a record with its ladder, or CodeNotFound if the organization has no such record.
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

// Attempts returns up to limit records with the given ParentID and their ladders, oldest first.
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

// List returns a page of the records of an organization's number, newest first.
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

// records returns up to limit records for which the function wanted returns true, oldest first.
func (s CallLog) records(ctx context.Context, wanted func(calllog.Record) bool, limit int) ([]calllog.Record, error) {
	return read(ctx, s.Store, func(d *data) ([]calllog.Record, error) {
		oldest := func(a, b calllog.Record) int {
			return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
		}
		return d.records.Select(limit, oldest, wanted), nil
	})
}

// Failures returns how many attempts of a trunk ended at or after the given time, and how many of those failed for technical reasons
// (calllog.End.Technical).
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

// DeleteOld deletes up to limit ended records that began before the given time, oldest first. It returns the number of deleted records.
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

// Lost returns up to limit unended records that began at or before the given time on nodes that are not in alive, oldest first.
func (s CallLog) Lost(ctx context.Context, alive []string, before time.Time, limit int) ([]calllog.Record, error) {
	return s.records(ctx, func(r calllog.Record) bool {
		return r.EndedAt == nil && !r.StartedAt.After(before) && !slices.Contains(alive, r.Node)
	}, limit)
}
