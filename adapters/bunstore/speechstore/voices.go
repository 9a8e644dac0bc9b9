package speechstore

import (
	"context"
	"errors"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/speech"
)

// Voices stores voices; it implements speech.Voices.
type Voices struct{ DB *bunstore.DB }

var _ speech.Voices = Voices{}

func (s Voices) core() core { return core{s.DB.Core()} }

func (s Voices) rows() sqldb.Rows[speech.Voice, voiceRow] {
	return sqldb.Rows[speech.Voice, voiceRow]{DB: s.DB.Core(), Kind: "voice", Row: newVoiceRow, Value: voiceRow.voice}
}

// errNameTaken is returned if another voice of the organization has the name.
var errNameTaken = &callwright.Error{Code: callwright.CodeConflict, Field: "name", Message: "must be unique: a voice with this name exists already"}

// InsertVoice adds a voice. It returns CodeConflict if the id exists, or if another voice of the organization has the name.
func (s Voices) InsertVoice(ctx context.Context, v speech.Voice) error {
	err := s.rows().Insert(ctx, v)
	if !errors.Is(err, callwright.ErrConflict) {
		return err
	}
	if _, taken := s.VoiceByKey(ctx, v.Org, speech.Key(v.Name)); taken == nil {
		return errNameTaken
	}
	return err
}

// Voice returns one voice, or CodeNotFound if it is absent.
func (s Voices) Voice(ctx context.Context, org callwright.OrgID, id string) (speech.Voice, error) {
	return s.rows().Find(ctx, org, id)
}

// VoiceByKey returns the voice whose name has the given key (speech.Key), or CodeNotFound if there is none.
func (s Voices) VoiceByKey(ctx context.Context, org callwright.OrgID, key string) (speech.Voice, error) {
	return s.rows().One(ctx, []any{org, key}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org).Where("name_key = ?", key)
	})
}

// VoicesOf returns up to limit voices of an organization, oldest first.
func (s Voices) VoicesOf(ctx context.Context, org callwright.OrgID, limit int) ([]speech.Voice, error) {
	return s.rows().Select(ctx, []any{org}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org).Order("created_at", "id").Limit(int64(limit))
	})
}

// UpdateVoice replaces the voice with version v.Version-1. It returns CodeConflict if the stored version differs or another voice of the
// organization has the name, and CodeNotFound if the voice is absent. The statement also checks the name, because a violation of the unique
// index would abort a PostgreSQL transaction. The index catches concurrent renames.
func (s Voices) UpdateVoice(ctx context.Context, v speech.Voice) error {
	row, err := newVoiceRow(v)
	if err != nil {
		return err
	}
	var refused error // error of the database
	err = s.core().Write(ctx, []any{v}, func(ctx context.Context, idb bun.IDB) error {
		other := idb.NewSelect().TableExpr("voices AS other").ColumnExpr("1").Where("other.org = ?", row.Org).
			Where("other.name_key = ?", row.NameKey).Where("other.id <> ?", row.ID)
		update := idb.NewUpdate().Model(&row).ExcludeColumn("created_at").WherePK().Where("org = ?", row.Org).
			Where("version = ?", sqldb.Int(v.Version-1)).Where("NOT EXISTS (?)", other)
		result, err := update.Exec(ctx)
		refused = err
		return sqldb.Changed(result, err, callwright.ErrConflict)
	})
	switch {
	case !errors.Is(err, callwright.ErrConflict):
		return err
	case refused != nil:
		return errNameTaken.Because(refused)
	}
	return s.whyNotUpdated(ctx, v, err)
}

// whyNotUpdated returns the reason why UpdateVoice changed nothing: the voice is absent, its name is taken, or its version differs.
func (s Voices) whyNotUpdated(ctx context.Context, v speech.Voice, conflict error) error {
	stored, err := s.Voice(ctx, v.Org, v.ID)
	switch {
	case err != nil:
		return err
	case stored.Version == v.Version-1:
		return errNameTaken
	default:
		return conflict
	}
}

// DeleteVoice deletes a voice, or returns CodeNotFound if it is absent.
func (s Voices) DeleteVoice(ctx context.Context, org callwright.OrgID, id string) error {
	return s.rows().DeleteExisting(ctx, org, id)
}
