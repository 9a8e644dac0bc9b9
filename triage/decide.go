package triage

import (
	"context"

	"github.com/callwright/callwright"
)

// Accept moves an issue from the backlog to StatusTodo. It returns CodeInvalidState in any other status. detail is an optional reason of at
// most MaxDetail characters.
func (s *Service) Accept(ctx context.Context, org callwright.OrgID, by Actor, id, detail string) (Issue, error) {
	return s.decide(ctx, org, by, id, EventAccept, TypeAccepted, detail)
}

// Decline closes an issue in the backlog without work on it. It returns CodeInvalidState in any other status. detail is the required
// reason, of at most MaxDetail characters.
func (s *Service) Decline(ctx context.Context, org callwright.OrgID, by Actor, id, detail string) (Issue, error) {
	if err := requireText("detail", detail, MaxDetail); err != nil {
		return Issue{}, err
	}
	return s.decide(ctx, org, by, id, EventDecline, TypeDeclined, detail)
}

func (s *Service) decide(
	ctx context.Context, org callwright.OrgID, by Actor, id string, e Event, t EntryType, detail string,
) (Issue, error) {
	if err := checkText("detail", detail, MaxDetail); err != nil {
		return Issue{}, err
	}
	i, _, err := s.edit(ctx, org, by, id, func(_ context.Context, c *change) error {
		from := c.Issue.Status
		to, err := from.Move(e)
		if err != nil {
			return err
		}
		c.Issue.Status, c.edited = to, true
		c.addEntry(Entry{Type: t, Detail: detail, FromStatus: from, ToStatus: to})
		return nil
	})
	return i, err
}
