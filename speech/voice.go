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

// The kinds of voices.
const (
	KindBuiltIn Kind = "builtin" // a voice of the engine, which every organization may use
	KindProfile Kind = "profile" // a voice of the engine with the pitch and the tempo of a recording: it does not sound like the speaker
	KindClone   Kind = "clone"   // a copy of a speaker's voice, made by a provider
)

// Voice is an organization's own voice, or a voice of the engine, which all organizations share.
type Voice struct {
	ID          string           // an own voice: an id of Config.IDs; the engine's: its name
	Org         callwright.OrgID // the owner; empty: the engine's
	Name        string           // at most MaxName characters; unique in its organization without regard to case
	Description string           // at most MaxDescription characters
	Tags        []string         // for example "female"
	Kind        Kind
	Service     string      // the adapter that made it, for example "flite"
	Base        string      // the voice of the engine that speaks
	Prosody     tts.Prosody // changes to Base
	Language    string      // BCP 47; empty: any
	CreatedBy   string      // the id of the key that has cloned it; empty for the engine's
	CreatedAt   time.Time   // zero for the engine's
	Version     int64       // of own voices, from 1 on; a change of the record adds 1
}

// Public reports whether all organizations may use the voice.
func (v Voice) Public() bool { return v.Org == "" }

// Key returns the form of a voice's name by which names are compared: without regard to case and to the way in which its
// characters are composed (Unicode NFKC and case folding).
func Key(name string) string {
	return cases.Fold().String(norm.NFKC.String(strings.TrimSpace(name)))
}

// Voices stores the voices of organizations. speechtest.RunVoices tests an adapter. All methods take part in the transaction of
// ctx. A transaction can continue after an error with a code. Every field comes back unchanged, factors of a Prosody exactly; times
// are returned in UTC, exact to the microsecond. Given and returned voices share no memory with stored ones. Of concurrent calls
// that conflict, by a name or by a Version, one succeeds.
type Voices interface {
	// InsertVoice adds a voice of v.Org. CodeConflict with the field "name": the organization has a voice with the same Key.
	// CodeConflict without a field: any organization's voice has the same id.
	InsertVoice(ctx context.Context, v Voice) error
	// Voice returns a voice of an organization by its id; CodeNotFound for an unknown id.
	Voice(ctx context.Context, org callwright.OrgID, id string) (Voice, error)
	// VoiceByKey returns a voice of an organization by the Key of its name; CodeNotFound for an unknown key.
	VoiceByKey(ctx context.Context, org callwright.OrgID, key string) (Voice, error)
	// VoicesOf returns the first voices of an organization, oldest first and then by id, at most limit.
	VoicesOf(ctx context.Context, org callwright.OrgID, limit int) ([]Voice, error)
	// UpdateVoice replaces all fields of a voice whose stored Version is v.Version-1. CodeConflict with the field "name": another
	// voice of the organization has the same Key. CodeConflict without a field: the stored Version differs. CodeNotFound: the
	// organization has no voice with this id.
	UpdateVoice(ctx context.Context, v Voice) error
	// DeleteVoice deletes a voice permanently; CodeNotFound when the organization has none with this id. Its name can be used
	// again.
	DeleteVoice(ctx context.Context, org callwright.OrgID, id string) error
}
