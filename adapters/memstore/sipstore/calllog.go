package sipstore

import (
	"cmp"
	"context"
	"errors"
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
		if _, taken := d.records[r.ID]; !taken {
			r.End = calllog.End{}
			d.records[r.ID] = r
		}
		return nil
	})
}

// record returns a record of an organization.
func (d *data) record(org callwright.OrgID, id string) (calllog.Record, error) {
	r, ok := d.records[id]
	if !ok || r.Org != org {
		return calllog.Record{}, callwright.NotFound("call")
	}
	return r, nil
}

// Answer sets when a call was answered.
func (s CallLog) Answer(ctx context.Context, org callwright.OrgID, id string, at time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		r, err := d.record(org, id)
		if err != nil || r.EndedAt != nil {
			return err
		}
		r.AnsweredAt = &at
		d.records[id] = r
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
		r, err := d.record(org, id)
		if err != nil || r.EndedAt != nil {
			return err
		}
		end.AnsweredAt = cmp.Or(end.AnsweredAt, r.AnsweredAt)
		r.End = memory.Clone(end)
		d.records[id], d.ladders[id] = r, slices.Clone(steps)
		return nil
	})
}

// Get returns one record with its ladder.
func (s CallLog) Get(
	ctx context.Context, org callwright.OrgID, id string,
) (r calllog.Record, steps []ladder.Event, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, err := d.record(org, id)
		r, steps = memory.Clone(found), slices.Clone(d.ladders[id])
		return err
	})
	return r, steps, err
}

// Attempts returns the records of a call with their ladders.
func (s CallLog) Attempts(ctx context.Context, org callwright.OrgID, parent string, limit int) ([]calllog.Attempt, error) {
	var all []calllog.Attempt
	found, err := s.records(ctx, func(r calllog.Record, _ *data) bool { return r.Org == org && r.ParentID == parent })
	for _, r := range found[:min(limit, len(found))] {
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
	found, err := s.records(ctx, func(r calllog.Record, _ *data) bool {
		return r.Org == org && r.Number == number &&
			(before.IsZero() || cmp.Or(r.StartedAt.Compare(before.At), cmp.Compare(r.ID, before.ID)) < 0)
	})
	slices.Reverse(found)
	return found[:min(limit, len(found))], err
}

// records returns those that are wanted, the oldest first.
func (s CallLog) records(
	ctx context.Context, wanted func(r calllog.Record, d *data) bool,
) (found []calllog.Record, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, r := range d.records {
			if wanted(r, d) {
				found = append(found, memory.Clone(r))
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b calllog.Record) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return found, err
}

// Failures counts the attempts of a trunk that ended, and those that failed.
func (s CallLog) Failures(
	ctx context.Context, org callwright.OrgID, trunkID string, since time.Time,
) (ended, failed int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, r := range d.records {
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
	old, err := s.records(ctx, func(r calllog.Record, _ *data) bool {
		return r.EndedAt != nil && r.StartedAt.Before(before)
	})
	old = old[:min(limit, len(old))]
	return len(old), errors.Join(err, with(ctx, s.Store, func(d *data) error {
		for _, r := range old {
			delete(d.records, r.ID)
			delete(d.ladders, r.ID)
		}
		return nil
	}))
}

// Lost returns the records of dead nodes.
func (s CallLog) Lost(ctx context.Context, alive []string, before time.Time, limit int) ([]calllog.Record, error) {
	found, err := s.records(ctx, func(r calllog.Record, _ *data) bool {
		return r.EndedAt == nil && !r.StartedAt.After(before) && !slices.Contains(alive, r.Node)
	})
	return found[:min(limit, len(found))], err
}
