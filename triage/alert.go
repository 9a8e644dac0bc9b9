// Package triage keeps issues and the activity feed of each. An issue records something that went wrong; its feed
// records everything that happened to it.
//
// Every change of an issue writes its feed entries in the same transaction, so that feed and issue never disagree.
// Entries are immutable. The entries of one issue have strictly increasing times in commit order: a reader that
// continues from an entry misses none.
//
// Every method takes the organization and, where something changes, the Actor. Another organization's issues look
// absent.
package triage

import (
	"context"

	"github.com/callwright/callwright"
)

// AlertTransition is a change of an alert's state.
type AlertTransition struct {
	Name   string // of the alert; all three at most 200 characters
	From   string // empty: it is new
	To     string
	Detail string // at most MaxDetail bytes
}

// Alert records in an issue's feed that an alert changed its state.
func (s *Service) Alert(ctx context.Context, org callwright.OrgID, by Actor, id string, a AlertTransition) (Entry, error) {
	if err := a.check(); err != nil {
		return Entry{}, err
	}
	return s.tellOne(ctx, org, by, id, func(_ context.Context, c *change) error {
		c.tell(Entry{Type: TypeAlertTransition, Detail: a.Detail, Metadata: map[string]any{
			"alert": a.Name, "from": orNull(a.From), "to": a.To,
		}})
		return nil
	})
}

func (a AlertTransition) check() error {
	if err := requireText("name", a.Name, maxName); err != nil {
		return err
	}
	if err := checkText("from", a.From, maxName); err != nil {
		return err
	}
	if err := requireText("to", a.To, maxName); err != nil {
		return err
	}
	return checkBytes("detail", a.Detail, MaxDetail)
}
