package calllog

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/ladder"
)

// Store stores records. Texts must be UTF-8 without NUL characters: a database refuses any other text with CodeBadRequest, at every
// retry. Every field and every step of a ladder comes back unchanged; times are returned in UTC, exact to the microsecond.
// siptest.RunCallLog tests it.
type Store interface {
	// Begin adds a record that has not ended; its End is ignored. It leaves an existing record with the same ID unchanged, without
	// an error.
	Begin(ctx context.Context, r Record) error
	// Answer sets AnsweredAt of a record that has not ended. It leaves a record that has ended unchanged, without an error.
	// CodeNotFound when the organization has no such record.
	Answer(ctx context.Context, org callwright.OrgID, id string, at time.Time) error
	// Finish ends a record and stores its ladder. An end without an EndedAt is CodeBadRequest; an end without an AnsweredAt keeps the
	// stored one. Finish leaves a record that has ended unchanged, with its ladder, without an error: of concurrent calls, the first
	// one ends it and stores its ladder. It returns CodeNotFound, and stores nothing, when the organization has no such record.
	Finish(ctx context.Context, org callwright.OrgID, id string, end End, steps []ladder.Event) error
	// Get returns a record and the ladder that Finish received. CodeNotFound when the organization has no such record.
	Get(ctx context.Context, org callwright.OrgID, id string) (Record, []ladder.Event, error)
	// Attempts returns up to limit records of a ParentID, which is not empty, with their ladders, by StartedAt and then ID.
	Attempts(ctx context.Context, org callwright.OrgID, parent string, limit int) ([]Attempt, error)
	// List returns up to limit records of a number, at least 1, by StartedAt and then ID, both descending. Only records
	// that come after the keyset in this order are returned; a keyset without an ID stands for all that start at its
	// time. The zero keyset is the beginning.
	List(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, after callwright.Keyset, limit int) (
		[]Record, error)
	// DeleteOld deletes up to limit records of all organizations that have ended and started before the given time, the oldest first,
	// with their ladders. It returns the number of deleted records.
	DeleteOld(ctx context.Context, before time.Time, limit int) (int, error)

	// Lost returns up to limit records of all organizations that have not ended, started at the given time or before, and whose
	// node is not in alive, which may be empty. The oldest come first.
	Lost(ctx context.Context, alive []string, before time.Time, limit int) ([]Record, error)
}
