package speechstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/speech"
)

// voices holds the voices of all organizations. Their values are never changed in place.
type voices struct {
	byID   *memory.Table[string, speech.Voice]
	byName *memory.Table[nameKey, string] // ids
}

// nameKey is the name of a voice in an organization, as speech.Key gives it.
type nameKey struct {
	org callwright.OrgID
	key string
}

func nameOf(v speech.Voice) nameKey { return nameKey{v.Org, speech.Key(v.Name)} }

// New returns no voices.
func (voices) New() voices {
	return voices{memory.NewTable[string, speech.Voice](), memory.NewTable[nameKey, string]()}
}

// Clone begins a transaction: the tables record its changes.
func (v voices) Clone() voices {
	v.byID.Begin()
	v.byName.Begin()
	return v
}

// Undo reverses the changes since Clone.
func (v voices) Undo() {
	v.byID.Undo()
	v.byName.Undo()
}

// find returns a voice of an organization.
func (v voices) find(org callwright.OrgID, id string) (speech.Voice, error) {
	row, known := v.byID.Rows()[id]
	if !known || row.Org != org {
		return speech.Voice{}, callwright.NotFound("voice")
	}
	return row, nil
}

// Voices is a speech.Voices.
type Voices struct{ Store *memstore.Store }

var _ speech.Voices = Voices{}

// with calls f with the voices, in the transaction of ctx or alone. f must not fail after its first change.
func (s Voices) with(ctx context.Context, f func(v *voices) error) error {
	return memory.With(ctx, s.Store.Core(), f)
}

// errNameTaken is the error about a name that another voice of the organization already has.
var errNameTaken = &callwright.Error{Code: callwright.CodeConflict, Field: "name", Message: "another voice has this name"}

// InsertVoice adds a voice.
func (s Voices) InsertVoice(ctx context.Context, v speech.Voice) error {
	return s.with(ctx, func(all *voices) error {
		if _, taken := all.byName.Rows()[nameOf(v)]; taken {
			return errNameTaken
		}
		if _, taken := all.byID.Rows()[v.ID]; taken {
			return callwright.ErrConflict
		}
		all.byID.Set(v.ID, memory.Clone(v))
		all.byName.Set(nameOf(v), v.ID)
		return nil
	})
}

// Voice returns a voice.
func (s Voices) Voice(ctx context.Context, org callwright.OrgID, id string) (found speech.Voice, err error) {
	err = s.with(ctx, func(all *voices) error {
		row, err := all.find(org, id)
		found = memory.Clone(row)
		return err
	})
	return found, err
}

// VoiceByKey returns the voice with a name.
func (s Voices) VoiceByKey(ctx context.Context, org callwright.OrgID, key string) (found speech.Voice, err error) {
	err = s.with(ctx, func(all *voices) error {
		row, err := all.find(org, all.byName.Rows()[nameKey{org, key}])
		found = memory.Clone(row)
		return err
	})
	return found, err
}

// VoicesOf returns the first voices of an organization.
func (s Voices) VoicesOf(ctx context.Context, org callwright.OrgID, limit int) (list []speech.Voice, err error) {
	err = s.with(ctx, func(all *voices) error {
		for _, row := range all.byID.Rows() {
			if row.Org == org {
				list = append(list, row)
			}
		}
		slices.SortFunc(list, func(a, b speech.Voice) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
		list = memory.Clone(list[:min(limit, len(list))])
		return nil
	})
	return list, err
}

// UpdateVoice replaces a voice.
func (s Voices) UpdateVoice(ctx context.Context, v speech.Voice) error {
	return s.with(ctx, func(all *voices) error {
		row, err := all.find(v.Org, v.ID)
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
		all.byID.Set(v.ID, memory.Clone(v))
		return nil
	})
}

// DeleteVoice deletes a voice.
func (s Voices) DeleteVoice(ctx context.Context, org callwright.OrgID, id string) error {
	return s.with(ctx, func(all *voices) error {
		row, err := all.find(org, id)
		if err != nil {
			return err
		}
		all.byName.Delete(nameOf(row))
		all.byID.Delete(id)
		return nil
	})
}
