package agents

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
)

// InboundNumber is a number for inbound calls with its agent.
type InboundNumber struct {
	Org       callwright.OrgID
	Number    callwright.PhoneNumber
	Agent     Agent // may lack a task, pathway and persona: see Service.Answering
	Released  bool  // no longer receives calls; the agent is stored for a new registration
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64
}

// NumberStore stores the agents of inbound numbers. agentstest.RunNumberStore tests it.
//
// Given and returned values share no memory with stored ones. They equal the stored values: a nil list stays nil, an empty one stays
// empty, and JSON keeps its values; the order of members and the spelling of numbers may change. Another organization's number is absent.
// Tools, DynamicData and Webhook of an Agent are encrypted at rest: they may contain keys of other systems. Methods take part in the
// transaction of ctx: see callwright.Atomic. agentstest.RunPersonaDeletion tests this together with persona.Store.
type NumberStore interface {
	// InsertNumber adds a number with Version 1; CodeConflict when the organization already has it, released or not. Another
	// organization may have the same number.
	InsertNumber(ctx context.Context, n InboundNumber) error
	// Number returns one number, even if it is released; CodeNotFound when it is absent.
	Number(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (InboundNumber, error)
	// Numbers returns up to limit of an organization's numbers that are not released, in ascending order. The ID of the keyset is
	// the last number of the previous page; its time is ignored. The result ends early, after the second or a later number at which
	// the total exceeds MaxRead bytes (InboundNumber.Size).
	Numbers(ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int) ([]InboundNumber, error)
	// NumbersOf returns the unreleased numbers of each of the personas (Agent.PersonaID), in ascending order, at most
	// persona.MaxNumbers of each. The map omits personas without numbers.
	NumbersOf(ctx context.Context, org callwright.OrgID, personas []string) (map[string][]callwright.PhoneNumber, error)
	// UpdateNumber replaces a number whose stored Version is n.Version and adds one to it; CodeConflict when the Version differs; of
	// concurrent calls with the same Version exactly one succeeds. CodeNotFound when it is absent.
	UpdateNumber(ctx context.Context, n InboundNumber) error
}

// RegisterInbound adds a number with an agent without settings. A number that was registered before keeps its agent. Trunks and
// number porting call it when a number begins to receive calls.
func (s *Service) RegisterInbound(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error {
	now := s.cfg.Clock.Now()
	return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		known, err := s.release(ctx, org, number, false)
		if known || err != nil {
			return err
		}
		n := InboundNumber{Org: org, Number: number, CreatedAt: now, UpdatedAt: now}
		n.Agent.setDefaults()
		return s.cfg.Numbers.InsertNumber(ctx, n)
	})
}

// ReleaseInbound releases a number: it is then absent, and its agent is stored for RegisterInbound. An unregistered number stays
// unchanged. Trunks call it when a number no longer receives calls.
func (s *Service) ReleaseInbound(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error {
	return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		_, err := s.release(ctx, org, number, true)
		return err
	})
}

// release sets whether a number is released; known reports whether the number exists.
func (s *Service) release(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, released bool,
) (known bool, err error) {
	n, err := s.cfg.Numbers.Number(ctx, org, number)
	switch {
	case errors.Is(err, callwright.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case n.Released == released:
		return true, nil
	}
	n.Released, n.UpdatedAt = released, s.cfg.Clock.Now()
	return true, s.cfg.Numbers.UpdateNumber(ctx, n)
}

// Number parses the number of a request. CodeBadRequest with the field phone_number.
func (s *Service) Number(ctx context.Context, org callwright.OrgID, text string) (callwright.PhoneNumber, error) {
	n, err := callwright.ReadNumber(ctx, s.cfg.Numbering, org, text)
	return n, callwright.InField("phone_number", err)
}

// Inbound returns one inbound number. CodeNotFound when it is absent or released.
func (s *Service) Inbound(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber,
) (InboundNumber, error) {
	n, err := s.cfg.Numbers.Number(ctx, org, number)
	if err == nil && n.Released {
		return InboundNumber{}, callwright.NotFound("inbound number")
	}
	return n, err
}

// MaxPage bounds the inbound numbers of one page.
const MaxPage = 10_000

// ListInbound returns the inbound numbers of an organization after a place, in order: at most limit (0: MaxPage), and at most
// MaxRead bytes. Only Page.Next shows whether more follow.
func (s *Service) ListInbound(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) (callwright.Page[InboundNumber], error) {
	limit, err := pageSize(limit, MaxPage)
	if err != nil {
		return callwright.Page[InboundNumber]{}, err
	}
	list, err := s.cfg.Numbers.Numbers(ctx, org, after, limit+1)
	return callwright.Fit(list, limit, MaxRead, InboundNumber.Size, InboundNumber.Keyset), err
}

// UpdateInbound changes the agent of a number, setting by setting: a refused setting does not prevent the others, and the report
// contains its error. Earlier faults of the agent refuse no other setting. After an error nothing has changed: CodeNotFound, or a
// part of the server that is missing or down.
func (s *Service) UpdateInbound(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, p Patch,
) (n InboundNumber, r Report, err error) {
	changes := append(p.leader(func(a *Agent, ref PathwayRef) { a.Task, a.Pathway = "", ref }), p.changes()...)
	err = s.again(ctx, func(ctx context.Context) error {
		if err := s.holdPersona(ctx, org, p); err != nil {
			return err
		}
		if n, err = s.Inbound(ctx, org, number); err != nil {
			return err
		}
		w := WebAgent{Agent: n.Agent}
		r, err = apply(&w, changes, func(w *WebAgent) []error {
			w.Agent.setDefaults()
			return s.faults(ctx, org, &w.Agent)
		})
		if err != nil || !r.made() {
			return err
		}
		n.Agent, n.UpdatedAt = w.Agent, s.cfg.Clock.Now()
		if err := s.cfg.Numbers.UpdateNumber(ctx, n); err != nil {
			return err
		}
		n.Version++
		return nil
	})
	return n, r, err
}

// holdPersona locks the persona of a patch against deletion before the number refers to it. faults reports an absent one.
func (s *Service) holdPersona(ctx context.Context, org callwright.OrgID, p Patch) error {
	id := ""
	p.PersonaID.Apply(&id)
	if id == "" || s.cfg.Personas == nil {
		return nil
	}
	err := s.cfg.Personas.Hold(ctx, org, id)
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	return err
}
