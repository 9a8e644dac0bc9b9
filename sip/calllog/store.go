package calllog

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/ladder"
)

// Store stores records. Texts must be UTF-8 without NUL characters: a database refuses any other text permanently, with CodeBadRequest.
// Every field and every step of a ladder is returned as stored; times are in UTC with microseconds. siptest.RunCallLog tests it.
type Store interface {
	// Begin adds a record that has not ended; it ignores r.End. If a record with the same ID exists, Begin leaves it unchanged and returns
	// nil.
	Begin(ctx context.Context, r Record) error
	// Answer sets AnsweredAt of a record, unless the record has ended. It returns CodeNotFound if the organization has no such record.
	Answer(ctx context.Context, org callwright.OrgID, id string, at time.Time) error
	// Finish ends a record and stores its ladder. An end without AnsweredAt keeps the stored one. If the record has already ended, Finish
	// changes nothing and returns nil: of concurrent calls, the first one wins. It returns CodeBadRequest if end.EndedAt is nil, and
	// CodeNotFound, storing nothing, if the organization has no such record.
	Finish(ctx context.Context, org callwright.OrgID, id string, end End, steps []ladder.Event) error
	// Get returns a record and the ladder that Finish stored. It returns CodeNotFound if the organization has no such record.
	Get(ctx context.Context, org callwright.OrgID, id string) (Record, []ladder.Event, error)
	// Attempts returns at most limit records whose ParentID is parent, and their ladders, in ascending order of (StartedAt, ID). It returns
	// none if parent is empty.
	Attempts(ctx context.Context, org callwright.OrgID, parent string, limit int) ([]Attempt, error)
	// List returns at most limit records of a number that follow a keyset, in descending order of (StartedAt, ID). limit is at least 1. A
	// keyset without an ID means that only records that started before its time are returned. The zero keyset means from the beginning.
	List(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, after callwright.Keyset, limit int) (
		[]Record, error)
	// DeleteOld deletes at most limit records of all organizations that have ended and that started before the given time, oldest first,
	// with their ladders. It returns how many it deleted.
	DeleteOld(ctx context.Context, before time.Time, limit int) (int, error)

	// Lost returns at most limit records of all organizations that have not ended, that started at or before the given time, and whose node
	// is not in the list alive, oldest first. The list may be empty.
	Lost(ctx context.Context, alive []string, before time.Time, limit int) ([]Record, error)
}
