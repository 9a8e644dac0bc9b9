package pathway

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// Draft is a pathway to create.
type Draft struct {
	Name        string
	Description string
	Document    graph.Document // may be empty
}

// Create stores a new pathway. Its document must be valid or empty; the error is FieldErrors if it is not.
// CodeInvalidState: the organization has MaxPathways.
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
			return callwright.Errorf(callwright.CodeInvalidState, "an organization can have at most %d pathways", MaxPathways)
		}
		return s.cfg.Store.InsertPathway(ctx, p)
	})
}

// List returns a page of pathways without their drafts, newest first. Any Limit outside 1 to MaxPage means MaxPage.
func (s *Service) List(ctx context.Context, org callwright.OrgID, l Listing) (callwright.Page[Pathway], error) {
	l.Limit = pageSize(l.Limit, MaxPage)
	more := l
	more.Limit++ // one more shows whether a next page exists
	pathways, err := s.cfg.Store.Pathways(ctx, org, more)
	if err != nil || len(pathways) <= l.Limit {
		return callwright.Page[Pathway]{Items: pathways}, err
	}
	pathways = pathways[:l.Limit]
	last := pathways[l.Limit-1]
	return callwright.Page[Pathway]{Items: pathways, Next: callwright.Keyset{At: last.CreatedAt, ID: last.ID}}, nil
}

// Get returns a pathway with its draft. CodeNotFound: the organization has no such pathway. CodeUnavailable: too many concurrent
// reads of documents, see MaxDocuments.
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

// Change changes a pathway and its draft. A nil field changes nothing.
type Change struct {
	Name, Description *string
	Nodes, Edges      *[]json.RawMessage // each replaces the whole list
	Revision          *int64             // only if the pathway has this Revision; nil: any
}

// errChanged ends an update of a different revision than the caller has read.
var errChanged = errors.New("pathway: changed meanwhile")

// Update changes a pathway and its draft. The draft must be valid or empty afterwards, unless the change does not touch it.
// CodeConflict: the pathway has another revision than c.Revision.
func (s *Service) Update(ctx context.Context, org callwright.OrgID, id string, c Change) (p Pathway, err error) {
	err = callwright.Retry(ctx, func(ctx context.Context) (err error) {
		p, err = s.change(ctx, org, id, func(_ context.Context, p *Pathway) error { return s.apply(p, c) })
		return err
	})
	if errors.Is(err, errChanged) { // no other attempt would succeed
		err = callwright.Errorf(callwright.CodeConflict,
			"the pathway was changed since it was read: see what is stored now; saving again replaces that")
	}
	return p, err
}

// apply applies a change.
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
