package pathway

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// Draft describes a pathway to create.
type Draft struct {
	Name        string
	Description string
	Document    graph.Document // may be empty
}

// Create stores a new pathway. Its document must be valid or empty; otherwise Create returns FieldErrors. It returns CodeInvalidState if
// the organization has MaxPathways.
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
			return callwright.Errorf(callwright.CodeInvalidState, "an organization can have at most %d pathways: delete one first", MaxPathways)
		}
		return s.cfg.Store.InsertPathway(ctx, p)
	})
}

// List returns a page of pathways without their drafts, newest first. A Limit outside 1 to MaxPage means MaxPage.
func (s *Service) List(ctx context.Context, org callwright.OrgID, l Listing) (callwright.Page[Pathway], error) {
	l.Limit = pageSize(l.Limit, MaxPage)
	more := l
	more.Limit++ // one more pathway shows whether another page follows
	pathways, err := s.cfg.Store.Pathways(ctx, org, more)
	if err != nil || len(pathways) <= l.Limit {
		return callwright.Page[Pathway]{Items: pathways}, err
	}
	pathways = pathways[:l.Limit]
	last := pathways[l.Limit-1]
	return callwright.Page[Pathway]{Items: pathways, Next: callwright.Keyset{At: last.CreatedAt, ID: last.ID}}, nil
}

// Get returns a pathway with its draft. It returns CodeNotFound if the organization has no such pathway, and CodeUnavailable if too many
// documents are read concurrently: see MaxDocuments.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (Pathway, error) {
	release, err := s.hold(ctx, org, documentsOfReading)
	if err != nil {
		return Pathway{}, err
	}
	defer release()
	return s.cfg.Store.Pathway(ctx, org, id)
}

// Delete deletes a pathway with its versions and chats. Running calls keep their graph.
func (s *Service) Delete(ctx context.Context, org callwright.OrgID, id string) error {
	return s.cfg.Store.DeletePathway(ctx, org, id)
}

// Change describes an update of a pathway and its draft. Nil fields change nothing.
type Change struct {
	Name, Description *string
	Nodes, Edges      *[]json.RawMessage // each replaces its whole list
	Revision          *int64             // required revision of the stored pathway; nil accepts any revision
}

// errChanged aborts an update if the pathway does not have the revision that Change.Revision requires.
var errChanged = errors.New("pathway: changed meanwhile")

// Update changes a pathway and its draft. Afterwards the draft must be valid or empty, unless the change does not touch it. Update returns
// CodeConflict if c.Revision is set and the pathway has another revision.
func (s *Service) Update(ctx context.Context, org callwright.OrgID, id string, c Change) (p Pathway, err error) {
	err = callwright.Retry(ctx, func(ctx context.Context) (err error) {
		p, err = s.change(ctx, org, id, func(_ context.Context, p *Pathway) error { return s.apply(p, c) })
		return err
	})
	if errors.Is(err, errChanged) { // a retry would not succeed
		err = callwright.Errorf(callwright.CodeConflict,
			"the pathway was changed after you read it: check the stored version, then save again to replace it")
	}
	return p, err
}

// apply applies a change to p, and checks the result. It returns errChanged if p does not have the required revision.
func (s *Service) apply(p *Pathway, c Change) (err error) {
	if c.Revision != nil && *c.Revision != p.Revision {
		return errChanged
	}
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
