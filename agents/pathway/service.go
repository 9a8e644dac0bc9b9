package pathway

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// Config configures a Service.
type Config struct {
	Store       Store             `required:"always"`
	Chats       Chats             `required:"always"`
	Atomic      callwright.Atomic `required:"always"`
	Work        callwright.Work   `required:"always"`
	Interpreter *Interpreter      `required:"always"` // runs chats; its Requests and Knowledge determine the permitted nodes
	Gate        Gate              // nil: every version may go to production

	callwright.Runtime
}

// The limits of names and descriptions, in characters.
const (
	MaxName        = 200
	MaxDescription = 4000
)

// The limits of lists.
const (
	MaxPathways       = 1000   // of an organization
	MaxVersions       = 10_000 // of a pathway, including archived ones
	MaxPage           = 100    // pathways in a page of List
	MaxPageOfVersions = 1000   // versions in a page of Versions
)

// Service stores pathways and their versions, publishes versions, and runs chats.
type Service struct {
	cfg       Config
	graphs    *cache
	turns     *turns
	documents *node.Budget
}

// New returns a service. It registers the service's handlers with c.Work. The error names a required field that is
// missing.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if err := c.Interpreter.check(); err != nil {
		return nil, err
	}
	s := &Service{cfg: c, graphs: newCache(), turns: newTurns(), documents: newDocuments()}
	c.Work.Handle(callwright.QueueUpkeep, taskSettle, s.finishTests)
	c.Work.Every(callwright.QueueUpkeep, taskDelete, deleteEvery, s.deleteOld)
	return s, nil
}

// change reads a pathway, calls change, and stores the result. CodeConflict: the pathway was changed meanwhile.
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

// together calls change in a transaction, and retries after a conflict.
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

// pageSize returns the size of a page: limit, or the largest if limit is out of range.
func pageSize(limit, largest int) int {
	if limit < 1 || limit > largest {
		return largest
	}
	return limit
}
