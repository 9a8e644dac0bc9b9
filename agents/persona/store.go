package persona

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// Store stores personas and their versions. agentstest.RunPersonaStore tests it.
//
// Given and returned values share no memory with stored values. Returned values equal the stored values: a nil list stays nil, and Tools
// are stored byte for byte. Another organization's persona or version counts as absent. Orchestration, Personality, Conditions and Tools of
// versions are encrypted at rest, because tools may contain keys of other systems. Methods participate in the transaction of ctx: see
// callwright.Atomic. agentstest.RunPersonaDeletion tests a Store together with agents.NumberStore.
type Store interface {
	Personas
	Versions
}

// Personas stores personas without their versions, as part of a Store.
type Personas interface {
	// InsertPersona adds a persona with Revision 1. It returns CodeConflict if any organization's persona has the same id.
	InsertPersona(ctx context.Context, p Persona) error
	// Persona returns one persona, or CodeNotFound if the persona is absent or deleted.
	Persona(ctx context.Context, org callwright.OrgID, id string) (Persona, error)
	// UpdatePersona replaces a persona whose stored Revision is p.Revision, and increments the Revision. It returns CodeConflict if the
	// Revision differs, and CodeNotFound if the persona is absent or deleted. Of concurrent calls with the same Revision, exactly one
	// succeeds. A non-zero DeletedAt deletes the persona.
	UpdatePersona(ctx context.Context, p Persona) error
	// HoldPersona locks a persona until the transaction of ctx ends. Meanwhile, UpdatePersona and HoldPersona of other transactions wait.
	// It returns CodeNotFound if the persona is absent or deleted. It must be called in a transaction.
	HoldPersona(ctx context.Context, org callwright.OrgID, id string) error
	// Personas returns the personas that l selects among an organization's personas that are not deleted, in descending order of
	// (CreatedAt, ID).
	Personas(ctx context.Context, org callwright.OrgID, l Listing) ([]Persona, error)
	// CountPersonas returns the number of an organization's personas that are not deleted.
	CountPersonas(ctx context.Context, org callwright.OrgID) (int, error)
	// DeleteOldPersonas deletes at most limit personas of any organization whose DeletedAt is before the given time, with their versions.
	// It returns the number of deleted personas. Their ids can then be used again.
	DeleteOldPersonas(ctx context.Context, before time.Time, limit int) (int, error)
}

// Listing selects a page of personas.
type Listing struct {
	Offset int // personas to skip
	Limit  int // maximum number of personas in the page
}

// Versions stores the versions of personas, as part of a Store. The versions of a deleted persona remain until DeleteOldPersonas deletes
// them.
type Versions interface {
	// InsertVersion adds a version with Revision 1. It returns CodeConflict if any organization's version has the same id, or if the
	// persona already has a version with this number: of concurrent calls exactly one succeeds. It returns CodeNotFound if the persona is
	// absent or deleted.
	InsertVersion(ctx context.Context, v Version) error
	// Version returns one version, or CodeNotFound if the version is absent.
	Version(ctx context.Context, org callwright.OrgID, id string) (Version, error)
	// UpdateDraft replaces a version whose stored Type is Draft if its stored Revision equals v.Revision, and increments the stored
	// Revision. If v.Type is not Draft, the version is no longer a draft and never changes again. If the revisions differ, it returns
	// CodeConflict: of concurrent calls with the same Revision exactly one succeeds. It returns CodeNotFound if the draft is absent.
	UpdateDraft(ctx context.Context, v Version) error
	// DeleteDraft deletes a version whose stored Type is Draft and whose stored Revision is v.Revision. Its id and its number can then be
	// reused. It returns CodeConflict if the revisions differ, and CodeNotFound if the draft is absent.
	DeleteDraft(ctx context.Context, v Version) error
	// Versions returns the newest versions of a persona, at most limit, in descending order of their numbers. Unless the parameter before
	// is 0, it returns only versions with a lower number. It adds the sizes of the versions (Version.Size), and
	// stops after the version with which the sum exceeds MaxRead, but never before the second version. For an absent persona it returns none.
	Versions(ctx context.Context, org callwright.OrgID, persona string, before, limit int) ([]Version, error)
	// VersionsByID returns the versions with these ids, in any order. It omits absent versions. The result ends early under the same
	// condition as the result of Versions.
	VersionsByID(ctx context.Context, org callwright.OrgID, ids []string) ([]Version, error)
}
