package persona

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/speech/tts"
)

// Create stores a new persona and its first version, and sets their ids, times and numbers. With an orchestration prompt, the version is in
// production immediately; otherwise it is a draft. Create returns CodeInvalidState if the organization has MaxPersonas, and FieldErrors
// with all errors of an invalid persona.
func (s *Service) Create(ctx context.Context, org callwright.OrgID, p Persona, v Version) (Record, error) {
	now := s.cfg.Clock.Now()
	p.ID, p.Org, p.CreatedAt, p.UpdatedAt, p.Revision = s.cfg.IDs.New(), org, now, now, 1
	p.DeletedAt, p.Production, p.Draft = time.Time{}, "", ""
	v.ID, v.Persona, v.Org, v.CreatedAt, v.UpdatedAt, v.Revision = s.cfg.IDs.New(), p.ID, org, now, now, 1
	v.Number = 1
	v.normalize()
	r := Record{}
	if v.Orchestration != "" {
		v.Type, p.Production, r.Production = Production, v.ID, &v
	} else {
		v.Type, p.Draft, r.Draft = Draft, v.ID, &v
	}
	if err := check(p, v); err != nil {
		return Record{}, err
	}
	if err := s.checkPorts(ctx, v, everyPart); err != nil {
		return Record{}, err
	}
	r.Persona = p
	return r, s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		n, err := s.cfg.Store.CountPersonas(ctx, org)
		if err != nil {
			return err
		}
		if n >= MaxPersonas {
			return callwright.Errorf(callwright.CodeInvalidState, "an organization can have at most %d personas: delete one first", MaxPersonas)
		}
		if err := s.cfg.Store.InsertPersona(ctx, p); err != nil {
			return err
		}
		return s.cfg.Store.InsertVersion(ctx, v)
	})
}

// check returns all errors of a persona and of one version of it, or nil.
func check(p Persona, v Version) error {
	var found faults
	p.check(&found)
	v.check(&found)
	return found.err()
}

// Change describes an update of a persona. Fields that are not Set stay unchanged; cleared fields become empty. Name, Role, Description,
// Tags and ImageURL change immediately. All other fields change the draft, which begins as a copy of the version in production.
type Change struct {
	Name        callwright.Optional[string]
	Role        callwright.Optional[string]
	Description callwright.Optional[string]
	Tags        callwright.Optional[[]string]
	ImageURL    callwright.Optional[string]

	Orchestration  callwright.Optional[string]
	Personality    callwright.Optional[string]
	Conditions     callwright.Optional[[]Condition]
	KnowledgeBases callwright.Optional[[]string]
	Call           CallChange

	// Revision, if not 0, is the persona's Revision that the change is based on. If the stored Revision differs, nothing changes.
	Revision int64

	Tools callwright.Optional[[]json.RawMessage]
}

// CallChange describes an update of a CallConfig. Fields that are not Set stay unchanged.
type CallChange struct {
	Voice           callwright.Optional[string]
	Record          callwright.Optional[bool]
	Language        callwright.Optional[string]
	Background      callwright.Optional[string]
	MaxDuration     callwright.Optional[time.Duration]
	WaitForGreeting callwright.Optional[bool]

	Interruption     callwright.Optional[time.Duration]
	Interruptibility callwright.Optional[int]

	LeastWait   callwright.Optional[time.Duration]
	LongestWait callwright.Optional[time.Duration]
	Idle        callwright.Optional[dialogue.Idle]

	VoiceSettings callwright.Optional[string]
	Pronunciation callwright.Optional[[]tts.Pronunciation]
	Machines      callwright.Optional[dialogue.Machines]
}

// ofDraft reports whether the change affects the draft.
func (c Change) ofDraft() bool {
	return c.Orchestration.Set || c.Personality.Set || c.Tools.Set || c.Conditions.Set || c.KnowledgeBases.Set ||
		c.Call != CallChange{}
}

// parts returns the parts of the draft that the change affects and that depend on this server.
func (c Change) parts() (parts part) {
	for _, p := range []struct {
		changed bool
		part    part
	}{
		{c.Conditions.Set, partConditions}, {c.KnowledgeBases.Set, partKnowledge}, {c.Tools.Set, partTools},
		{c.Call.Voice.Set || c.Call.Language.Set, partEngines},
	} {
		if p.changed {
			parts |= p.part
		}
	}
	return parts
}

// apply applies the immediate changes to p, and the other changes to the draft v.
func (c Change) apply(p *Persona, v *Version) {
	c.Name.Apply(&p.Name)
	c.Role.Apply(&p.Role)
	c.Description.Apply(&p.Description)
	c.Tags.Apply(&p.Tags)
	c.ImageURL.Apply(&p.ImageURL)
	c.Orchestration.Apply(&v.Orchestration)
	c.Personality.Apply(&v.Personality)
	c.Conditions.Apply(&v.Conditions)
	c.KnowledgeBases.Apply(&v.KnowledgeBases)
	c.Tools.Apply(&v.Tools)
	c.Call.Apply(&v.Call)
}

// Apply applies the update to a CallConfig.
func (c CallChange) Apply(to *CallConfig) {
	c.Voice.Apply(&to.Voice)
	c.Record.Apply(&to.Record)
	c.Language.Apply(&to.Language)
	c.Background.Apply(&to.Background)
	c.MaxDuration.Apply(&to.MaxDuration)
	c.WaitForGreeting.Apply(&to.WaitForGreeting)
	c.LeastWait.Apply(&to.LeastWait)
	c.LongestWait.Apply(&to.LongestWait)
	c.VoiceSettings.Apply(&to.VoiceSettings)
	c.Pronunciation.Apply(&to.Pronunciation)
	c.Machines.Apply(&to.Machines)
	if c.Interruption.Set {
		to.Interruption = c.Interruption.Value
	}
	if c.Interruptibility.Set {
		to.Interruptibility = c.Interruptibility.Value
	}
	if c.Idle.Set {
		to.Idle = c.Idle.Value
	}
}

// Update changes a persona and its draft, completely or not at all. It returns CodeNotFound if the persona is absent or deleted, and
// CodeInvalidState if a new draft would exceed MaxVersions. CodeConflict means that c.Revision is outdated.
func (s *Service) Update(ctx context.Context, org callwright.OrgID, id string, c Change) (Record, error) {
	r, err := s.change(ctx, org, id, func(ctx context.Context, p *Persona) error {
		if c.Revision != 0 && c.Revision != p.Revision {
			return errOutdated
		}
		if !c.ofDraft() {
			c.apply(p, new(Version))
			return check(*p, Version{})
		}
		return s.edit(ctx, p, c)
	})
	if errors.Is(err, errOutdated) {
		return Record{}, callwright.Errorf(callwright.CodeConflict,
			"the persona was changed after you read it: check what is stored, then save again to replace it")
	}
	return r, err
}

// errOutdated is the error of a Change whose Revision is outdated. It has no code, so that the transaction is not retried.
var errOutdated = errors.New("persona: outdated revision")

// edit applies a change to a persona and its draft, checks the result, and stores the draft.
func (s *Service) edit(ctx context.Context, p *Persona, c Change) error {
	v, isNew, err := s.draft(ctx, *p)
	if err != nil {
		return err
	}
	c.apply(p, &v)
	v.normalize()
	if err := check(*p, v); err != nil {
		return err
	}
	if err := s.checkPorts(ctx, v, c.parts()); err != nil {
		return err
	}
	v.UpdatedAt = s.cfg.Clock.Now()
	if !isNew {
		return concurrent(s.cfg.Store.UpdateDraft(ctx, v))
	}
	p.Draft = v.ID
	return s.cfg.Store.InsertVersion(ctx, v)
}

// draft returns a persona's draft. If there is none, it returns a new draft: a copy of the version in production with the next number.
func (s *Service) draft(ctx context.Context, p Persona) (v Version, isNew bool, err error) {
	if p.Draft != "" {
		v, err = s.cfg.Store.Version(ctx, p.Org, p.Draft)
		return v, false, err
	}
	if p.Production != "" {
		if v, err = s.cfg.Store.Version(ctx, p.Org, p.Production); err != nil {
			return v, true, err
		}
	}
	if v.Number >= MaxVersions {
		return v, true, callwright.Errorf(callwright.CodeInvalidState,
			"a persona can have at most %d versions: create another persona", MaxVersions)
	}
	v.ID, v.Org, v.Persona, v.Type, v.Number, v.Revision = s.cfg.IDs.New(), p.Org, p.ID, Draft, v.Number+1, 1
	v.CreatedAt = s.cfg.Clock.Now()
	return v, true, nil
}

// Promote makes the draft the version in production, and keeps the former version. It checks the draft's references again. It returns
// CodeNotFound if the persona is absent or deleted, and CodeInvalidState if it has no draft, or if the draft has no orchestration prompt.
func (s *Service) Promote(ctx context.Context, org callwright.OrgID, id string) (Record, error) {
	return s.change(ctx, org, id, func(ctx context.Context, p *Persona) error {
		if p.Draft == "" {
			return callwright.Errorf(callwright.CodeInvalidState, "the persona has no draft: change it first")
		}
		v, err := s.cfg.Store.Version(ctx, org, p.Draft)
		if err != nil {
			return err
		}
		if v.Orchestration == "" {
			return callwright.InField("orchestration_prompt", callwright.Errorf(callwright.CodeInvalidState,
				"is required in production: it tells the persona what to do"))
		}
		if err := s.checkPorts(ctx, v, everyPart); err != nil {
			return err
		}
		v.Type, v.UpdatedAt = Production, s.cfg.Clock.Now()
		p.Production, p.Draft = v.ID, ""
		return concurrent(s.cfg.Store.UpdateDraft(ctx, v))
	})
}

// Discard deletes the draft. It returns CodeNotFound if the persona is absent or deleted, and CodeInvalidState if it has no draft.
func (s *Service) Discard(ctx context.Context, org callwright.OrgID, id string) (Record, error) {
	return s.change(ctx, org, id, func(ctx context.Context, p *Persona) error {
		if p.Draft == "" {
			return callwright.Errorf(callwright.CodeInvalidState, "the persona has no draft")
		}
		v, err := s.cfg.Store.Version(ctx, org, p.Draft)
		if err != nil {
			return err
		}
		p.Draft = ""
		return concurrent(s.cfg.Store.DeleteDraft(ctx, v))
	})
}

// concurrent converts CodeNotFound for a draft to CodeConflict: the persona had the draft when it was read, so another request has promoted
// or discarded it.
func concurrent(err error) error {
	if errors.Is(err, callwright.ErrNotFound) {
		return callwright.ErrConflict.Because(err)
	}
	return err
}
