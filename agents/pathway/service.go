package pathway

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// Config configures a Service. All fields except Gate and Runtime are required.
type Config struct {
	Store       Store             `required:"always"`
	Chats       Chats             `required:"always"`
	Atomic      callwright.Atomic `required:"always"`
	Work        callwright.Work   `required:"always"`
	Interpreter *Interpreter      `required:"always"` // runs chats; its Requests and Knowledge determine which nodes are permitted
	Gate        Gate              // nil permits every version in production

	callwright.Runtime
}

// The limits of names and descriptions, in characters.
const (
	MaxName        = 200
	MaxDescription = 4000
)

// The limits of lists, and of the pathways and versions that an organization stores.
const (
	MaxPathways       = 1000   // per organization
	MaxVersions       = 10_000 // per pathway, including archived versions
	MaxPage           = 100    // pathways per page of List
	MaxPageOfVersions = 1000   // versions per page of Versions
)

// Service stores pathways and their versions, publishes versions, and runs chats.
type Service struct {
	cfg       Config
	graphs    *cache
	turns     *turns
	documents *node.Budget
}

// New returns a Service and registers its handlers with c.Work. The error names all missing required fields.
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

// change reads a pathway, calls the given function with it, and stores the result. It returns CodeConflict if the pathway was changed
// meanwhile.
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

// together runs Service.change in a transaction, and retries after a conflict.
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

// pageSize returns the given limit, or the given maximum if the limit is out of range.
func pageSize(limit, largest int) int {
	if limit < 1 || limit > largest {
		return largest
	}
	return limit
}
