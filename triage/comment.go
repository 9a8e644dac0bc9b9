package triage

import (
	"context"
	"fmt"
	"slices"

	"github.com/callwright/callwright"
)

// CommentDraft describes a new comment.
type CommentDraft struct {
	Detail string   // 1 to MaxDetail characters
	Links  []string // ids of attachments that the comment mentions, at most MaxShown
}

// Comment adds a comment to an issue, and returns its entry, which has the id of the comment. It returns CodeNotFound for a link to an
// absent attachment.
func (s *Service) Comment(ctx context.Context, org callwright.OrgID, by Actor, id string, d CommentDraft) (Entry, error) {
	if err := requireText("detail", d.Detail, MaxDetail); err != nil {
		return Entry{}, err
	}
	if len(d.Links) > MaxShown {
		return Entry{}, callwright.Invalid("resource_link_ids", "has %d ids; at most %d are allowed", len(d.Links), MaxShown)
	}
	return s.addOneEntry(ctx, org, by, id, func(ctx context.Context, c *change) error {
		shown, err := s.linked(ctx, c.Issue, d.Links)
		if err != nil {
			return err
		}
		now := s.cfg.Clock.Now()
		comment := Comment{
			ID: s.cfg.IDs.New(), Org: org, IssueID: id, Author: by, Detail: d.Detail, CreatedAt: now, UpdatedAt: now, Revision: 1,
		}
		c.addEntry(Entry{ID: comment.ID, Type: TypeComment, Detail: d.Detail, Resources: shown})
		return s.cfg.Store.InsertComment(ctx, comment)
	})
}

// linked returns the attachments with the given ids, without duplicates. It returns CodeNotFound if one is absent.
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

// EditComment replaces the text of a comment, and returns the entry that records the edit. An equal text is recorded too. EditComment
// returns CodeForbidden unless the actor is the comment's author, and CodeNotFound for a deleted comment.
func (s *Service) EditComment(
	ctx context.Context, org callwright.OrgID, by Actor, id, comment, detail string,
) (Entry, error) {
	if err := requireText("detail", detail, MaxDetail); err != nil {
		return Entry{}, err
	}
	return s.addOneEntry(ctx, org, by, id, func(ctx context.Context, c *change) error {
		return s.replaceComment(ctx, c, comment, "edited", detail)
	})
}

// DeleteComment deletes a comment, and returns the entry that records the deletion. It returns CodeForbidden unless the actor is the
// comment's author or the platform, and CodeNotFound for a deleted comment. The text stays in the feed.
func (s *Service) DeleteComment(ctx context.Context, org callwright.OrgID, by Actor, id, comment string) (Entry, error) {
	return s.addOneEntry(ctx, org, by, id, func(ctx context.Context, c *change) error {
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
		return callwright.Errorf(callwright.CodeForbidden, "only the author may change a comment")
	}
	comment.Detail, comment.Deleted, comment.UpdatedAt = detail, deletes, s.cfg.Clock.Now()
	c.addEntry(Entry{Type: TypeComment, Detail: detail, Metadata: map[string]any{"action": action, "comment_id": id}})
	return s.cfg.Store.UpdateComment(ctx, comment)
}

// addOneEntry calls edit with a function that adds exactly one entry, and returns this entry.
func (s *Service) addOneEntry(
	ctx context.Context, org callwright.OrgID, by Actor, id string, do func(ctx context.Context, c *change) error,
) (Entry, error) {
	_, entries, err := s.edit(ctx, org, by, id, do)
	if err != nil {
		return Entry{}, err
	}
	return entries[0], nil
}

// ReadComment returns the current state of a comment. It returns CodeNotFound for a deleted one.
func (s *Service) ReadComment(ctx context.Context, org callwright.OrgID, id, comment string) (Comment, error) {
	c, err := s.cfg.Store.Comment(ctx, org, id, comment)
	if err != nil {
		return Comment{}, err
	}
	if c.Deleted {
		return Comment{}, callwright.NotFound("comment")
	}
	return c, nil
}

// RevisedComments returns the edited and the deleted comments among the given comments of an issue, by id. It accepts at most 100 ids, and
// truncates each Detail to the given number of characters.
func (s *Service) RevisedComments(
	ctx context.Context, org callwright.OrgID, id string, comments []string, most int,
) (map[string]Comment, error) {
	if len(comments) > maxPage {
		return nil, callwright.Invalid("comments", "has %d ids; at most %d are allowed", len(comments), maxPage)
	}
	if len(comments) == 0 {
		return nil, nil
	}
	found, err := s.cfg.Store.RevisedComments(ctx, org, id, comments, most)
	if err != nil {
		return nil, err
	}
	revised := make(map[string]Comment, len(found))
	for _, c := range found {
		revised[c.ID] = c
	}
	return revised, nil
}
