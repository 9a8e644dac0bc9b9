package triage

import (
	"context"

	"github.com/callwright/callwright"
)

// Change is an edit of an issue. A nil member leaves the issue's value unchanged. An empty text clears an optional value.
type Change struct {
	Version      int64 // version that the editor has read; another one causes CodeConflict; 0 means any version
	Title        *string
	Description  *string
	Category     *string
	OwnerID      *string
	AssigneeID   *string
	ExternalLink *string
	Status       *Status // every transition is allowed
	Severity     *Severity
}

// Update edits an issue. It returns CodeInvalidState if the issue was merged. Each changed value of status, severity, category, assignee
// and owner adds an entry, in this order. Changes of title, description and link add none.
func (s *Service) Update(ctx context.Context, org callwright.OrgID, by Actor, id string, ch Change) (Issue, error) {
	i, _, err := s.edit(ctx, org, by, id, func(_ context.Context, c *change) error {
		if ch.Version != 0 && ch.Version != c.Issue.Version {
			return callwright.Errorf(callwright.CodeConflict, "%s was changed meanwhile: it has version %d, not %d",
				c.Issue.Name(), c.Issue.Version, ch.Version)
		}
		before := c.Issue
		ch.apply(&c.Issue)
		if err := c.Issue.check(); err != nil {
			return err
		}
		c.edited = c.Issue != before
		c.addChangeEntries(before)
		return nil
	})
	return i, err
}

func (ch Change) apply(i *Issue) {
	set(&i.Title, ch.Title)
	set(&i.Description, ch.Description)
	set(&i.Category, ch.Category)
	set(&i.OwnerID, ch.OwnerID)
	set(&i.AssigneeID, ch.AssigneeID)
	set(&i.ExternalLink, ch.ExternalLink)
	set(&i.Status, ch.Status)
	set(&i.Severity, ch.Severity)
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// addChangeEntries adds an entry for each of status, severity, category, assignee and owner that differs from before.
func (c *change) addChangeEntries(before Issue) {
	if c.Issue.Status != before.Status {
		c.addEntry(Entry{Type: TypeStatusChanged, FromStatus: before.Status, ToStatus: c.Issue.Status})
	}
	for _, f := range []struct {
		t        EntryType
		from, to string
	}{
		{TypeSeverityChanged, string(before.Severity), string(c.Issue.Severity)},
		{TypeCategoryChanged, before.Category, c.Issue.Category},
		{TypeAssigneeChanged, before.AssigneeID, c.Issue.AssigneeID},
		{TypeOwnerChanged, before.OwnerID, c.Issue.OwnerID},
	} {
		if f.from != f.to {
			c.addEntry(Entry{Type: f.t, Metadata: map[string]any{"from": orNull(f.from), "to": orNull(f.to)}})
		}
	}
}
