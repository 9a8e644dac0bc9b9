package issues

import (
	"context"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/triage"
)

// Person is a key that issues may be assigned to.
type Person struct{ ID, Name string }

// people returns the keys that an issue may be assigned to; nil: any typed key.
func (p pages) people(ctx context.Context, r *page.Request) ([]Person, error) {
	if p.cfg.People == nil {
		return nil, nil
	}
	return p.cfg.People(ctx, r.Org())
}

// checkPeople returns CodeBadRequest for an assignee or an owner that is no key of the organization. Those that the issue has
// already may stay.
func (p pages) checkPeople(ctx context.Context, r *page.Request, d triage.Draft, former triage.Issue) error {
	people, err := p.people(ctx, r)
	if err != nil || people == nil {
		return err
	}
	for _, f := range []struct{ name, id, former string }{
		{"assignee_id", d.AssigneeID, former.AssigneeID}, {"owner_id", d.OwnerID, former.OwnerID},
	} {
		known := slices.ContainsFunc(people, func(p Person) bool { return p.ID == f.id })
		if f.id != "" && f.id != f.former && !known {
			return callwright.Invalid(f.name, "must be a key of this organization")
		}
	}
	return nil
}

// choice is a field that chooses a person.
type choice struct {
	Field  string
	Value  string
	People []Person // nil: an id is typed
	Empty  string   // text for no person
	Other  string   // the name, or else the id, of a value that is no person of the list; empty: it is one
	Faults page.Faults
}

// choose returns the field that chooses a person.
func choose(field, value string, people []Person, names map[string]string, faults page.Faults) choice {
	c := choice{Field: field, Value: value, People: people, Faults: faults, Empty: "Nobody"}
	if value != "" && !slices.ContainsFunc(people, func(p Person) bool { return p.ID == value }) {
		if c.Other = names[value]; c.Other == "" {
			c.Other = value
		}
	}
	return c
}

// find returns the field that finds the issues of a person.
func find(field, value string, people []Person, names map[string]string, faults page.Faults) choice {
	c := choose(field, value, people, names, faults)
	c.Empty = "Anybody"
	return c
}
