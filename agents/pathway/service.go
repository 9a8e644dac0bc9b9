package pathway

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/callwright/callwright"
)

// Config is what a Service needs. Everything is required but what says otherwise.
type Config struct {
	Store   Store
	Chats   Chats
	Atomic  callwright.Atomic
	Work    callwright.Work
	Runtime *Runtime         // of chats; what it has not, Requests and Knowledge, no pathway may ask for
	Gate    Gate             // nil: nothing is required of a version that goes to production
	Clock   callwright.Clock // nil: the machine's
	IDs     callwright.IDs   // nil: UUIDs
	Logger  *slog.Logger     // nil: discards
}

// Service keeps pathways with their versions, says which of them is in use, and chats.
type Service struct {
	Config
	graphs *cache
	turns  *turns
}

// New checks the configuration and registers the service's durable work.
func New(c Config) (*Service, error) {
	if c.Store == nil || c.Chats == nil || c.Atomic == nil || c.Work == nil || c.Runtime == nil {
		return nil, errors.New("pathway: Store, Chats, Atomic, Work and Runtime are required")
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.IDs == nil {
		c.IDs = new(callwright.UUIDs)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, graphs: newCache(), turns: newTurns()}
	c.Work.Handle(taskSettle, s.settle)
	c.Work.Every(taskForget, forgetEvery, s.forget)
	return s, nil
}

// The limits of what people write about pathways and versions, in characters.
const (
	MaxName        = 200
	MaxDescription = 4000
)

// The limits of lists. Pathways are large.
const (
	MaxPathways = 1000   // of an organization
	MaxVersions = 10_000 // of a pathway, with those that are archived
	MaxPage     = 100    // pathways that List gives at once
)

// Draft is a pathway that is to be.
type Draft struct {
	Name        string
	Description string
	Document    Document // may be empty
}

// Create keeps a new pathway, whose draft has no faults or is empty; CodeInvalidState when the organization has MaxPathways.
func (s *Service) Create(ctx context.Context, org callwright.OrgID, d Draft) (Pathway, error) {
	if err := checkWords(d.Name, d.Description); err != nil {
		return Pathway{}, err
	}
	draft, err := s.checkDraft(d.Document)
	if err != nil {
		return Pathway{}, err
	}
	now := s.Clock.Now()
	p := Pathway{
		ID: s.IDs.New(), Org: org, Name: d.Name, Description: d.Description, Draft: draft,
		CreatedAt: now, UpdatedAt: now, Revision: 1,
	}
	return p, s.Atomic.Do(ctx, func(ctx context.Context) error {
		n, err := s.Store.CountPathways(ctx, org)
		if err != nil {
			return err
		}
		if n >= MaxPathways {
			return callwright.Errorf(callwright.CodeInvalidState, "there are %d pathways, and no more are possible", n)
		}
		return s.Store.InsertPathway(ctx, p)
	})
}

// List is up to limit pathways (at most MaxPage), newest first, after leaving out offset of them.
func (s *Service) List(ctx context.Context, org callwright.OrgID, limit, offset int) ([]Pathway, error) {
	return s.Store.Pathways(ctx, org, min(limit, MaxPage), offset)
}

// Get is one pathway.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (Pathway, error) {
	return s.Store.Pathway(ctx, org, id)
}

// Delete removes a pathway with its versions and chats. Calls that run with it go on.
func (s *Service) Delete(ctx context.Context, org callwright.OrgID, id string) error {
	return s.Store.DeletePathway(ctx, org, id)
}

// Change is what becomes of a pathway and its draft; what is nil stays.
type Change struct {
	Name, Description *string
	Nodes, Edges      *[]json.RawMessage // each replaces the whole list
}

// Update changes a pathway and its draft, which then has no faults or is empty.
func (s *Service) Update(ctx context.Context, org callwright.OrgID, id string, c Change) (p Pathway, err error) {
	err = callwright.Retry(ctx, func(ctx context.Context) (err error) {
		p, err = s.change(ctx, org, id, func(_ context.Context, p *Pathway) error { return s.apply(p, c) })
		return err
	})
	return p, err
}

// apply makes a change.
func (s *Service) apply(p *Pathway, c Change) (err error) {
	if c.Name != nil {
		p.Name = *c.Name
	}
	if c.Description != nil {
		p.Description = *c.Description
	}
	if c.Nodes != nil {
		p.Draft.Nodes = *c.Nodes
	}
	if c.Edges != nil {
		p.Draft.Edges = *c.Edges
	}
	if err := checkWords(p.Name, p.Description); err != nil {
		return err
	}
	if c.Nodes != nil || c.Edges != nil {
		p.Draft, err = s.checkDraft(p.Draft)
	}
	p.UpdatedAt = s.Clock.Now()
	return err
}

// change reads a pathway, has it changed and keeps it; CodeConflict when somebody else has changed it meanwhile.
func (s *Service) change(
	ctx context.Context, org callwright.OrgID, id string, change func(ctx context.Context, p *Pathway) error,
) (Pathway, error) {
	p, err := s.Store.Pathway(ctx, org, id)
	if err != nil {
		return Pathway{}, err
	}
	if err := change(ctx, &p); err != nil {
		return Pathway{}, err
	}
	if err := s.Store.UpdatePathway(ctx, p); err != nil {
		return Pathway{}, err
	}
	p.Revision++
	return p, nil
}

// together is change in one transaction, with what else it changes, and again when others are quicker.
func (s *Service) together(
	ctx context.Context, org callwright.OrgID, id string, change func(ctx context.Context, p *Pathway) error,
) error {
	return callwright.Retry(ctx, func(ctx context.Context) error {
		return s.Atomic.Do(ctx, func(ctx context.Context) error {
			_, err := s.change(ctx, org, id, change)
			return err
		})
	})
}
