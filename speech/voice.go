package speech

import (
	"context"
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/tts"
)

// Kind is the origin of a voice.
type Kind string

// The origins of voices.
const (
	KindBuiltIn Kind = "builtin" // a voice of the engine, which every organization may use
	KindProfile Kind = "profile" // an engine's voice with the pitch and the tempo of a recording: it does not sound like the speaker
	KindClone   Kind = "clone"   // a copy of a speaker's voice, made by a provider
)

// Voice is an organization's own voice, or a voice of the engine, which all organizations share.
type Voice struct {
	ID          string           // from Config.IDs; for the engine's voices, the name
	Org         callwright.OrgID // the owner; empty for the engine's voices
	Name        string           // at most MaxName characters; unique in its organization without regard to case
	Description string           // at most MaxDescription characters
	Tags        []string         // for example "female"
	Kind        Kind
	Service     string      // name of the adapter that made the voice, for example "flite"
	Base        string      // name of the engine's voice that speaks
	Prosody     tts.Prosody // applied to Base
	Language    string      // BCP 47; empty means any language
	CreatedBy   string      // id of the key that cloned the voice; empty for the engine's voices
	CreatedAt   time.Time   // zero for the engine's voices
	Version     int64       // of own voices: from 1, incremented by every change
}

// Public reports whether all organizations may use the voice.
func (v Voice) Public() bool { return v.Org == "" }

// Key returns the form of a voice's name by which names are compared. Names that differ only in case, in surrounding white space, or in the
// composition of their characters have the same Key (Unicode NFKC and case folding).
func Key(name string) string {
	return cases.Fold().String(norm.NFKC.String(strings.TrimSpace(name)))
}

// Voices stores the voices of organizations. speechtest.RunVoices tests an adapter. All methods participate in the transaction of ctx. A
// transaction can continue after an error with a code. Every field is returned as it was stored, the factors of a Prosody exactly; times
// are returned in UTC, exact to the microsecond. Arguments and results share no memory with the stored voices. Of concurrent calls that
// conflict, by a name or by a Version, exactly one succeeds.
type Voices interface {
	// InsertVoice adds a voice of v.Org. It returns CodeConflict with the field "name" if the organization has a voice with the same Key,
	// and CodeConflict without a field if a voice of any organization has the same id.
	InsertVoice(ctx context.Context, v Voice) error
	// Voice returns a voice of an organization by its id, or CodeNotFound if the organization has no voice with this id.
	Voice(ctx context.Context, org callwright.OrgID, id string) (Voice, error)
	// VoiceByKey returns a voice of an organization by the Key of its name, or CodeNotFound if the organization has no such voice.
	VoiceByKey(ctx context.Context, org callwright.OrgID, key string) (Voice, error)
	// VoicesOf returns up to limit voices of an organization, the oldest first; voices of the same time are ordered by id.
	VoicesOf(ctx context.Context, org callwright.OrgID, limit int) ([]Voice, error)
	// UpdateVoice replaces all fields of a voice whose stored Version is v.Version-1. It returns CodeConflict with the field "name" if
	// another voice of the organization has the same Key, CodeConflict without a field if the stored Version differs, and CodeNotFound if
	// the organization has no voice with this id.
	UpdateVoice(ctx context.Context, v Voice) error
	// DeleteVoice deletes a voice permanently; its name can be used again. It returns CodeNotFound if the organization has no voice with
	// this id.
	DeleteVoice(ctx context.Context, org callwright.OrgID, id string) error
}
