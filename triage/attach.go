package triage

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
)

// ResourceDraft describes a resource to attach.
type ResourceDraft struct {
	Type       ResourceType
	ResourceID string // 1 to 128 characters
	Title      string // at most 300 characters; if empty, the ResourceResolver's title is used
}

// Attach attaches a resource to an issue, and reports whether it was added. If the resource is already attached, Attach returns it without
// calling the resolver. It returns CodeNotImplemented for a type without a ResourceResolver, CodeNotFound for an unknown resource, and
// CodeInvalidState if the issue was merged or has MaxResources resources.
func (s *Service) Attach(
	ctx context.Context, org callwright.OrgID, by Actor, id string, d ResourceDraft,
) (r Resource, added bool, err error) {
	_, _, err = s.edit(ctx, org, by, id, func(ctx context.Context, c *change) error {
		r, added, err = s.attach(ctx, c, d)
		return err
	})
	if err != nil {
		return Resource{}, false, err
	}
	return r, added, nil
}

func (s *Service) attach(ctx context.Context, c *change, d ResourceDraft) (r Resource, added bool, err error) {
	if err := d.check(); err != nil {
		return Resource{}, false, err
	}
	resolver := s.cfg.Resolvers[d.Type]
	if resolver == nil {
		return Resource{}, false, callwright.InField("resource_type",
			callwright.Errorf(callwright.CodeNotImplemented, "this server cannot attach resources of this type"))
	}
	r, err = s.cfg.Store.ResourceOf(ctx, c.Issue.Org, c.Issue.ID, d.Type, d.ResourceID)
	if !errors.Is(err, callwright.ErrNotFound) {
		return r, false, err
	}
	found, err := resolver.Find(ctx, c.Issue.Org, []string{d.ResourceID})
	if err != nil {
		return Resource{}, false, err
	}
	item, ok := found[d.ResourceID]
	switch {
	case !ok:
		return Resource{}, false, callwright.InField("resource_id", callwright.NotFound("resource"))
	case c.Issue.Resources >= MaxResources:
		return Resource{}, false, callwright.Errorf(callwright.CodeInvalidState,
			"%s has %d attachments, the most that an issue may have: detach one first", c.Issue.Name(), c.Issue.Resources)
	}
	r = Resource{
		ID: s.cfg.IDs.New(), Org: c.Issue.Org, IssueID: c.Issue.ID, Type: d.Type, ResourceID: d.ResourceID, Title: d.Title,
		Status: Available, Metadata: item.Metadata, AttachedBy: c.by.ID, CreatedAt: s.cfg.Clock.Now(),
	}
	if r.Title == "" {
		r.Title = item.Title
	}
	c.Issue.Resources++
	c.addEntry(Entry{Type: TypeResourceAdded, Resources: []Resource{r}})
	return r, true, s.cfg.Store.InsertResource(ctx, r)
}

func (d ResourceDraft) check() error {
	if err := requireText("resource_id", d.ResourceID, maxResource); err != nil {
		return err
	}
	return checkText("title", d.Title, maxTitle)
}

// Detach deletes an attachment. It returns CodeInvalidState for a call with flags, or if the issue was merged.
func (s *Service) Detach(ctx context.Context, org callwright.OrgID, by Actor, id, link string) error {
	_, _, err := s.edit(ctx, org, by, id, func(ctx context.Context, c *change) error {
		r, err := s.cfg.Store.Resource(ctx, org, id, link)
		if err != nil {
			return err
		}
		if r.Type == ResourceCall {
			if err := s.unflagged(ctx, c.Issue, r.ResourceID); err != nil {
				return err
			}
		}
		c.Issue.Resources--
		c.addEntry(Entry{Type: TypeResourceRemoved, Resources: []Resource{r}})
		return s.cfg.Store.DeleteResource(ctx, org, id, link)
	})
	return err
}

// unflagged returns CodeInvalidState if a call has flags in the issue.
func (s *Service) unflagged(ctx context.Context, i Issue, call string) error {
	flags, err := s.cfg.Store.FlagsOf(ctx, i.Org, i.ID)
	if err != nil {
		return err
	}
	for _, f := range flags {
		if f.CallID == call {
			return callwright.Errorf(callwright.CodeInvalidState, "the call has flags: remove them first")
		}
	}
	return nil
}

// Resources returns all resources attached to an issue, in the order of attachment. Status and Metadata are current values from the
// resolvers.
func (s *Service) Resources(ctx context.Context, org callwright.OrgID, id string) ([]Resource, error) {
	if _, err := s.cfg.Store.Issue(ctx, org, id); err != nil {
		return nil, err
	}
	all, err := s.cfg.Store.ResourcesOf(ctx, org, id)
	if err != nil {
		return nil, err
	}
	return all, s.refreshResources(ctx, org, all)
}

// refreshResources sets Status and Metadata of attachments to their current values. It calls each resolver once. A resource becomes
// Unavailable if its resolver does not find it, or if its type has no resolver.
func (s *Service) refreshResources(ctx context.Context, org callwright.OrgID, all []Resource) error {
	ids := map[ResourceType][]string{}
	for n := range all {
		all[n].Status = Unavailable
		ids[all[n].Type] = append(ids[all[n].Type], all[n].ResourceID)
	}
	for t, ids := range ids {
		resolver := s.cfg.Resolvers[t]
		if resolver == nil {
			continue
		}
		found, err := resolver.Find(ctx, org, ids)
		if err != nil {
			return err
		}
		for n := range all {
			if item, ok := found[all[n].ResourceID]; ok && all[n].Type == t {
				all[n].Status, all[n].Metadata = Available, item.Metadata
			}
		}
	}
	return nil
}
