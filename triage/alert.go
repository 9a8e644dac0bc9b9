package triage

import (
	"context"

	"github.com/callwright/callwright"
)

// AlertTransition is a change of an alert's state. Name, From and To have at most 200 characters each.
type AlertTransition struct {
	Name   string // name of the alert
	From   string // empty for a new alert
	To     string
	Detail string // at most MaxDetail characters
}

// Alert adds an entry about a change of an alert's state to an issue's feed, and returns the entry.
func (s *Service) Alert(ctx context.Context, org callwright.OrgID, by Actor, id string, a AlertTransition) (Entry, error) {
	if err := a.check(); err != nil {
		return Entry{}, err
	}
	return s.addOneEntry(ctx, org, by, id, func(_ context.Context, c *change) error {
		c.addEntry(Entry{Type: TypeAlertTransition, Detail: a.Detail, Metadata: map[string]any{
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
	return checkText("detail", a.Detail, MaxDetail)
}
