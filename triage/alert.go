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
	Detail string // at most MaxDetail characters
}

// Alert records in an issue's feed that an alert changed its state.
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
