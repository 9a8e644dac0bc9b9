package agents

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// InboundNumber is a number that receives calls, with the agent that answers them.
type InboundNumber struct {
	Org       callwright.OrgID
	Number    callwright.PhoneNumber
	Agent     Agent // calls are refused while it has no task, pathway, persona or brain: see Service.Answering
	Released  bool  // receives no calls; a new registration uses the stored agent
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64

	// Refused contains the changes of the task, the pathway or the persona that the last update of one of these has refused, with the
	// reasons. It is nil if that update refused none.
	Refused map[Setting]string
}

// leads lists the settings that select what leads the conversations of an agent.
var leads = []Setting{SettingTask, SettingPathway, SettingPathwayVersion, SettingStartNode, SettingPersonaID, SettingBrain, SettingAgentID}

// noteRefusals sets Refused after an update. It reports whether Refused has changed. An update of other settings changes nothing.
func (n *InboundNumber) noteRefusals(r Report) bool {
	var refused map[Setting]string
	tried := false
	for _, name := range leads {
		err, given := r[name]
		tried = tried || given
		if err != nil {
			if refused == nil {
				refused = map[Setting]string{}
			}
			refused[name] = callwright.MessageOf(err)
		}
	}
	if !tried || maps.Equal(refused, n.Refused) {
		return false
	}
	n.Refused = refused
	return true
}

// notAnswered returns CodeInvalidState with the field phone_number if nothing leads the number's conversations.
func (n InboundNumber) notAnswered() error {
	a := n.Agent
	if a.Task != "" || a.Pathway.ID != "" || a.PersonaID != "" || a.Brain != "" {
		return nil
	}
	text := "the number has no task, pathway, persona or brain, so that nothing can answer its calls: set one"
	if why := n.refusals(); why != "" {
		text += ". The last change was refused: " + why
	}
	return callwright.InField("phone_number", callwright.Errorf(callwright.CodeInvalidState, "%s", text))
}

// maxRefusals is the maximum length of the result of refusals, in bytes.
const maxRefusals = 600

// refusals returns the refused changes as a text, or an empty text if there are none.
func (n InboundNumber) refusals() string {
	var texts []string
	for _, name := range leads {
		if why, ok := n.Refused[name]; ok {
			texts = append(texts, string(name)+" "+why)
		}
	}
	return callwright.Clip(strings.Join(texts, "; "), maxRefusals)
}

// NumberWarnings returns human-readable warnings about calls to a number: that it refuses them, changes that were refused, and settings that
// have no effect (see Warnings).
func (s *Service) NumberWarnings(ctx context.Context, n InboundNumber) (list []string) {
	if err := n.notAnswered(); err != nil {
		list = append(list, callwright.MessageOf(err))
	} else if why := n.refusals(); why != "" {
		list = append(list, "the number is answered as before, because the last change was refused: "+why)
	}
	return append(list, s.Warnings(ctx, n.Org, n.Agent)...)
}

// NumberStore stores the agents of inbound numbers. agentstest.RunNumberStore tests it.
//
// Given and returned values share no memory with stored values. Returned values equal the stored values: a nil list stays nil, an empty
// list stays empty. JSON keeps its values, but the order of members and the spelling of numbers may change. Another organization's number
// counts as absent. Tools, DynamicData and Webhook of an Agent are encrypted at rest: they may contain keys of other systems. Methods
// participate in the transaction of ctx: see callwright.Atomic. agentstest.RunPersonaDeletion tests a NumberStore together with a
// persona.Store.
type NumberStore interface {
	// InsertNumber adds a number with Version 1. It returns CodeConflict if the organization already has the number, released or not. Two
	// organizations may have the same number.
	InsertNumber(ctx context.Context, n InboundNumber) error
	// Number returns one number, even if it is released. It returns CodeNotFound if the number is absent.
	Number(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (InboundNumber, error)
	// Numbers returns up to limit unreleased numbers of an organization in ascending order. The ID of the keyset is the last number of the
	// previous page; its time is ignored. The result ends early after the number with which the sum of InboundNumber.Size exceeds MaxRead,
	// but not after the first number.
	Numbers(ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int) ([]InboundNumber, error)
	// NumbersOf returns the unreleased numbers of each persona (Agent.PersonaID) in ascending order, at most persona.MaxNumbers of each
	// persona. The map omits personas without numbers.
	NumbersOf(ctx context.Context, org callwright.OrgID, personas []string) (map[string][]callwright.PhoneNumber, error)
	// UpdateNumber replaces a number whose stored Version is n.Version, and increments the Version. It returns CodeConflict if the Version
	// differs, and CodeNotFound if the number is absent. Of concurrent calls with the same Version, exactly one succeeds.
	UpdateNumber(ctx context.Context, n InboundNumber) error
}

// RegisterInbound adds a number whose agent has only default settings. A number that was registered before keeps its agent. Trunks and
// number porting call RegisterInbound when a number begins to receive calls.
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

// ReleaseInbound releases a number: Inbound and ListInbound no longer return it, but its agent stays stored for RegisterInbound. For an
// unregistered number it does nothing. Trunks call ReleaseInbound when a number no longer receives calls.
func (s *Service) ReleaseInbound(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error {
	return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		_, err := s.release(ctx, org, number, true)
		return err
	})
}

// release sets or clears Released of a number. known reports whether the store contains the number.
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

// Number parses the phone number in a request. Its errors name the field phone_number.
func (s *Service) Number(ctx context.Context, org callwright.OrgID, text string) (callwright.PhoneNumber, error) {
	n, err := callwright.ReadNumber(ctx, s.cfg.Numbering, org, text)
	return n, callwright.InField("phone_number", err)
}

// Inbound returns one inbound number. It returns CodeNotFound if the number is absent or released.
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

// ListInbound returns the organization's inbound numbers after a keyset in ascending order: at most limit, and at most about MaxRead bytes.
// A limit of 0 means MaxPage. Fewer numbers than limit do not mean that the list is complete: only Page.Next shows whether more follow.
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

// UpdateInbound changes the agent of a number, setting by setting. A refused setting does not prevent the others, and the report contains
// its error; InboundNumber.Refused contains the errors of the task, the pathway and the persona. Faults that the agent had before do not refuse other settings. If UpdateInbound returns an error, nothing has changed: the
// number is absent (CodeNotFound), Patch.Version is outdated (CodeConflict), or a port of this server is missing (CodeUnavailable) or fails.
func (s *Service) UpdateInbound(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, p Patch,
) (n InboundNumber, r Report, err error) {
	changes := append(p.leader(func(a *Agent, ref PathwayRef) { a.Task, a.Pathway = "", ref }), p.changes()...)
	var outdated error // not retried
	err = s.again(ctx, func(ctx context.Context) error {
		if err := s.holdPersona(ctx, org, p); err != nil {
			return err
		}
		if n, err = s.Inbound(ctx, org, number); err != nil {
			return err
		}
		if outdated = p.outdated(n.Version); outdated != nil {
			return nil //nolint:nilerr // see outdated
		}
		copied, err := s.copied(ctx, org, p.AgentID)
		if err != nil {
			return err
		}
		w := WebAgent{Agent: n.Agent}
		r, err = apply(&w, slices.Concat(copied, changes), func(w *WebAgent) []error {
			w.Agent.setDefaults()
			return s.faults(ctx, org, &w.Agent)
		})
		if err != nil {
			return err
		}
		var ok bool
		ok, r = p.accepts(r)
		if told := !p.Whole && n.noteRefusals(r); !ok && !told {
			return nil
		}
		n.Agent, n.UpdatedAt = w.Agent, s.cfg.Clock.Now()
		if err := s.cfg.Numbers.UpdateNumber(ctx, n); err != nil {
			return err
		}
		n.Version++
		return nil
	})
	return n, r, cmp.Or(outdated, err)
}

// copied returns the change that copies a web agent's settings to a number, or no change if the id is empty. It locks the persona of the web
// agent against deletion.
func (s *Service) copied(ctx context.Context, org callwright.OrgID, id string) ([]change, error) {
	if id == "" {
		return nil, nil
	}
	settings := []Setting{SettingAgentID}
	web, err := s.cfg.WebAgents.Agent(ctx, org, id)
	if errors.Is(err, callwright.ErrNotFound) {
		return []change{{settings, nil, callwright.InField(string(SettingAgentID), err)}}, nil
	}
	if err != nil {
		return nil, err
	}
	if err := s.holdPersona(ctx, org, Patch{PersonaID: callwright.Given(web.Agent.PersonaID)}); err != nil {
		return nil, err
	}
	a := web.Agent
	a.Machines, a.Keywords = Machines{}, nil
	return []change{{settings, func(w *WebAgent) { w.Agent = a }, nil}}, nil
}

// holdPersona locks the persona of a patch against deletion before the number refers to it. It ignores an absent persona, because faults
// reports it.
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
