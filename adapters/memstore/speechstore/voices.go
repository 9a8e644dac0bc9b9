package speechstore

import (
	"cmp"
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/speech"
)

// voices holds the voices of all organizations.
type voices struct {
	*memory.Tables
	byID   *memory.Rows[string, speech.Voice]
	byName *memory.Table[nameKey, string] // voice ids
}

// nameKey is the name of a voice within an organization, normalized by speech.Key.
type nameKey struct {
	org callwright.OrgID
	key string
}

func nameOf(v speech.Voice) nameKey { return nameKey{v.Org, speech.Key(v.Name)} }

// New returns an empty table of voices.
func (voices) New() voices {
	t := &memory.Tables{}
	byID := memory.NewRows(t, "voice", func(v *speech.Voice) (callwright.OrgID, string, *int64) { return v.Org, v.ID, nil })
	return voices{t, byID, memory.NewTable[nameKey, string](t)}
}

// Voices implements speech.Voices in memory.
type Voices struct{ Store *memstore.Store }

var _ speech.Voices = Voices{}

// with passes the voices to f, in the transaction of ctx if it carries one. f must not fail after its first change, because only a failed
// transaction undoes changes.
func (s Voices) with(ctx context.Context, f func(v *voices) error) error {
	return memory.With(ctx, s.Store.Core(), f)
}

// errNameTaken reports that another voice of the organization already has the name.
var errNameTaken = &callwright.Error{Code: callwright.CodeConflict, Field: "name", Message: "must be unique: a voice with this name exists already"}

// InsertVoice adds a voice. It returns CodeConflict if its ID or name is already stored.
func (s Voices) InsertVoice(ctx context.Context, v speech.Voice) error {
	return s.with(ctx, func(all *voices) error {
		if _, taken := all.byName.Rows()[nameOf(v)]; taken {
			return errNameTaken
		}
		if err := all.byID.Insert(v); err != nil {
			return err
		}
		all.byName.Set(nameOf(v), v.ID)
		return nil
	})
}

// Voice returns a voice, or CodeNotFound if the organization has no such voice.
func (s Voices) Voice(ctx context.Context, org callwright.OrgID, id string) (speech.Voice, error) {
	return memory.Read(ctx, s.Store.Core(), func(all *voices) (speech.Voice, error) { return all.byID.Find(org, id) })
}

// VoiceByKey returns the voice whose name has the given speech.Key, or CodeNotFound if there is none.
func (s Voices) VoiceByKey(ctx context.Context, org callwright.OrgID, key string) (speech.Voice, error) {
	return memory.Read(ctx, s.Store.Core(), func(all *voices) (speech.Voice, error) {
		return all.byID.Find(org, all.byName.Rows()[nameKey{org, key}])
	})
}

// VoicesOf returns up to limit voices of an organization, oldest first.
func (s Voices) VoicesOf(ctx context.Context, org callwright.OrgID, limit int) ([]speech.Voice, error) {
	return memory.Read(ctx, s.Store.Core(), func(all *voices) ([]speech.Voice, error) {
		oldest := func(a, b speech.Voice) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) }
		return all.byID.Select(limit, oldest, func(v speech.Voice) bool { return v.Org == org }), nil
	})
}

// UpdateVoice replaces a voice. It returns CodeConflict if v.Version is not the stored version plus 1, or if another voice has the name,
// and CodeNotFound if the voice is absent.
func (s Voices) UpdateVoice(ctx context.Context, v speech.Voice) error {
	return s.with(ctx, func(all *voices) error {
		row, err := all.byID.Find(v.Org, v.ID)
		if err != nil {
			return err
		}
		if row.Version != v.Version-1 {
			return callwright.ErrConflict
		}
		if other, taken := all.byName.Rows()[nameOf(v)]; taken && other != v.ID {
			return errNameTaken
		}
		all.byName.Delete(nameOf(row))
		all.byName.Set(nameOf(v), v.ID)
		return all.byID.Replace(v)
	})
}

// DeleteVoice deletes a voice, or returns CodeNotFound if the organization has no such voice.
func (s Voices) DeleteVoice(ctx context.Context, org callwright.OrgID, id string) error {
	return s.with(ctx, func(all *voices) error {
		row, err := all.byID.Find(org, id)
		if err != nil {
			return err
		}
		all.byName.Delete(nameOf(row))
		return all.byID.Delete(org, id)
	})
}
