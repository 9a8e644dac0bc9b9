package agents

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
)

// InboundNumber is a number at which calls come in, and the agent that answers there.
type InboundNumber struct {
	Org       callwright.OrgID
	Number    callwright.PhoneNumber
	Agent     Agent // may have nothing that leads it: see Service.Answering
	Released  bool  // no calls come in any more; the agent is kept for when they do again
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64
}

// NumberStore stores the agents of inbound numbers. agentstest.RunNumberStore tests one.
//
// Returned values equal what was stored: a nil list stays nil, an empty one stays empty, and JSON keeps its values; the order of members
// and the spelling of numbers may change. Another organization's number is absent. Tools, DynamicData and Webhook of an Agent are
// encrypted at rest: they may hold keys of other systems. Methods take part in the transaction of ctx: see callwright.Atomic.
// agentstest.RunPersonaDeletion tests that, together with persona.Store.
type NumberStore interface {
	// InsertNumber adds a number with Version 1; CodeConflict when the organization has it already, released or not. Another
	// organization may have the same number.
	InsertNumber(ctx context.Context, n InboundNumber) error
	// Number returns one number, also if it is released; CodeNotFound when it is absent.
	Number(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (InboundNumber, error)
	// Numbers returns up to limit of an organization's numbers that are not released, in ascending order. The ID of the
	// keyset is the last number of the page before; its time is not looked at. The result ends early, after the second or a
	// later number at which the total exceeds MaxRead bytes (InboundNumber.Size).
	Numbers(ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int) ([]InboundNumber, error)
	// NumbersOf returns the numbers that are not released at which each of the personas answers (Agent.PersonaID), in ascending order, at
	// most persona.MaxNumbers of each. Personas without numbers are not in the map.
	NumbersOf(ctx context.Context, org callwright.OrgID, personas []string) (map[string][]callwright.PhoneNumber, error)
	// UpdateNumber replaces a number whose stored Version is n.Version and adds one to it; CodeConflict when the Version differs; of
	// concurrent calls with the same Version exactly one succeeds. CodeNotFound when it is absent.
	UpdateNumber(ctx context.Context, n InboundNumber) error
}

// RegisterInbound adds a number, with an agent that has no settings yet. A number that was registered before keeps its
// agent. Trunks and number porting call it when calls to a number begin to come in.
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

// ReleaseInbound releases a number: it is absent from then on, and its agent is kept for RegisterInbound. A number that is
// not registered stays as it is. Trunks call it when calls to a number come in no longer.
func (s *Service) ReleaseInbound(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error {
	return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		_, err := s.release(ctx, org, number, true)
		return err
	})
}

// release sets whether a number is released; known reports whether there is such a number.
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

// Number reads the number of a request. CodeBadRequest with the field phone_number.
func (s *Service) Number(ctx context.Context, org callwright.OrgID, text string) (callwright.PhoneNumber, error) {
	n, err := callwright.ReadNumber(ctx, s.cfg.Numbering, org, text)
	return n, callwright.InField("phone_number", err)
}

// Inbound returns one inbound number. CodeNotFound when the organization has none, or has released it.
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
// MaxRead bytes. Page.Next alone says whether there are more.
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

// UpdateInbound changes the agent of a number, setting by setting: a setting that is refused does not keep the others
// from being made, and the report says why. Faults that the agent had before refuse no other setting. An error means
// that nothing was changed: CodeNotFound, or a part of the server that is missing or down.
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

// holdPersona keeps the persona that a patch names from being deleted before the number has it. Of one that is absent the faults
// tell.
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
