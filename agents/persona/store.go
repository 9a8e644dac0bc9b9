package persona

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// Store stores personas and their versions. agentstest.RunPersonaStore tests it.
//
// Given and returned values share no memory with stored ones. They equal the stored values: a nil list stays nil, and Tools are stored
// byte for byte. Another organization's persona or version is absent. Orchestration, Personality, Conditions and Tools of versions are
// encrypted at rest: tools may contain keys of other systems. Methods take part in the transaction of ctx: see callwright.Atomic.
// agentstest.RunPersonaDeletion tests this together with agents.NumberStore.
type Store interface {
	Personas
	Versions
}

// Personas is the part of a Store that holds personas without their versions.
type Personas interface {
	// InsertPersona adds a persona with Revision 1. CodeConflict: any organization's persona has the same id.
	InsertPersona(ctx context.Context, p Persona) error
	// Persona returns one persona. CodeNotFound: it is absent or deleted.
	Persona(ctx context.Context, org callwright.OrgID, id string) (Persona, error)
	// UpdatePersona replaces a persona if its stored Revision is p.Revision, and adds one to it. CodeConflict: the Revision
	// differs; of concurrent calls with the same Revision exactly one succeeds. CodeNotFound: it is absent or deleted. A persona
	// with a DeletedAt is then deleted.
	UpdatePersona(ctx context.Context, p Persona) error
	// HoldPersona locks a persona until the transaction of ctx ends: UpdatePersona and HoldPersona of other transactions wait.
	// CodeNotFound: it is absent or deleted. It is only called in a transaction.
	HoldPersona(ctx context.Context, org callwright.OrgID, id string) error
	// Personas returns the personas that l chooses and that are not deleted, in descending order of (CreatedAt, ID).
	Personas(ctx context.Context, org callwright.OrgID, l Listing) ([]Persona, error)
	// CountPersonas returns the number of an organization's personas that are not deleted.
	CountPersonas(ctx context.Context, org callwright.OrgID) (int, error)
	// DeleteOldPersonas deletes at most limit deleted personas of any organization whose DeletedAt is before a time, with their
	// versions, and returns the number of personas. Their ids can then be used again.
	DeleteOldPersonas(ctx context.Context, before time.Time, limit int) (int, error)
}

// Listing chooses a page of personas.
type Listing struct {
	Offset int // personas to skip
	Limit  int // personas in the page, at most
}

// Versions is the part of a Store that holds the versions of personas. Versions of a deleted persona stay until DeleteOldPersonas.
type Versions interface {
	// InsertVersion adds a version with Revision 1. CodeConflict: any organization's version has the same id, or the persona has a
	// version with this number; of concurrent calls exactly one succeeds. CodeNotFound: the persona is absent or deleted.
	InsertVersion(ctx context.Context, v Version) error
	// Version returns one version. CodeNotFound: it is absent.
	Version(ctx context.Context, org callwright.OrgID, id string) (Version, error)
	// UpdateDraft replaces a version whose stored Type is Draft if its stored Revision is v.Revision, and adds one to it. With
	// another Type it is no longer a draft, and never changes again. CodeConflict: the Revision differs; of concurrent calls with
	// the same Revision exactly one succeeds. CodeNotFound: the draft is absent.
	UpdateDraft(ctx context.Context, v Version) error
	// DeleteDraft deletes a version whose stored Type is Draft and whose stored Revision is v.Revision. Its id and its number can
	// then be used again. CodeConflict: the Revision differs. CodeNotFound: the draft is absent.
	DeleteDraft(ctx context.Context, v Version) error
	// Versions returns at most limit versions of a persona whose number is below before (0: any number), in descending order of
	// their numbers. The result ends early, after the second or a later version at which the total exceeds MaxRead bytes
	// (Version.Size). An absent persona has none.
	Versions(ctx context.Context, org callwright.OrgID, persona string, before, limit int) ([]Version, error)
	// VersionsByID returns the versions with these ids, in any order. It omits absent ones. The result ends early as in Versions.
	VersionsByID(ctx context.Context, org callwright.OrgID, ids []string) ([]Version, error)
}
