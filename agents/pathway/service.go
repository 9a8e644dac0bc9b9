package pathway

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/callwright/callwright"
)

// Config holds what a Service needs.
type Config struct {
	// Required.
	Store   Store
	Chats   Chats
	Atomic  callwright.Atomic
	Work    callwright.Work
	Runtime *Runtime // runs chats; its Requests and Knowledge decide which nodes a pathway may have

	// Optional.
	Gate   Gate             // nil: every version may go to production
	Clock  callwright.Clock // nil: callwright.SystemClock
	IDs    callwright.IDs   // nil: UUIDs
	Logger *slog.Logger     // nil: discards
}

// check names the first required field that is missing.
func (c *Config) check() error {
	for _, field := range []struct {
		name    string
		missing bool
	}{
		{"Store", c.Store == nil}, {"Chats", c.Chats == nil}, {"Atomic", c.Atomic == nil}, {"Work", c.Work == nil},
		{"Runtime", c.Runtime == nil}, {"Runtime.Model", c.Runtime != nil && c.Runtime.Model == nil},
	} {
		if field.missing {
			return fmt.Errorf("pathway: Config.%s is required", field.name)
		}
	}
	return nil
}

// Service stores pathways and their versions, publishes versions, and runs chats.
type Service struct {
	cfg    Config
	graphs *cache
	turns  *turns
}

// New returns a service. It registers the service's handlers with c.Work. The error names a required field that is
// missing.
func New(c Config) (*Service, error) {
	if err := c.check(); err != nil {
		return nil, err
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
	s := &Service{cfg: c, graphs: newCache(), turns: newTurns()}
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
	MaxPathways       = 1000   // of an organization
	MaxVersions       = 10_000 // of a pathway, archived ones included
	MaxPage           = 100    // pathways in a page of List
	MaxPageOfVersions = 1000   // versions in a page of Versions
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
	now := s.cfg.Clock.Now()
	p := Pathway{
		ID: s.cfg.IDs.New(), Org: org, Name: d.Name, Description: d.Description, Draft: draft,
		CreatedAt: now, UpdatedAt: now, Revision: 1,
	}
	return p, s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		n, err := s.cfg.Store.CountPathways(ctx, org)
		if err != nil {
			return err
		}
		if n >= MaxPathways {
			return callwright.Errorf(callwright.CodeInvalidState, "there are %d pathways, and no more are possible", n)
		}
		return s.cfg.Store.InsertPathway(ctx, p)
	})
}

// List returns a page of pathways, newest first. A Limit that is not from 1 to MaxPage is MaxPage.
func (s *Service) List(ctx context.Context, org callwright.OrgID, l Listing) (callwright.Page[Pathway], error) {
	l.Limit = pageSize(l.Limit, MaxPage)
	more := l
	more.Limit++ // one further tells whether there is a next page
	pathways, err := s.cfg.Store.Pathways(ctx, org, more)
	if err != nil || len(pathways) <= l.Limit {
		return callwright.Page[Pathway]{Items: pathways}, err
	}
	pathways = pathways[:l.Limit]
	last := pathways[l.Limit-1]
	return callwright.Page[Pathway]{Items: pathways, Next: callwright.Keyset{At: last.CreatedAt, ID: last.ID}}, nil
}

// pageSize returns the size of a page: limit, or the largest where limit is none.
func pageSize(limit, largest int) int {
	if limit < 1 || limit > largest {
		return largest
	}
	return limit
}

// Get is one pathway.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (Pathway, error) {
	return s.cfg.Store.Pathway(ctx, org, id)
}

// Delete removes a pathway with its versions and chats. Calls that run with it go on.
func (s *Service) Delete(ctx context.Context, org callwright.OrgID, id string) error {
	return s.cfg.Store.DeletePathway(ctx, org, id)
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
	p.UpdatedAt = s.cfg.Clock.Now()
	return err
}

// change reads a pathway, has it changed and keeps it; CodeConflict when somebody else has changed it meanwhile.
func (s *Service) change(
	ctx context.Context, org callwright.OrgID, id string, change func(ctx context.Context, p *Pathway) error,
) (Pathway, error) {
	p, err := s.cfg.Store.Pathway(ctx, org, id)
	if err != nil {
		return Pathway{}, err
	}
	if err := change(ctx, &p); err != nil {
		return Pathway{}, err
	}
	if err := s.cfg.Store.UpdatePathway(ctx, p); err != nil {
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
		return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			_, err := s.change(ctx, org, id, change)
			return err
		})
	})
}
