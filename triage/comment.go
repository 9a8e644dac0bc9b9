package triage

import (
	"context"
	"fmt"
	"slices"

	"github.com/callwright/callwright"
)

// CommentDraft is a comment that is to be.
type CommentDraft struct {
	Detail string   // 1 byte to MaxDetail
	Links  []string // ids of the issue's attachments that it speaks of, at most MaxShown
}

// Comment writes a comment on an issue. Its id is that of the entry. A link to what is not attached is CodeNotFound.
func (s *Service) Comment(ctx context.Context, org callwright.OrgID, by Actor, id string, d CommentDraft) (Entry, error) {
	if err := requireDetail(d.Detail, MaxDetail); err != nil {
		return Entry{}, err
	}
	if len(d.Links) > MaxShown {
		return Entry{}, callwright.Invalid("resource_link_ids", "has %d ids, more than %d", len(d.Links), MaxShown)
	}
	return s.tellOne(ctx, org, by, id, func(ctx context.Context, c *change) error {
		shown, err := s.linked(ctx, c.Issue, d.Links)
		if err != nil {
			return err
		}
		now := s.cfg.Clock.Now()
		comment := Comment{
			ID: s.cfg.IDs.New(), Org: org, IssueID: id, Author: by, Detail: d.Detail, CreatedAt: now, UpdatedAt: now, Revision: 1,
		}
		c.tell(Entry{ID: comment.ID, Type: TypeComment, Detail: d.Detail, Resources: shown})
		return s.cfg.Store.InsertComment(ctx, comment)
	})
}

// linked is the attachments with some ids, each once.
func (s *Service) linked(ctx context.Context, i Issue, links []string) ([]Resource, error) {
	if len(links) == 0 {
		return nil, nil
	}
	attached, err := s.cfg.Store.ResourcesOf(ctx, i.Org, i.ID)
	if err != nil {
		return nil, err
	}
	var shown []Resource
	for n, link := range links {
		at := slices.IndexFunc(attached, func(r Resource) bool { return r.ID == link })
		if at < 0 {
			return nil, callwright.InField(fmt.Sprintf("resource_link_ids[%d]", n), callwright.NotFound("attachment"))
		}
		if slices.Index(links, link) == n {
			shown = append(shown, attached[at])
		}
	}
	return shown, nil
}

// EditComment gives a comment other words, which another entry tells, also when they are the same; by anybody but its
// author it is CodeForbidden. A comment that was deleted is absent.
func (s *Service) EditComment(
	ctx context.Context, org callwright.OrgID, by Actor, id, comment, detail string,
) (Entry, error) {
	if err := requireDetail(detail, MaxDetail); err != nil {
		return Entry{}, err
	}
	return s.tellOne(ctx, org, by, id, func(ctx context.Context, c *change) error {
		return s.replaceComment(ctx, c, comment, "edited", detail)
	})
}

// DeleteComment removes a comment, which another entry tells; by anybody but its author and the platform it is
// CodeForbidden. Its words stay in the feed.
func (s *Service) DeleteComment(ctx context.Context, org callwright.OrgID, by Actor, id, comment string) (Entry, error) {
	return s.tellOne(ctx, org, by, id, func(ctx context.Context, c *change) error {
		return s.replaceComment(ctx, c, comment, "deleted", "")
	})
}

func (s *Service) replaceComment(ctx context.Context, c *change, id, action, detail string) error {
	comment, err := s.cfg.Store.Comment(ctx, c.Issue.Org, c.Issue.ID, id)
	if err != nil {
		return err
	}
	deletes := action == "deleted"
	own := comment.Author.Kind == c.by.Kind && comment.Author.ID == c.by.ID
	switch {
	case comment.Deleted:
		return callwright.NotFound("comment")
	case !own && !(deletes && c.by.Kind == ActorSystem):
		return callwright.Errorf(callwright.CodeForbidden, "the comment is somebody else's")
	}
	comment.Detail, comment.Deleted, comment.UpdatedAt = detail, deletes, s.cfg.Clock.Now()
	c.tell(Entry{Type: TypeComment, Detail: detail, Metadata: map[string]any{"action": action, "comment_id": id}})
	return s.cfg.Store.UpdateComment(ctx, comment)
}

// tellOne is edit for what tells one entry, which it gives.
func (s *Service) tellOne(
	ctx context.Context, org callwright.OrgID, by Actor, id string, do func(ctx context.Context, c *change) error,
) (Entry, error) {
	_, entries, err := s.edit(ctx, org, by, id, do)
	if err != nil {
		return Entry{}, err
	}
	return entries[0], nil
}
