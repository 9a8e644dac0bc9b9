package persona

import (
	"context"
	"errors"
	"strconv"

	"github.com/callwright/callwright"
)

// Record contains a persona, its versions in use, and the numbers at which it answers.
type Record struct {
	Persona    Persona
	Production *Version // nil if no version is in production
	Draft      *Version // nil if there is no draft, or if it was not requested
	Numbers    []callwright.PhoneNumber
}

// Load returns a persona and its version in production. It returns CodeNotFound with the field persona_id if the persona is absent or
// deleted, and CodeInvalidState with that field if no version is in production.
func (s *Service) Load(ctx context.Context, org callwright.OrgID, id string) (Persona, Version, error) {
	p, err := s.cfg.Store.Persona(ctx, org, id)
	if err != nil {
		return Persona{}, Version{}, callwright.InField("persona_id", err)
	}
	if p.Production == "" {
		return Persona{}, Version{}, callwright.InField("persona_id", errNotInProduction)
	}
	v, err := s.cfg.Store.Version(ctx, org, p.Production)
	if err != nil {
		return Persona{}, Version{}, callwright.InField("persona_id", err)
	}
	return p, v, nil
}

// LoadPinned returns a version that is or was in production, by its number. It returns CodeNotFound if there is no such version. The
// versions of a deleted persona can be loaded until KeepDeleted has passed, so that running work can continue.
func (s *Service) LoadPinned(ctx context.Context, org callwright.OrgID, id string, number int) (Version, error) {
	list, err := s.cfg.Store.Versions(ctx, org, id, number+1, 1)
	if err != nil {
		return Version{}, err
	}
	if len(list) == 0 || list[0].Number != number || list[0].Type != Production {
		return Version{}, callwright.NotFound("version in production")
	}
	return list[0], nil
}

var errNotInProduction = callwright.Errorf(callwright.CodeInvalidState,
	"no version of the persona is in production: promote its draft first")

// Get returns a persona with its version in production and its draft. It returns CodeNotFound if the persona is absent or deleted.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (r Record, err error) {
	err = callwright.Retry(ctx, func(ctx context.Context) error {
		p, err := s.cfg.Store.Persona(ctx, org, id)
		if err != nil {
			return err
		}
		r, err = s.record(ctx, p)
		return err
	})
	return r, err
}

// record reads the versions and the numbers of a persona. It returns CodeConflict if the persona was changed meanwhile.
func (s *Service) record(ctx context.Context, p Persona) (r Record, err error) {
	r.Persona = p
	if r.Production, err = s.version(ctx, p.Org, p.Production); err != nil {
		return r, err
	}
	if r.Draft, err = s.version(ctx, p.Org, p.Draft); err != nil {
		return r, err
	}
	numbers, err := s.numbersOf(ctx, p.Org, []string{p.ID})
	r.Numbers = numbers[p.ID]
	return r, err
}

// version returns a version, or nil for an empty id. It returns CodeConflict if the draft was discarded meanwhile.
func (s *Service) version(ctx context.Context, org callwright.OrgID, id string) (*Version, error) {
	if id == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	v, err := s.cfg.Store.Version(ctx, org, id)
	switch {
	case errors.Is(err, callwright.ErrNotFound):
		return nil, callwright.ErrConflict
	case err != nil:
		return nil, err
	}
	return &v, nil
}

func (s *Service) numbersOf(
	ctx context.Context, org callwright.OrgID, ids []string,
) (map[string][]callwright.PhoneNumber, error) {
	if s.cfg.Numbers == nil || len(ids) == 0 {
		return nil, nil
	}
	return s.cfg.Numbers.NumbersOf(ctx, org, ids)
}

// List returns a page of personas without their drafts, newest first. Pages are numbered from 1, and contain at most limit personas. A
// limit of 0 means DefaultPage. List returns CodeBadRequest if page or limit is out of range, or if the personas of the page exceed MaxRead
// bytes.
func (s *Service) List(ctx context.Context, org callwright.OrgID, page, limit int) ([]Record, error) {
	if limit == 0 {
		limit = DefaultPage
	}
	var found faults
	found.addIf(page < 1 || page > MaxPages, "page", "must be from 1 to %d", MaxPages)
	found.addIf(limit < 1 || limit > MaxPage, "limit", "must be from 1 to %d", MaxPage)
	if err := found.err(); err != nil {
		return nil, err
	}
	personas, err := s.cfg.Store.Personas(ctx, org, Listing{Offset: (page - 1) * limit, Limit: limit})
	if err != nil {
		return nil, err
	}
	return s.records(ctx, org, personas)
}

// records returns the Records of a page of personas, with their versions in production and their numbers. It returns CodeBadRequest if the
// versions exceed MaxRead bytes.
func (s *Service) records(ctx context.Context, org callwright.OrgID, personas []Persona) ([]Record, error) {
	var ids, versions []string
	for _, p := range personas {
		ids = append(ids, p.ID)
		if p.Production != "" {
			versions = append(versions, p.Production)
		}
	}
	found, err := s.cfg.Store.VersionsByID(ctx, org, versions)
	if err != nil {
		return nil, err
	}
	if len(found) < len(versions) {
		return nil, callwright.Invalid("limit", "must be smaller: the personas of this page exceed %d bytes", MaxRead)
	}
	numbers, err := s.numbersOf(ctx, org, ids)
	if err != nil {
		return nil, err
	}
	byID := map[string]*Version{}
	for i := range found {
		byID[found[i].ID] = &found[i]
	}
	list := make([]Record, len(personas))
	for i, p := range personas {
		list[i] = Record{Persona: p, Production: byID[p.Production], Numbers: numbers[p.ID]}
	}
	return list, nil
}

// Versions returns a page of a persona's versions, newest first: the versions that are or were in production, and the draft. For the first
// page the parameter after is zero; for a further page it is the Next of the previous page. The page contains at most limit versions and at
// most about MaxRead bytes. A limit of 0 means MaxPage. Versions returns CodeNotFound if the persona is absent or deleted.
func (s *Service) Versions(
	ctx context.Context, org callwright.OrgID, id string, after callwright.Keyset, limit int,
) (page callwright.Page[Version], err error) {
	if limit == 0 {
		limit = MaxPage
	}
	if limit < 1 || limit > MaxPage {
		return page, callwright.Invalid("limit", "must be from 1 to %d", MaxPage)
	}
	before := 0
	if !after.IsZero() {
		if before, err = strconv.Atoi(after.ID); err != nil || before < 1 {
			return page, callwright.Invalid("cursor", "must be a cursor that the list of versions returned")
		}
	}
	if _, err := s.cfg.Store.Persona(ctx, org, id); err != nil {
		return page, err
	}
	list, err := s.cfg.Store.Versions(ctx, org, id, before, limit+1) // one more version shows whether another page follows
	return callwright.Fit(list, limit, MaxRead, Version.Size, Version.keyset), err
}

// keyset returns the version's position in the list of Versions, which is ordered by number.
func (v Version) keyset() callwright.Keyset {
	return callwright.Keyset{At: v.CreatedAt, ID: strconv.Itoa(v.Number)}
}

// versionSize approximates the bytes of a version without its texts.
const versionSize = 700

// Size estimates the bytes of the version's record, for the limit MaxRead.
func (v Version) Size() int {
	size := versionSize + len(v.Orchestration) + len(v.Personality)
	for _, c := range v.Conditions {
		size += len(c.Pathway) + len(c.When)
	}
	for _, id := range v.KnowledgeBases {
		size += len(id)
	}
	for _, raw := range v.Tools {
		size += len(raw)
	}
	size += len(v.Call.VoiceSettings)
	for _, p := range v.Call.Pronunciation {
		size += len(p.Word) + len(p.Spoken)
	}
	return size
}
